"""A group in the fake Telegram with Antiphon's capture in it, over a desk in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from adapters.telegram.capture.events import Capture
from adapters.telegram.connection.client import TelegramClient, TelegramOptions
from adapters.telegram.connection.updates import heard, inbox_update
from core.desk.review.casework import Casework
from core.desk.rules.platforms import WaitingUpdate
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from tests.fakes.machine.threads import Threads
from tests.fakes.ports.flag_desk import FlagDesk
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.ports.word_detector import WordDetector
from tests.fakes.telegram.server.server import Asked, TelegramServer

HATE = "they are vermin and should go"
"""A post that ``WordDetector`` is sure of."""
SET_UP = CommunityPolicy(review_channel="-1009999")
_WANTED = ["message", "edited_message", "message_reaction", "callback_query", "my_chat_member", "guest_message"]
_WRITES = ("send", "copy", "forward", "edit", "answerGuest")


class CaptureTown:
    """A group that was set up, an author, a volunteer who has opened a private chat, and a stranger without a role."""

    def __init__(self, server: TelegramServer, *, privacy: bool = False, bot: str = "administrator") -> None:
        self.server, self.people = server, server.town
        server.state.privacy = privacy
        server.state.updates.allowed = list(_WANTED)
        self.author, self.volunteer, self.stranger, self.manager = map(
            self.people.add_user, ("Bo", "Ane", "Sam", "Mia")
        )
        everybody = (self.author, self.volunteer, self.stranger)
        self.group = self.people.add_group(owner=self.manager, members=everybody, bot=bot)
        self.desk, self.governance, self.detector = FlagDesk(), FakeGovernance(), WordDetector()
        self.governance.policies[str(self.group)] = SET_UP
        self.governance.grant(self.volunteer, Role.VOLUNTEER)
        self.governance.grant(self.manager, Role.MANAGER)
        self.client = TelegramClient(
            TelegramOptions(server.token, server.url), cast(Casework, self.desk), self.governance
        )
        self.capture: Capture
        self._threads: Threads
        self._next = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[CaptureTown]:
        """Logged in, with the listeners in place; what was said before is not heard."""
        self._threads = Threads()
        await self.client.open()
        self.capture = Capture(self.client, self.detector)
        self.people.start(self.volunteer)
        self.server.state.updates.drop_all()
        try:
            yield self
        finally:
            await self.capture.close()
            await self.client.close()

    async def hear(self, *, is_late: bool = False) -> None:
        """Hand what waits to the listeners, in order, and let what they begin be done."""
        for raw in list(self.server.state.updates.waiting()):
            await self.hand(raw, is_late=is_late)
            self.server.state.updates.forget(raw)
        await self._threads.settle(50)

    async def hand(self, raw: dict[str, Any], *, is_late: bool = False) -> bool:
        """Hand one update to the listeners; whether one of them dealt with it."""
        now = datetime.now(UTC)
        return await self.client.hear(
            replace(heard(WaitingUpdate(inbox_update(raw), now, now), self.client), is_late=is_late)
        )

    async def opens_private_chat(self, user: int) -> None:
        """Let somebody write to Antiphon in private, so that it may answer them there."""
        self.people.start(user)
        await self.hear()

    def told(self, user: int) -> list[str]:
        """What Antiphon wrote into somebody's private chat, oldest first."""
        return [message["text"] for message in self.people.of_bot(user)]

    def whispered(self, user: int) -> list[str]:
        """What Antiphon wrote ephemerally to somebody in the group, oldest first."""
        return [message["text"] for message in self.people.whispers_to(user, self.group)]

    def in_public(self) -> list[Asked]:
        """The requests that could put words where more than one person reads them."""
        return in_public(self.server)


def in_public(server: TelegramServer) -> list[Asked]:
    """The requests that could put words where more than one person reads them."""
    return [
        asked
        for asked in server.requests
        if asked.method.startswith(_WRITES)
        and str(asked.params.get("chat_id", "-")).startswith("-")
        and "ephemeral_message_parameters" not in asked.params
        and "Ephemeral" not in asked.method
    ]
