"""Who a manager is on Telegram, and what only Telegram knows about a group: its administrators and our rights there.

Every right is asked again at each use: being shown a command proves nothing. A group that becomes a supergroup gets
another id, and keeps what was set up for it.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

import telegram
from telegram import ChatFullInfo, ChatMember, ChatMemberAdministrator, User
from telegram.constants import ChatType, ReactionEmoji

from adapters.common.manage.managers import Manager
from adapters.common.words.errors import log_failure
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS, of_question
from adapters.telegram.connection.refs import NAME
from adapters.telegram.platform import administers, may_speak
from adapters.telegram.review.surface import ReviewPlaces, place_of, shared_language
from adapters.telegram.speech import reader_language, reader_of
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Person, Role
from core.errors import BadInput, NotAllowed, PlatformUnavailable
from core.i18n.catalogs import gettext, translated

_CLOSING_SECONDS: Final = 5.0
IN_REVIEW: Final = "review"
"""The only "role" that can be called on Telegram: all who are in the review chat."""
_EMOJIS: Final = frozenset(str(emoji.value) for emoji in ReactionEmoji)


class GroupMoves:
    """Tells the application of each group that became a supergroup."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._told: set[tuple[int, int]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def listen(self) -> None:
        self._client.listen("message", self.hear)
        self._client.listen_to_moves(self.refused)

    async def hear(self, heard: UpdateEvent) -> bool:
        """Take Telegram's note in the old chat, or in the new one.

        Raises:
            StoreUnavailable: the database does not answer; the update is to be handled again.
        """
        move = None if heard.update.message is None else move_in(heard.update.message)
        if move is None:
            return False
        await self._keep(*move)
        return True

    def refused(self, old: int, new: int) -> None:
        """Take Telegram's refusal of a call, as where its notes went unheard for too long; once for each group.

        What cannot be kept now is kept at the next refusal.
        """
        if (old, new) in self._told:
            return
        self._told.add((old, new))
        task = asyncio.create_task(self._keep_later(old, new))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Finish what is begun; what takes too long is left to the next refusal."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSING_SECONDS)
        for task in self._tasks:
            task.cancel()

    async def _keep_later(self, old: int, new: int) -> None:
        try:
            await self._keep(old, new)
        except Exception as err:
            self._told.discard((old, new))
            log_failure("a group's new id", err)

    async def _keep(self, old: int, new: int) -> None:
        desk = self._client.desk
        changed = await desk.governance.moved(NAME, str(old), str(new))
        for community in {str(old), str(new), *changed}:
            desk.policies.forget(community)
            desk.labels.forget(community)


def move_in(message: telegram.Message) -> tuple[int, int] | None:
    """The old and the new id of a group, if the message is Telegram's note that it became a supergroup."""
    chat = message.chat
    if message.message_id <= 0 or message.forward_origin is not None or message.via_bot is not None:
        return None
    if chat.type == ChatType.GROUP and message.migrate_to_chat_id is not None:
        return _groups(chat.id, message.migrate_to_chat_id)
    if chat.type == ChatType.SUPERGROUP and message.migrate_from_chat_id is not None:
        return _groups(message.migrate_from_chat_id, chat.id)
    return None


def _groups(old: int, new: int) -> tuple[int, int] | None:
    """Both ids, if they are those of two groups: people have positive ones."""
    return (old, new) if old < 0 and new < 0 and old != new else None


@dataclass(frozen=True, slots=True)
class GroupManager(Manager):
    chat: ChatFullInfo


async def manager_of(client: TelegramClient, user: User, community: str) -> GroupManager:
    """The person who uses a command or a button, before their rights are checked.

    Raises:
        NotAllowed: they are not in the group, or Telegram hides who they are.
        PlatformUnavailable: Telegram cannot be asked, or Antiphon is not in the group.
        StoreUnavailable: the database does not answer.
    """
    try:
        chat = await client.bot.get_chat(int(community))
        member = await client.bot.get_chat_member(int(community), user.id)
    except FAULTS as err:
        raise of_question(err) from err
    language = (await client.desk.governance.policy(NAME, community)).language
    reader = reader_of(reader_language(user.language_code, language))
    if user.is_bot or not may_speak(member):
        raise NotAllowed(
            gettext("You are not in this group.", reader.locale),
            remedy=gettext("Ask one of its administrators.", reader.locale),
        )
    person = Person(NAME, str(user.id), user.full_name)
    return GroupManager(community, person, administers(member), reader, chat)


