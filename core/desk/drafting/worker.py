"""The worker: takes queued cases, runs the engine, and stores its answers.

A heartbeat keeps the lease of a case, and a process that drafts ends within a bounded time. A worker that has a
background case in hand makes the drafts that people wait for beside it (``core.desk.drafting.precedence``): nobody
waits for a worker that is held for them. No case stays in ``drafting``: however the engine ends, the case goes on or
back into the queue.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Final, TypeVar

from core.desk.drafting.precedence import BackgroundCase, Precedence
from core.desk.drafting.queue import Backoff, DraftQueue, TakenCase
from core.desk.drafting.request import DraftingRequest
from core.desk.runtime import metrics
from core.desk.runtime.lease import give_back, pause, while_held
from core.desk.runtime.logs import about
from core.desk.store.suggestions import Preview
from core.desk.views.status import STOPPED
from core.engine.pipeline import OnProgress
from core.engine.ports import Turn
from core.errors import AntiphonError, BadAnswer, Conflict, ModelAway, StoreUnavailable, Unavailable
from core.i18n.sentences import sentence
from core.models import Priority, Progress, Suggestion


class Attempt:
    """One attempt while it is made; ``outcome`` is what it came to, as ``metrics.DRAFTING`` calls it."""

    def __init__(self) -> None:
        self.outcome = "failed"

    def drafted(self, suggestion: Suggestion) -> None:
        """Note what the engine said, once it is stored."""
        self.outcome = "drafts" if suggestion.drafts else "none"
        if suggestion.cost.first_draft_seconds is not None:
            metrics.FIRST_DRAFT.labels(suggestion.cost.profile).observe(suggestion.cost.first_draft_seconds)
        for note in suggestion.degraded:
            metrics.DEGRADED.labels(metrics.degraded_code(note)).inc()


@contextmanager
def watched(taken: TakenCase, profile: str) -> Iterator[Attempt]:
    """Tell of what is done in the block as one attempt at the drafts of a case."""
    case, job, began, attempt = taken.case, taken.job, time.monotonic(), Attempt()
    ref = case.post.ref
    with (
        about(case=case.id, platform=ref.platform, community=ref.community, worker=job.owner),
        metrics.DRAFTING_NOW.track_inprogress(),
    ):
        _LOG.info("drafting begins, attempt %d", job.attempts)
        try:
            yield attempt
        except asyncio.CancelledError:
            attempt.outcome = "stopped"
            raise
        except Conflict:
            attempt.outcome = "lost"
            raise
        finally:
            seconds = time.monotonic() - began
            metrics.DRAFTING.labels(profile, attempt.outcome).observe(seconds)
            _LOG.info("drafting ended after %.1f s: %s", seconds, attempt.outcome)


_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")
_PROGRESS_SECONDS: Final = 1.0
"""The shortest time between two updates of the engine's stage and best draft so far, which moderators see."""


def unheard(_: Progress) -> None:
    """Ignore the step: moderators see the progress through the database."""


