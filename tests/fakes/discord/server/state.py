"""The state of the fake Discord: one server, its channels, members, roles and messages, all by one clock.

Owns the state and what Discord does with it: numbers by time, trimmed texts, keys that post once for a few minutes,
words kept from bots without the intent.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final

JSON = dict[str, Any]
BOT_ID: Final = 1001
GUILD_ID: Final = 2001
OWNER_ID: Final = 1002
CHANNEL_ID: Final = 3001
KEYS_KEPT: Final = timedelta(seconds=180)
EVERYBODYS: Final = str(1 << 10 | 1 << 11 | 1 << 16 | 1 << 38)
"""View Channel, Send Messages, Read Message History, Send Messages in Threads."""
_EPOCH_MS: Final = 1420070400000


class Refused(Exception):
    """Discord refuses a request: the status, its own code, and a body in its form."""

    def __init__(self, status: int, code: int, message: str, errors: JSON | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body: JSON = {"message": message, "code": code} | ({} if errors is None else {"errors": errors})


class DiscordState:
    """One server on Discord.

    Args:
        clock: the time there, aware.
        shows_content: whether the bot may have the words of others (the message-content intent).
    """

    def __init__(self, clock: Callable[[], datetime], *, shows_content: bool = True) -> None:
        self.clock = clock
        self.shows_content = shows_content
        self.users: dict[int, JSON] = {}
        self.messages: dict[int, JSON] = {}
        self.members: dict[int, JSON] = {}
        self.channels: dict[int, JSON] = {}
        self.roles: dict[int, JSON] = {}
        self.forbidden: set[int] = set()
        self.commands: dict[str, list[JSON]] = {}
        self.interactions: dict[str, JSON] = {}
        self.lags: dict[str, datetime] = {}
        """Until when the message that a key makes is missing from the history of its channel."""
        self._hidden: dict[int, datetime] = {}
        self._keys: dict[tuple[int, str], tuple[datetime, int]] = {}
        self._numbers = count()
        self.add_role("@everyone", 0, role_id=GUILD_ID)
        self.add_channel("general", CHANNEL_ID)
        self.add_member("antiphon", user_id=BOT_ID, is_bot=True)
        self.add_member("owner", user_id=OWNER_ID)

    def number(self) -> int:
        """A new snowflake, which holds the time."""
        milliseconds = int(self.clock().timestamp() * 1000) - _EPOCH_MS
        return (milliseconds << 22) | (next(self._numbers) % (1 << 22))

    def add_role(self, name: str, permissions: int, *, role_id: int | None = None) -> int:
        """A role of the server; the rights are Discord's bits."""
        role_id = role_id or self.number()
        colors = {"primary_color": 0, "secondary_color": None, "tertiary_color": None}
        self.roles[role_id] = {
            "id": str(role_id),
            "name": name,
            "permissions": str(permissions),
            "position": len(self.roles),
            "color": 0,
            "colors": colors,
            "hoist": False,
            "managed": False,
            "mentionable": False,
            "flags": 0,
            "icon": None,
            "unicode_emoji": None,
        }
        return role_id

    def add_channel(self, name: str, channel_id: int | None = None) -> int:
        channel_id = channel_id or self.number()
        self.channels[channel_id] = {
            "id": str(channel_id),
            "type": 0,
            "name": name,
            "guild_id": str(GUILD_ID),
            "position": len(self.channels),
            "permission_overwrites": [],
            "nsfw": False,
            "parent_id": None,
        }
        return channel_id

    def add_member(
        self, name: str, *, roles: tuple[int, ...] = (), user_id: int | None = None, is_bot: bool = False
    ) -> int:
        user_id = user_id or self.number()
        self.users[user_id] = {
            "id": str(user_id),
            "username": name,
            "discriminator": "0",
            "avatar": None,
            "global_name": None,
            "public_flags": 0,
            "flags": 0,
            "bot": is_bot,
            "primary_guild": None,
        }
        self.members[user_id] = {
            "user": self.users[user_id],
            "roles": [str(role) for role in roles],
            "joined_at": self.clock().isoformat(),
            "avatar": None,
            "banner": None,
            "nick": None,
            "premium_since": None,
            "pending": False,
            "flags": 0,
            "deaf": False,
            "mute": False,
            "communication_disabled_until": None,
        }
        return user_id

    def user(self, name: str) -> int:
        """The number of somebody by name; they join if they are not there yet."""
        known = [int(user["id"]) for user in self.users.values() if user["username"] == name]
        return known[0] if known else self.add_member(name)

    def write(
        self,
        author: int,
        channel: int,
        text: str,
        *,
        answers: int | None = None,
        flags: int = 0,
        components: Sequence[JSON] = (),
    ) -> JSON:
        """A new message, as everybody sees it there; Discord trims its ends, and numbers its components."""
        number = self.number()
        reference = None
        if answers is not None:
            reference = {"type": 0, "guild_id": str(GUILD_ID), "channel_id": str(channel), "message_id": str(answers)}
        self.messages[number] = {
            "id": str(number),
            "channel_id": str(channel),
            "author": self.users[author],
            "content": text.strip(),
            "timestamp": self.clock().isoformat(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "components": numbered(components),
            "pinned": False,
            "flags": flags,
            "type": 0 if reference is None else 19,
        } | ({} if reference is None else {"message_reference": reference})
        return self.messages[number]

    def edit(self, message: int, text: str, components: Sequence[JSON] | None = None) -> JSON:
        """Its author changes a message; ``None`` leaves its components as they are."""
        self.messages[message] |= {"content": text, "edited_timestamp": self.clock().isoformat()}
        if components is not None:
            self.messages[message]["components"] = numbered(components)
        return self.messages[message]

    def delete(self, message: int) -> None:
        del self.messages[message]

    def seen_by_bot(self, message: JSON) -> JSON:
        """A message as the bot is given it: without the words of others, unless it may have them."""
        if self.shows_content or message["author"]["id"] == str(BOT_ID):
            return message
        return message | {"content": ""}

    def of_key(self, author: int, key: str) -> JSON | None:
        """The message that a key of the last minutes made; refused if that was deleted meanwhile."""
        at, number = self._keys.get((author, key), (None, 0))
        if at is None or self.clock() - at >= KEYS_KEPT:
            return None
        if number not in self.messages:
            raise Refused(404, 10008, "Unknown Message")
        return self.messages[number]

    def keep_key(self, author: int, key: str, message: JSON) -> None:
        self._keys[author, key] = (self.clock(), int(message["id"]))
        if key in self.lags:
            self._hidden[int(message["id"])] = self.lags[key]

    def is_in_history(self, message: JSON) -> bool:
        until = self._hidden.get(int(message["id"]))
        return until is None or self.clock() >= until

    def replies_to(self, message: int) -> list[JSON]:
        """The answers to a message that are there, oldest first."""
        return [
            each
            for each in self.messages.values()
            if each.get("message_reference", {}).get("message_id") == str(message)
        ]


Handler = Callable[[DiscordState, tuple[str, ...], dict[str, str], Any], tuple[int, Any]]
"""What an operation does: given the numbers in its path, its query and its body, the status and body of its answer."""


def numbered(components: Sequence[JSON]) -> list[JSON]:
    """Components as Discord gives them back: each with a number of its own within the message."""
    numbers = count(1)

    def with_number(part: Any) -> Any:
        if isinstance(part, list):
            return [with_number(each) for each in part]
        if not isinstance(part, dict):
            return part
        inner = {name: with_number(value) for name, value in part.items()}
        return {"id": next(numbers)} | inner if isinstance(part.get("type"), int) else inner

    return [with_number(component) for component in components]