@dataclass(frozen=True, slots=True)
class Group:
    """Implements ``adapters.common.manage.managers.CommunityFacts``, by what Telegram said a moment ago.

    Attributes:
        own: what the bot is in the group.
        administrators: names by id, of the group.
        troubles: why a place cannot be used for review; without those that can.
        reads_all: whether the bot's privacy mode is off.
        card_language: of cards where the group chose none.
    """

    chat: ChatFullInfo
    own: ChatMember
    administrators: dict[str, str]
    places: dict[str, str]
    troubles: dict[str, PlatformUnavailable]
    reads_all: bool
    card_language: str

    @property
    def quotes(self) -> bool:
        """Telegram does both."""
        return True

    def lacking(self, policy: CommunityPolicy, locale: str) -> list[str]:
        """What the bot lacks in the group and in the review chat, in sentences; none if all is well."""
        sentences = []
        if not may_speak(self.own):
            sentences.append(gettext("The bot may not write in the group.", locale))
        trouble = self.troubles.get(policy.review_channel)
        if trouble is not None:
            sentences.append(f"{translated(trouble.message, locale)} {translated(trouble.remedy, locale)}")
        return sentences

    def unread(self, locale: str) -> str:
        """What does not work without the right to read along, and who can change it."""
        if self.reads_all or isinstance(self.own, ChatMemberAdministrator):
            return ""
        return gettext(
            "The watched group and the flag reaction do nothing yet: the bot sees only commands. Make it an "
            "administrator of the group.",
            locale,
        )

    def check_review_channel(self, channel: str, policy: CommunityPolicy, locale: str) -> None:
        """Refuse a place that others than moderators can read, or where the bot is not.

        Raises:
            BadInput: what is wrong with it, and how it is mended.
        """
        trouble = self.troubles.get(channel)
        if trouble is not None:
            raise BadInput(trouble.message, remedy=trouble.remedy)

    def check_watched_channels(self, channels: tuple[str, ...], policy: CommunityPolicy, locale: str) -> None:
        """Refuse what is not of this group.

        Raises:
            BadInput: another chat is among them.
        """
        if any(channel.partition("/")[0] != str(self.chat.id) for channel in channels):
            raise BadInput(
                gettext("This is not a place in the group.", locale),
                remedy=gettext("Choose the group itself.", locale),
            )

    def check_everybody(self, role: str, policy: CommunityPolicy, locale: str) -> None:
        """Refuse all: groups of Telegram have no roles.

        Raises:
            BadInput: always.
        """
        raise BadInput(gettext("Groups of Telegram have no roles.", locale), remedy=gettext("Leave it empty.", locale))

    def check_roles(self, role: Role, chosen: tuple[str, ...], policy: CommunityPolicy, locale: str) -> None:
        """Let a manager choose any person: each is chosen by name, so that nobody can choose everybody."""

    def check_called(self, role: str, policy: CommunityPolicy, locale: str) -> None:
        """Refuse all but those who are in the review chat.

        Raises:
            BadInput: it is somebody else.
        """
        if role != IN_REVIEW:
            raise BadInput(
                gettext("Only the people in the review chat can be called.", locale),
                remedy=gettext("Choose them, or nobody.", locale),
            )

    def check_reaction(self, emoji: str, locale: str) -> None:
        """Refuse an emoji that Telegram does not offer as a reaction.

        Raises:
            BadInput: it is not one of them.
        """
        if emoji not in _EMOJIS:
            raise BadInput(
                gettext("Nobody can react with this on Telegram.", locale),
                remedy=gettext("Choose one of the emoji that Telegram offers under a message, such as 👎.", locale),
            )

    def reaction_hint(self, locale: str) -> str:
        return gettext("One of the emoji that Telegram offers under a message.", locale)


async def group_of(client: TelegramClient, manager: GroupManager, review: str, *places: str) -> Group:
    """What Telegram says of a group, of its review chat and of places that its cards may be shown in ("" for none).

    Raises:
        PlatformUnavailable: Telegram cannot be asked.
    """
    try:
        own = await client.bot.get_chat_member(manager.chat.id, int(client.own_id()))
        administrators = await client.bot.get_chat_administrators(manager.chat.id)
    except FAULTS as err:
        raise of_question(err) from err
    names = {str(member.user.id): member.user.full_name for member in administrators if not member.user.is_bot}
    titles, troubles = dict[str, str](), dict[str, PlatformUnavailable]()
    for channel in filter(None, dict.fromkeys((review, *places))):
        try:
            await ReviewPlaces(client).require_closed(manager.community, channel)
            titles[channel] = await _title(client, channel)
        except PlatformUnavailable as err:
            troubles[channel] = err
    spoken = shared_language(client, manager.community, review)
    return Group(manager.chat, own, names, titles, troubles, bool(client.bot.can_read_all_group_messages), spoken)


async def _title(client: TelegramClient, channel: str) -> str:
    try:
        chat = await client.bot.get_chat(place_of(channel).chat)
    except FAULTS as err:
        raise of_question(err) from err
    return chat.title or chat.full_name or channel