class Worker:
    """Drafts replies for queued cases, one at a time, the most urgent first.

    Args:
        drafting: asks the engine.
        on_progress: is called with each step of the engine.
        poll_seconds: how long to wait before looking again when no case is queued.
        heartbeat_seconds: how often the lease is renewed; a quarter of the lease by default.
        rest: how long to take no case after the engine lacked something, so that in an outage not every case that
            waits is begun.
        precedence: holds background cases; one for all workers of a process.
    """

    def __init__(
        self,
        queue: DraftQueue,
        drafting: DraftingRequest,
        on_progress: OnProgress = unheard,
        *,
        poll_seconds: float = 1.0,
        heartbeat_seconds: float | None = None,
        rest: Backoff | None = None,
        precedence: Precedence | None = None,
    ) -> None:
        self._queue = queue
        self._drafting = drafting
        self._on_progress = on_progress
        self._poll_seconds = poll_seconds
        self._heartbeat_seconds = heartbeat_seconds or queue.lease_seconds / 4
        self._progress_seconds = min(_PROGRESS_SECONDS, self._heartbeat_seconds)
        self._rest = rest or Backoff(queue.owner, first_seconds=2.0, most_seconds=60.0)
        self._precedence = precedence or Precedence(queue.look)
        self._failures = 0
        self._stop = asyncio.Event()

    async def step(self) -> bool:
        """Work on one case to its end, and on those that people wait for meanwhile; ``False`` if none was queued.

        Raises:
            StoreUnavailable: the database does not answer, so no case could be taken.
        """
        return await self._draft_next(self._precedence.least)

    async def _draft_next(self, least: Priority) -> bool:
        taking = asyncio.create_task(self._queue.take(least))
        try:
            # Shielded, since a cancellation at this very moment must not lose the case that was just taken.
            taken = await asyncio.shield(taking)
            if taken is None:
                return False
            if taken.is_for_people:
                with self._precedence.person():
                    await self._draft_watched(taken)
            else:
                await self._background(taken)
        except asyncio.CancelledError:
            await asyncio.shield(give_back("a case", self._give_back(taking)))
            raise
        except Conflict as err:
            _LOG.info("a case was moved by somebody else while it was drafted: %s", err)
        return True

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; a case that was begun is finished first."""
        self._stop = stop
        while not stop.is_set():
            try:
                busy = await self.step()
            except StoreUnavailable as err:
                _LOG.warning("the worker waits for the database: %s", err)
                busy = False
            if self._failures:
                await pause(stop, self._rest.seconds(self._failures))
            elif not busy:
                await pause(stop, self._poll_seconds)

    async def _background(self, taken: TakenCase) -> None:
        """Draft a case that nobody waits for, and meanwhile the cases for which it is held."""
        async with self._precedence.background(taken.job.id) as case:
            beside = asyncio.create_task(self._serve_people(case))
            try:
                await self._draft_watched(taken, case.turn)
            except asyncio.CancelledError:
                beside.cancel()
                raise
            finally:
                case.end()
                await beside

    async def _serve_people(self, case: BackgroundCase) -> None:
        """Make the drafts that people wait for until the case is over; one that was begun is finished."""
        while not self._stop.is_set() and await case.somebody_waits():
            try:
                is_busy = await self._draft_next(Priority.FLAGGED)
            except StoreUnavailable as err:
                _LOG.warning("people wait for the database: %s", err)
                is_busy = False
            if self._failures:
                await pause(case.over, self._rest.seconds(self._failures))
            elif not is_busy:
                await pause(case.over, self._poll_seconds)

    async def _draft_watched(self, taken: TakenCase, turn: Turn = nullcontext) -> None:
        """Draft, and let the log and the metrics tell of it."""
        with watched(taken, self._drafting.profile) as attempt:
            await self._draft_under_lease(taken, attempt, turn)

    async def _draft_under_lease(self, taken: TakenCase, attempt: Attempt, turn: Turn) -> None:
        """Draft and renew the lease meanwhile, earlier than necessary when there is progress to show."""
        latest = _Latest()

        async def renew() -> bool:
            stage, preview = latest.news()
            try:
                is_held = await self._queue.keep(taken, stage, preview)
            except BadAnswer as err:
                _LOG.warning("case %s: what was drafted so far cannot be shown: %s", taken.case.id, err)
                is_held = True
            latest.were_kept(stage, preview)
            return is_held

        async def wait() -> None:
            await asyncio.sleep(self._progress_seconds)
            await latest.wait(self._heartbeat_seconds - self._progress_seconds)

        await while_held(self._draft(taken, latest, attempt, turn), renew, wait)

    async def _draft(self, taken: TakenCase, latest: _Latest, attempt: Attempt, turn: Turn) -> None:
        """Run the engine on a case and store its answer, or the reason why there is none."""

        def on_progress(step: Progress) -> None:
            latest.hear(step)
            self._on_progress(step)

        try:
            suggestion = await self._drafting.suggest(taken.case, on_progress, turn)
            await self._insist(lambda: self._queue.store(taken, suggestion))
            attempt.drafted(suggestion)
        except Conflict:
            raise
        except Unavailable as err:
            reason, is_away = err.said, isinstance(err, ModelAway)
            self._failures += 1
            attempt.outcome = "unavailable"
            await self._insist(lambda: self._queue.fail(taken, reason, is_away=is_away))
            return
        except AntiphonError as err:
            refusal, attempt.outcome = err.said, "none"
            await self._insist(lambda: self._queue.give_up(taken, refusal))
        except Exception as err:
            # Only the kind of the error is kept: its message may quote the post.
            kind = type(err).__name__
            _LOG.error("the engine failed on case %s: %s", taken.case.id, kind)
            unforeseen = sentence("Drafting failed unexpectedly ({kind}).", kind=kind)
            await self._insist(lambda: self._queue.give_up(taken, unforeseen))
        self._failures = 0

    async def _insist(self, write: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Write, and try again while the database is away: a draft is worth the wait.

        It ends at the latest when the database is back: either the answer is written, or the lease was lost.
        """
        while True:
            try:
                return await write()
            except StoreUnavailable as err:
                _LOG.warning("what was drafted waits for the database: %s", err)
                await asyncio.sleep(self._poll_seconds)

    async def _give_back(self, taking: asyncio.Task[TakenCase | None]) -> None:
        """Queue a case again, unless its work is already done."""
        taken = await taking
        if taken is not None:
            await self._queue.release(taken, STOPPED)


class _Latest:
    """The engine's latest stage, without the words of the post that come with it, and its best draft so far."""

    def __init__(self) -> None:
        self._stage: str | None = None
        self._preview = self._kept_preview = Preview()
        self._kept_stage: str | None = None
        self._is_new = asyncio.Event()

    def hear(self, step: Progress) -> None:
        before = self._stage, self._preview
        self._stage = step.stage
        if step.reading is not None:
            self._preview = replace(self._preview, reading=step.reading)
        if step.draft is not None:
            self._preview = replace(self._preview, draft=step.draft, evidence=step.evidence)
        if (self._stage, self._preview) != before:
            self._is_new.set()

    def news(self) -> tuple[str | None, Preview | None]:
        """The stage and the preview, each only if it was not stored yet."""
        return (
            None if self._stage == self._kept_stage else self._stage,
            None if self._preview == self._kept_preview else self._preview,
        )

    def were_kept(self, stage: str | None, preview: Preview | None) -> None:
        self._kept_stage = stage or self._kept_stage
        self._kept_preview = preview or self._kept_preview

    async def wait(self, seconds: float) -> None:
        """Wait until there is something new, but not longer than ``seconds``."""
        await pause(self._is_new, seconds)
        self._is_new.clear()


async def work(workers: Sequence[Worker], stop: asyncio.Event, drain_seconds: float) -> None:
    """Let all workers draft until ``stop`` is set, and end within ``drain_seconds`` and one transaction from then.

    From then on no new case is taken. A case that was begun is finished in that time or goes back into the queue, where
    the interrupted attempt does not count.
    """
    running = [asyncio.create_task(worker.run(stop)) for worker in workers]
    stopping = asyncio.create_task(stop.wait())
    try:
        # A worker that ends before the stop was broken by an unexpected error, which is raised below.
        await asyncio.wait({*running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            await asyncio.wait(running, timeout=drain_seconds)
    finally:
        for task in (*running, stopping):
            task.cancel()
        ended = await asyncio.gather(*running, return_exceptions=True)
    for outcome in ended:
        if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
            raise outcome
