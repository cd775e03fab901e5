"""A platform that keeps a log of all that ever came to stand on it, and misbehaves on demand.

Its log lies in memory, or in a file that several processes append to and that survives their death. A key is known for
``KEYS_KEPT``; after that the same reply is posted once more, as on real platforms.
"""

import asyncio
import fcntl
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from core.desk.invariants.facts import ArrivedReply
from core.desk.rules.approval import ApprovedReply, text_hash
from core.desk.rules.case_cards import InPublic
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.desk.runtime.faults import reach
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.models import PostRef, SentReply

KEYS_KEPT: Final = 600.0
"""Seconds."""


class Outcome(StrEnum):
    """What becomes of the next call."""

    WELL = "well"
    ANSWER_LOST = "arrives, the answer is lost"
    CALL_LOST = "does not arrive, and nobody knows"
    RESET = "arrives, then the connection is reset"
    BUSY = "refused for now"
    REFUSED = "refused for good"


@dataclass(frozen=True, slots=True)
class Line:
    """One reply that came to stand: what was sent, under which key, and when."""

    sent: ArrivedReply
    key: str
    at: datetime


class Log:
    """The lines, in memory."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._gone: set[str] = set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else appends meanwhile."""
        yield

    def lines(self) -> list[Line]:
        """Every line, oldest first."""
        return list(self._lines)

    def append(self, line: Line) -> None:
        self._lines.append(line)

    def remove(self, message: str) -> None:
        """Remove a reply; its line stays."""
        self._gone.add(message)

    def stands(self, message: str) -> bool:
        return message not in self._gone


class FileLog(Log):
    """The lines in a file that is only appended to, one write for each; whole even if the writer is killed."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._file.touch()

    @contextmanager
    def held(self) -> Iterator[None]:
        """The kernel frees the lock of a process that dies."""
        with self._file.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def lines(self) -> list[Line]:
        return [_line(json.loads(text)) for text in self._file.read_text().splitlines()]

    def append(self, line: Line) -> None:
        with self._file.open("ab", buffering=0) as out:
            out.write((json.dumps(asdict(line) | {"at": line.at.isoformat()}) + "\n").encode())


def _line(document: dict[str, Any]) -> Line:
    sent = document["sent"]
    refs = {name: PostRef(**sent[name]) for name in ("ref", "in_reply_to")}
    return Line(ArrivedReply(**(sent | refs)), document["key"], datetime.fromisoformat(document["at"]))


def utc_now() -> datetime:
    """The time by this machine's clock."""
    return datetime.now(UTC)


