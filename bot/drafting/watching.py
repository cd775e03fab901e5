"""What the log, the metrics and the traces are told of an attempt at drafts.

Owns when an attempt begins and ends for them, and how its outcome is called. Changes nothing of it, and must never tell
them a word: of a step only the stage and its time, of a suggestion only numbers.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bot.drafting.queue import Taken
from bot.runtime import metrics, tracing
from bot.runtime.logs import about
from core.errors import Conflict
from core.models import Progress, Suggestion

_LOG = logging.getLogger(__name__)


class Attempt:
    """One attempt while it is made; ``outcome`` is what it came to, as ``metrics.DRAFTING`` calls it."""

    def __init__(self) -> None:
        self.outcome = "failed"
        self._seconds = 0.0

    def hear(self, step: Progress) -> None:
        """Note that a stage of the engine is over."""
        tracing.past("stage", max(0.0, step.seconds - self._seconds), stage=step.stage)
        self._seconds = step.seconds

    def drafted(self, suggestion: Suggestion) -> None:
        """Note what the engine said, once it is stored."""
        self.outcome = "drafts" if suggestion.drafts else "none"
        if suggestion.cost.first_draft_seconds is not None:
            metrics.FIRST_DRAFT.labels(suggestion.cost.profile).observe(suggestion.cost.first_draft_seconds)
        for note in suggestion.degraded:
            metrics.DEGRADED.labels(metrics.degraded_code(note)).inc()


@contextmanager
def watched(taken: Taken, profile: str) -> Iterator[Attempt]:
    """Tell of what is done in the block as one attempt at the drafts of a case."""
    case, job, began, attempt = taken.case, taken.job, time.monotonic(), Attempt()
    ref = case.post.ref
    with (
        about(case=case.id, platform=ref.platform, community=ref.community, worker=job.owner),
        tracing.span("draft", case=case.id, platform=ref.platform, profile=profile, attempt=job.attempts),
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
