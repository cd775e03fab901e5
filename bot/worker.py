"""The worker: takes a queued case, runs the engine, stores what it says.

Owns one case at a time, from ``queued`` to a moderator or a person. Must never approve or post, and must not leave a
case in ``drafting``: whatever ends the engine, the case goes on, or goes back into the queue.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.desk import Desk
from bot.store.cases import Case
from core.errors import AntiphonError, Conflict, StoreUnavailable
from core.models import FlaggedPost, Suggestion
from core.review import CaseState

_LOG = logging.getLogger(__name__)

OnProgress = Callable[[object], None]
Suggest = Callable[[FlaggedPost, str | None, OnProgress], Awaitable[Suggestion]]


class Worker:
    """Drafts replies for queued cases, oldest first.

    Args:
        suggest: the engine; it is called with the post, the counter-claim that a moderator chose (or ``None``) and
            ``on_progress``.
        poll_seconds: how long to wait before looking again when no case is queued.
    """

    def __init__(self, desk: Desk, suggest: Suggest, on_progress: OnProgress, *, poll_seconds: float = 1.0) -> None:
        self._desk = desk
        self._suggest = suggest
        self._on_progress = on_progress
        self._poll_seconds = poll_seconds

    async def step(self) -> bool:
        """Work on one case to its end; ``False`` if none was queued.

        Raises:
            StoreUnavailable: the database does not answer; the case is as it was, or waits for ``recover``.
        """
        taking = asyncio.create_task(self._desk.take_next())
        try:
            # Shielded, since a cancellation at this very moment must not lose the case that was just taken.
            case = await asyncio.shield(taking)
            if case is None:
                return False
            await self._draft(case)
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(taking))
            raise
        except Conflict as err:
            _LOG.info("a case was moved by somebody else while it was drafted: %s", err)
        return True

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; the case in hand is finished first."""
        while not stop.is_set():
            try:
                busy = await self.step()
            except StoreUnavailable as err:
                _LOG.warning("the worker waits for the database: %s", err)
                busy = False
            if not busy:
                await self._pause(stop)

    async def recover(self) -> list[Case]:
        """Queue again what a killed process left in ``drafting``. Call it at start-up, before any worker runs."""
        return [await self._desk.release(case) for case in await self._desk.cases(CaseState.DRAFTING)]

    async def _draft(self, case: Case) -> None:
        """Run the engine on a case and keep its answer, or the reason why there is none."""
        try:
            claim = await self._desk.chosen_claim(case.id)
            suggestion = await self._suggest(case.post, claim, self._on_progress)
            await self._desk.store_suggestion(case.id, case.version, suggestion)
        except (Conflict, StoreUnavailable):
            raise
        except AntiphonError as err:
            await self._desk.give_up(case, str(err))
        except Exception as err:
            # Only the kind of the error is kept: its message may quote the post.
            _LOG.error("the engine failed on case %s: %s", case.id, type(err).__name__)
            await self._desk.give_up(case, f"The engine failed unexpectedly ({type(err).__name__}).")

    async def _give_back(self, taking: asyncio.Task[Case | None]) -> None:
        """Queue a case again, unless its work was just done; ``recover`` takes care of what cannot be written."""
        try:
            case = await taking
            if case is not None:
                await self._desk.release(case)
        except (Conflict, StoreUnavailable) as err:
            _LOG.warning("a case was not released: %s", err)

    async def _pause(self, stop: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self._poll_seconds):
                await stop.wait()
        except TimeoutError:
            return
