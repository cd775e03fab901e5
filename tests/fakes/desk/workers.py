"""A worker over an engine that does as a test tells it, and looks at what became of its case."""

from __future__ import annotations

import asyncio

from bot.drafting.queue import Backoff, DraftQueue
from bot.drafting.worker import OnProgress, Worker
from bot.review.decisions import Desk
from bot.store.cases.cases import Case
from core.models import FlaggedPost, Progress, Suggestion
from core.moderation.approval import CaseState
from tests.fakes.engine.suggestions import suggestion_for

OTHER_CLAIM = "Newcomers teach our children."


class ToldEngine:
    """An engine that says, fails or waits as told; ``started`` is set when it is at work, ``ended`` when it is not."""

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.waits = False
        self.drafts: tuple[str, ...] = ("We all live here.",)
        self.started = asyncio.Event()
        self.ended = asyncio.Event()
        self.go_on = asyncio.Event()
        self.claims: list[str | None] = []

    async def suggest(self, post: FlaggedPost, claim: str | None, on_progress: OnProgress) -> Suggestion:
        """The suggestion with ``drafts``, or ``fault``; after ``go_on`` where it ``waits``."""
        self.claims.append(claim)
        on_progress(Progress("reading", post.text, 0.1))
        self.started.set()
        try:
            if self.waits:
                await self.go_on.wait()
        finally:
            self.ended.set()
        if self.fault is not None:
            raise self.fault
        return suggestion_for(post, self.drafts)


class Counted:
    """A fault that breaks nothing, and says when a point was reached so many times."""

    def __init__(self, point: str, times: int) -> None:
        self.point, self.left, self.reached = point, times, asyncio.Event()

    async def __call__(self, point: str) -> None:
        self.left -= point == self.point
        if self.left <= 0:
            self.reached.set()


def worker_of(queue: DraftQueue, desk: Desk, engine: ToldEngine, progress: list[object] | None = None) -> Worker:
    """A worker that never waits long; ``progress`` gets what the engine says on the way."""
    seen = [] if progress is None else progress
    rest = Backoff("test", 0.001, 0.001)
    return Worker(
        queue, desk.chosen_claim, engine.suggest, seen.append, poll_seconds=0.001, heartbeat_seconds=0.01, rest=rest
    )


async def last_reason(desk: Desk, case: Case) -> str:
    """The reason of a case's last move."""
    return (await desk.history(case.id))[-1].reason


async def state_of(desk: Desk, case: Case) -> CaseState:
    """Where a case stands now."""
    return (await desk.case(case.id)).state
