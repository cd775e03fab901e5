"""A sample town behind a line that fails as a test tells it: it cannot be opened, is lost, or breaks in a send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.sample import SampleCommunity
from bot.serve.platforms import Connection, ServedPlatform, Services
from core.desk.review.casework import Casework
from core.desk.rules.approval import ApprovedReply
from core.desk.rules.case_cards import InPublic
from core.desk.rules.policy import CommunityPolicy
from core.models import PostRef, SentReply


class Line:
    """One connection to a town; implements ``core.desk.rules.platforms.ChatPlatform``."""

    def __init__(self, town: UnsteadyTown) -> None:
        self._town = town
        self.lost = asyncio.Event()
        self.is_closed = False

    @property
    def name(self) -> str:
        return self._town.name

    @property
    def max_characters(self) -> int:
        return self._town.community.max_characters

    @property
    def resend_seconds(self) -> float:
        return self._town.community.resend_seconds

    async def read(self, ref: PostRef) -> str | None:
        return await self._town.community.read(ref)

    def check(self, ref: PostRef, text: str, quote: str, policy: CommunityPolicy) -> None:
        self._town.community.check(ref, text, quote, policy)

    async def in_public(self, ref: PostRef, text: str) -> InPublic:
        return await self._town.community.in_public(ref, text)

    async def post(self, reply: ApprovedReply) -> SentReply:
        self._town.is_sending.set()
        await self._town.is_free.wait()
        if self._town.post_faults:
            raise self._town.post_faults.pop(0)
        return await self._town.community.post(reply)

    async def find_reply(self, reply: ApprovedReply) -> SentReply | None:
        return await self._town.community.find_reply(reply)

    async def retract(self, ref: PostRef) -> None:
        await self._town.community.retract(ref)

    async def close(self) -> None:
        self.is_closed = True

    async def until_lost(self) -> None:
        await self.lost.wait()
        raise ConnectionResetError("the words of a post")


class UnsteadyTown:
    """A town that outlives its lines.

    Attributes:
        open_faults: raised by the next attempts to connect.
        post_faults: raised by the next sends, which do not arrive.
        is_open: while it is cleared, an attempt to connect does not end.
        is_free: while it is cleared, a send has no answer.
        lines: every connection that there was, the last one last.
    """

    def __init__(self, name: str, community: str) -> None:
        self.name = name
        self.community = SampleCommunity(name=name, community=community)
        self.open_faults: list[Exception] = []
        self.post_faults: list[Exception] = []
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.is_sending = asyncio.Event()
        self.is_free = asyncio.Event()
        self.is_free.set()
        self.lines: list[Line] = []
        self._casework: Casework | None = None

    @property
    def served(self) -> ServedPlatform:
        return ServedPlatform(self.name, self.community.max_characters, self._open)

    @asynccontextmanager
    async def _open(self, services: Services) -> AsyncIterator[Connection]:
        await self.is_open.wait()
        if self.open_faults:
            raise self.open_faults.pop(0)
        line = Line(self)
        self._casework = services.casework
        self.lines.append(line)
        yield Connection(line, until_lost=line.until_lost, note=f"line {len(self.lines)}")
        assert line.is_closed, "A line must be closed before it is given back."

    async def flag(self, message: str = "103") -> None:
        """Let somebody flag a post over the present line."""
        assert self._casework is not None, "No line is open yet."
        await self._casework.intake.take_flag(self.community.flag(message, "mill_pond"))

    def die(self) -> None:
        """Lose the present line."""
        self.lines[-1].lost.set()

    def replies(self) -> list[str]:
        return [post.text for post in self.community.thread() if post.author == "antiphon"]
