"""A worker over an engine that does what a test tells it, and looks at its case."""

import asyncio

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import Backoff, DraftQueue
from core.desk.drafting.request import DraftingRequest
from core.desk.drafting.worker import Worker, unheard
from core.desk.rules.approval import CaseState
from core.desk.store.cases import Case
from core.engine.pipeline import Engine, OnProgress
from core.engine.request import Request
from core.models import Progress, Suggestion
from tests.fakes.engine.brief import ALL_SHOWN, PATIENT
from tests.fakes.engine.suggestions import suggestion_for

OTHER_CLAIM = "Newcomers teach our children."


class ToldEngine(Engine):
    """An engine that says, fails or waits as told; ``started`` is set when it is at work, ``ended`` when it is not."""

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.waits = False
        self.drafts: tuple[str, ...] = ("We all live here.",)
        self.started = asyncio.Event()
        self.ended = asyncio.Event()
        self.go_on = asyncio.Event()
        self.claims: list[str | None] = []

    async def suggest(self, request: Request, on_progress: OnProgress = unheard) -> Suggestion:
        """The suggestion with ``drafts``, or ``fault``; after ``go_on`` where it ``waits``."""
        self.claims.append(request.claim)
        on_progress(Progress("reading", request.post.text, 0.1))
        self.started.set()
        try:
            if self.waits:
                await self.go_on.wait()
        finally:
            self.ended.set()
        if self.fault is not None:
            raise self.fault
        return suggestion_for(request.post, self.drafts)


class Counted:
    """A fault that breaks nothing, and says when a point was reached so many times."""

    def __init__(self, point: str, times: int) -> None:
        self.point, self.left, self.reached = point, times, asyncio.Event()

    async def __call__(self, point: str) -> None:
        self.left -= point == self.point
        if self.left <= 0:
            self.reached.set()


def drafting(database: Database, engine: Engine) -> DraftingRequest:
    return DraftingRequest(database, engine, PATIENT, lambda _: ALL_SHOWN)


def worker_of(queue: DraftQueue, database: Database, engine: Engine, progress: list[object] | None = None) -> Worker:
    """A worker that never waits long; ``progress`` gets what the engine says on the way."""
    seen = [] if progress is None else progress
    rest = Backoff("test", 0.001, 0.001)
    return Worker(queue, drafting(database, engine), seen.append, poll_seconds=0.001, heartbeat_seconds=0.01, rest=rest)


async def last_reason(desk: Desk, case: Case) -> str:
    return (await desk.queries.history(case.id))[-1].reason


async def state_of(desk: Desk, case: Case) -> CaseState:
    return (await desk.queries.case(case.id)).state
