"""The groups in which somebody may flag, to be asked which one words belong to.

Owns how many Telegram is asked about. Whether a person may flag in one is asked anew each time.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from adapters.telegram.capture.flaggers import Flaggers
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS
from adapters.telegram.connection.refs import NAME
from core.errors import PlatformUnavailable
from core.moderation.roles import Person

_MOST_ASKED: Final = 30
"""How many groups Telegram is asked about for one forwarded post."""


@dataclass(frozen=True, slots=True)
class KnownGroup:
    """A group, by its id and its name."""

    id: int
    title: str


class KnownGroups:
    """The groups that the application knows."""

    def __init__(self, client: TelegramClient, flaggers: Flaggers) -> None:
        self._client = client
        self._flaggers = flaggers

    async def of(self, person: Person) -> list[KnownGroup]:
        """The groups in which somebody may ask for drafts; one that cannot be asked about now is left out.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        named = await self._client.desk.governance.communities(NAME)
        known = [int(name) for name in named if name.removeprefix("-").isdecimal()]
        found = await asyncio.gather(*(self._if_allowed(chat, person) for chat in known[:_MOST_ASKED]))
        return [group for group in found if group is not None]

    async def title_of(self, chat: int) -> str | None:
        """What a group is called; ``None`` where Antiphon is no longer in it, or Telegram does not answer."""
        try:
            return (await self._client.bot.get_chat(chat)).title or ""
        except FAULTS:
            return None

    async def _if_allowed(self, chat: int, person: Person) -> KnownGroup | None:
        try:
            if not await self._flaggers.may_flag(chat, person):
                return None
        except PlatformUnavailable:
            return None
        title = await self.title_of(chat)
        return None if title is None else KnownGroup(chat, title)