class LoggedPlatform:
    """Implements ``core.desk.rules.platforms.ChatPlatform``.

    Args:
        has_keys: whether it knows keys at all.
        next_send: gives the outcome of the next send; likewise ``next_read``, of a reading or a reading back.
        text_at: what the posts say that stand there besides those in ``posts``.
        while_reading: what happens on the other side while a post is read.
    """

    name = "sample"
    max_characters = 500

    def __init__(
        self,
        log: Log | None = None,
        *,
        clock: Callable[[], datetime] = utc_now,
        has_keys: bool = True,
        next_send: Callable[[], Outcome] = lambda: Outcome.WELL,
        next_read: Callable[[], Outcome] = lambda: Outcome.WELL,
        text_at: Callable[[PostRef], str | None] = lambda _: None,
    ) -> None:
        self.log = log or Log()
        self.posts: dict[PostRef, str] = {}
        self.next_send, self.next_read, self._text_at = next_send, next_read, text_at
        self.while_reading: Callable[[], Awaitable[object]] | None = None
        self.sends = self.ambiguous = 0
        self.last_read: dict[PostRef, str] = {}
        self.arrived = asyncio.Event()
        self._clock = clock
        self._has_keys = has_keys

    @property
    def resend_seconds(self) -> float:
        return KEYS_KEPT / 2 if self._has_keys else 0.0

    def sent(self) -> tuple[ArrivedReply, ...]:
        """All that ever came to stand here."""
        return tuple(line.sent for line in self.log.lines())

    async def until_sent(self, count: int) -> None:
        """Wait until so many replies came to stand here."""
        while len(self.sent()) < count:
            self.arrived.clear()
            await self.arrived.wait()

    async def read(self, ref: PostRef) -> str | None:
        _answer(self.next_read())
        text = self.posts.get(ref) or self._text_at(ref) or self._reply(ref)
        if text is not None:
            self.last_read[ref] = text_hash(text)
        if (happens := self.while_reading) is not None:
            self.while_reading = None
            await happens()
        return text

    def _reply(self, ref: PostRef) -> str | None:
        is_ours = any(line.sent.ref == ref for line in self.log.lines())
        return "A reply." if is_ours and self.log.stands(ref.message) else None

    def check(self, ref: PostRef, text: str, quote: str, policy: CommunityPolicy) -> None:
        """It takes every text."""

    async def in_public(self, ref: PostRef, text: str) -> InPublic:
        return InPublic(text)

    async def post(self, reply: ApprovedReply) -> SentReply:
        self.sends += 1
        outcome = self.next_send()
        if outcome is Outcome.BUSY:
            raise PlatformBusy("The platform is busy.", remedy="Wait.", retry_after_seconds=5)
        if outcome is Outcome.REFUSED:
            raise PlatformUnavailable("The platform refuses.", remedy="Read its answer.")
        self.ambiguous += outcome is not Outcome.WELL
        if outcome is Outcome.CALL_LOST:
            raise AmbiguousSend("No answer came.", remedy="Look.")
        posted = self._arrive(reply)
        await reach("platform: after a reply arrived")
        if outcome is Outcome.ANSWER_LOST:
            raise AmbiguousSend("No answer came.", remedy="Look.")
        if outcome is Outcome.RESET:
            raise ConnectionResetError("Connection reset by peer")
        return posted

    def _arrive(self, reply: ApprovedReply) -> SentReply:
        now = self._clock()
        with self.log.held():
            lines = self.log.lines()
            for line in lines:
                if self._has_keys and line.key == reply.key and (now - line.at).total_seconds() < KEYS_KEPT:
                    return SentReply(line.sent.ref, line.at)
            ref = replace(reply.in_reply_to, message=f"reply-{len(lines)}-{os.getpid()}")
            target = self.last_read.get(reply.in_reply_to)
            sent = ArrivedReply(reply.approval_id, ref, reply.in_reply_to, text_hash(reply.text), target)
            self.log.append(Line(sent, reply.key, now))
        self.arrived.set()
        return SentReply(ref, now)

    async def find_reply(self, reply: ApprovedReply) -> SentReply | None:
        _answer(self.next_read())
        for line in self.log.lines():
            if line.key == reply.key and self.log.stands(line.sent.ref.message):
                return SentReply(line.sent.ref, line.at)
        return None

    async def retract(self, ref: PostRef) -> None:
        outcome = self.next_send()
        if outcome is Outcome.BUSY:
            raise PlatformBusy("The platform is busy.", remedy="Wait.", retry_after_seconds=5)
        if outcome is not Outcome.CALL_LOST:
            self.log.remove(ref.message)
        if outcome is not Outcome.WELL:
            raise AmbiguousSend("No answer came.", remedy="Look.")

    async def roles(self, community: str, user: str) -> frozenset[Role]:
        """It names nobody anything."""
        await asyncio.sleep(0)
        return frozenset()

    async def close(self) -> None:
        """Nothing is held."""


def _answer(outcome: Outcome) -> None:
    """Raise what a reading raises."""
    if outcome is Outcome.RESET:
        raise ConnectionResetError("Connection reset by peer")
    if outcome is not Outcome.WELL:
        raise PlatformUnavailable("The platform cannot be read.", remedy="Wait.")
