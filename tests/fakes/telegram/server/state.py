"""What the fake Telegram knows: users, chats, messages, and what the bot has still to be told.

Owns the records and their numbers. Decides nothing about who may do what.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tests.fakes.telegram.server.refusals import refused
from tests.fakes.telegram.server.updates import UpdateQueue

JSON = dict[str, Any]
BOT_ID: Final = 123456
BOT_NAME: Final = "antiphon_bot"
ANONYMOUS_ADMIN: Final = 1087968824
"""Telegram's account in whose name anonymous administrators write (@GroupAnonymousBot)."""
TELEGRAM_ITSELF: Final = 777000
"""Telegram's account in whose name a channel's posts come into its discussion group."""
EVERY_RIGHT: Final = (
    "can_manage_chat", "can_delete_messages", "can_manage_video_chats", "can_restrict_members", "can_promote_members",
    "can_change_info", "can_invite_users", "can_post_stories", "can_edit_stories", "can_delete_stories",
    "can_pin_messages", "can_send_welcome_messages",
)  # fmt: skip


@dataclass
class KnownChat:
    """One chat.

    Attributes:
        shown: the chat as Telegram shows it in messages.
        members: what each user is in it, as ``ChatMember``.
        topics: the names of a forum's topics; those in ``closed`` take no messages.
        messages: those that everybody in the chat can read.
        whispers: the ephemeral messages, by receiver and number.
        moved_to: the supergroup that the group became.
        linked: the channel that the group discusses, or the other way round.
        hides_members: only administrators may ask about members.
        opened: somebody wrote there; before that no bot may write into a private chat.
    """

    shown: JSON
    members: dict[int, JSON] = field(default_factory=dict)
    topics: dict[int, str] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    messages: dict[int, JSON] = field(default_factory=dict)
    whispers: dict[tuple[int, int], JSON] = field(default_factory=dict)
    moved_to: int | None = None
    linked: int | None = None
    hides_members: bool = False
    opened: bool = False
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    whisper_numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def id(self) -> int:
        return int(self.shown["id"])

    @property
    def kind(self) -> str:
        """``private``, ``group``, ``supergroup`` or ``channel``."""
        return str(self.shown["type"])

    @property
    def is_group(self) -> bool:
        """Whether people talk there in company."""
        return self.kind in ("group", "supergroup")

    def status(self, user: int) -> str:
        """What a user is there: ``left`` if they never were."""
        return str(self.members.get(user, {"status": "left"})["status"])

    def may(self, user: int, right: str) -> bool:
        return self.status(user) == "creator" or self.members.get(user, {}).get(right) is True


class TelegramState:
    """Everything behind the server.

    Attributes:
        privacy: the bot's privacy mode, on as @BotFather leaves it; ``guest_mode`` is off.
        offers_ephemeral: whether the server knows Bot API 10.2 and 10.3; without it the fields are not understood,
            which a real server of an older version answers by doing without them.
        group_limit: how many messages a minute a group takes of the bot before it is asked to wait; ``None`` for any
            number.
        blocked: users who blocked the bot.
        queries: the callback queries: who pressed, what, and when.
        answers: what the bot answered to each callback query.
        commands: the lists of commands, by scope and language.
        prompts: chat and message of each message that asked for an answer (ForceReply).
        reactions: who reacted to a message (chat and number) in which way.
        files: the contents of files that were sent.
    """

    def __init__(self, clock: Callable[[], datetime] | None = None) -> None:
        self._clock = clock or (lambda: datetime.now(UTC))
        self._ahead = timedelta()
        self.updates = UpdateQueue()
        self.users: dict[int, JSON] = {}
        self.chats: dict[int, KnownChat] = {}
        self.privacy, self.guest_mode = True, False
        self.offers_ephemeral = True
        self.group_limit: int | None = None
        self.blocked: set[int] = set()
        self.queries: dict[str, JSON] = {}
        self.answers: dict[str, JSON] = {}
        self.commands: dict[tuple[str, str], list[JSON]] = {}
        self.prompts: set[tuple[int, int]] = set()
        self.reactions: dict[tuple[int, int], dict[int, list[JSON]]] = {}
        self.files: dict[str, bytes] = {}
        self.users[BOT_ID] = {"id": BOT_ID, "is_bot": True, "first_name": "Antiphon", "username": BOT_NAME}
        self.users[ANONYMOUS_ADMIN] = {
            "id": ANONYMOUS_ADMIN,
            "is_bot": True,
            "first_name": "Group",
            "username": "GroupAnonymousBot",
        }
        self.users[TELEGRAM_ITSELF] = {"id": TELEGRAM_ITSELF, "is_bot": False, "first_name": "Telegram"}

    def now(self) -> datetime:
        return self._clock() + self._ahead

    def seconds(self) -> int:
        return int(self.now().timestamp())

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass at the server without waiting for it."""
        self._ahead += timedelta(seconds=seconds)

    def chat(self, number: int | str) -> KnownChat:
        """A chat by its number, or a public one by its name.

        Raises:
            Refused: there is none, or it became a supergroup.
        """
        found = next(
            (chat for chat in self.chats.values() if str(number) in (str(chat.id), f"@{chat.shown.get('username')}")),
            None,
        )
        if found is None:
            raise refused(400, "chat not found")
        if found.moved_to is not None:
            raise refused(400, "group chat was upgraded to a supergroup chat", migrate_to_chat_id=found.moved_to)
        return found

    def keep(self, chat: KnownChat, message: JSON) -> JSON:
        """Give a message its number and keep it where everybody reads it."""
        number = next(chat.numbers)
        chat.opened = True
        chat.messages[number] = {"message_id": number, "date": self.seconds(), "chat": chat.shown} | message
        return chat.messages[number]

    def whisper(self, chat: KnownChat, receiver: int, message: JSON) -> JSON:
        """Keep an ephemeral message, whose number among messages is 0.

        Args:
            receiver: the person who shares it with the bot, whoever of the two wrote it.
        """
        number = next(chat.whisper_numbers)
        base = {"message_id": 0, "ephemeral_message_id": number, "date": self.seconds(), "chat": chat.shown}
        chat.whispers[receiver, number] = base | message
        return chat.whispers[receiver, number]

    def age(self, message: JSON) -> int:
        """How many seconds ago a message was sent."""
        return self.seconds() - int(message["date"])


def quoted(message: JSON) -> JSON:
    """A message as it is shown in another one that answers it: without what it answers itself."""
    return {key: value for key, value in message.items() if key != "reply_to_message"}
