"""The worker's side of a case: take it under a lease, keep the lease alive, and hand the case to a person.

A worker that lost its lease, or whose case was moved by somebody else, can store nothing: every call names the job's
attempt and the case's version (reliability, I5 and I6).
"""

import logging
import random
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from functools import partial
from typing import Final
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CaseState
from core.desk.rules.shortfalls import why_no_draft
from core.desk.runtime import metrics
from core.desk.schema import CaseRow, JobState, SuggestionRow
from core.desk.store import cases as store
from core.desk.store import holds, jobs
from core.desk.store.cases import Case
from core.desk.store.suggestions import Preview, keep_preview, preview_to_json, suggestion_to_json
from core.engine.wording.text import counted
from core.errors import Conflict
from core.i18n.sentences import joined, sentence
from core.models import Priority, Suggestion

_LOG = logging.getLogger(__name__)
_TURNS: Final = 20
"""How often to take again when another worker was faster each time."""


class _Outcome(Enum):
    NOTHING_WAITS = auto()
    TAKE_AGAIN = auto()


@dataclass(frozen=True, slots=True)
class TakenCase:
    case: Case
    job: jobs.Job

    @property
    def is_for_people(self) -> bool:
        """Whether somebody waits for this draft: they flagged the post, or asked for a draft."""
        return self.job.priority > Priority.DETECTED


class Backoff:
    """How long to wait before the next attempt: up to twice as long after each one, and at least half of that.

    Args:
        seed: of the random part; it differs for each worker, so that workers that failed together do not return
            together.
        first_seconds: the longest pause after the first attempt.
        most_seconds: the longest pause after any attempt.
    """

    def __init__(self, seed: str, first_seconds: float = 10.0, most_seconds: float = 600.0) -> None:
        self._first_seconds = first_seconds
        self._most_seconds = most_seconds
        self._chance = random.Random(seed)  # nosec B311 # noqa: S311 - repeatable, no secret

    def seconds(self, attempts: int) -> float:
        """The pause after this many attempts (1 or more)."""
        whole = min(self._most_seconds, self._first_seconds * 2.0 ** min(attempts - 1, 32))
        return whole * (0.5 + 0.5 * self._chance.random())


class DraftQueue:
    """The queue of cases that wait for a draft, as one worker sees it.

    Args:
        owner: names this worker among all.
        lease_seconds: how long the worker may be silent before another one takes over.
        max_attempts: how often drafting is tried before a person is asked; 1 where nobody waits for a second attempt.
        per_community: how many cases of one community may be drafted at once, by all workers together; those that
            people wait for are counted alone, since all others stand still for them.
        backoff: how long a case waits after an attempt that failed; seeded by ``owner`` if not given.
    """

    def __init__(
        self,
        database: Database,
        owner: str,
        *,
        lease_seconds: float = 60.0,
        max_attempts: int = 3,
        per_community: int | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        self.owner = owner
        self.lease_seconds = lease_seconds
        self._database = database
        self._lease = timedelta(seconds=lease_seconds)
        self._max_attempts = max_attempts
        self._per_community = per_community
        self._backoff = backoff or Backoff(owner)

    async def look(self) -> jobs.PeoplesWork:
        """Which drafts people wait for, whatever process has them in hand."""
        return await self._database.run(
            "look who waits for a draft", lambda session: jobs.peoples_work(session, store.DRAFT)
        )

    async def take(self, least: Priority = Priority.DETECTED) -> TakenCase | None:
        """Take the next case of at least this priority, for drafting; ``None`` when none waits.

        Before that, cases whose workers were lost go back into the queue (``put_back_lost``).
        """
        await self.put_back_lost()
        for _ in range(_TURNS):
            try:
                outcome = await self._database.run("take a case", partial(self._begin, least=least))
            except Conflict:
                continue
            if isinstance(outcome, TakenCase):
                return outcome
            if outcome is _Outcome.NOTHING_WAITS:
                return None
        return None

    async def _begin(self, session: Session, least: Priority) -> TakenCase | _Outcome:
        job = await jobs.take(
            session,
            [store.DRAFT],
            self.owner,
            self._lease,
            per_community=self._per_community,
            takes_over=False,
            least=least,
        )
        if job is None or job.case_id is None:
            return _Outcome.NOTHING_WAITS
        try:
            async with session.begin_nested():
                case = await self._open(session, job, job.case_id)
        except (Conflict, DBAPIError):  # of the latter the transaction does not survive
            raise
        except Exception as err:
            await self._set_aside(session, job, err)
            return _Outcome.TAKE_AGAIN
        return _Outcome.TAKE_AGAIN if case is None else TakenCase(case, job)

    async def _open(self, session: Session, job: jobs.Job, case_id: str) -> Case | None:
        """The job's case, in ``drafting``; ``None`` if it no longer needs a draft."""
        if not await _hold(session, case_id):
            raise Conflict("Somebody decides about this case just now.", remedy="Take again.")
        case = await store.load(session, case_id)
        if case.state is CaseState.QUEUED:
            return await self._move(session, case, CaseState.DRAFTING, f"drafting, attempt {job.tries}")
        await jobs.finish(session, job, JobState.CANCELLED)
        return None

    async def _set_aside(self, session: Session, job: jobs.Job, err: Exception) -> None:
        """Put off a case that cannot be read, so that it blocks no others; after enough attempts, drop its job."""
        reason = sentence("The case cannot be read ({kind}).", kind=type(err).__name__)
        _LOG.error("case %s cannot be read: %s", job.case_id, type(err).__name__)
        if job.tries >= self._max_attempts:
            await jobs.finish(session, job, JobState.DEAD, reason)
        else:
            await jobs.retry(session, job, timedelta(seconds=self._backoff.seconds(job.tries)), reason)

    async def put_back_lost(self) -> int:
        """Queue the cases whose workers let the lease run out, each after a pause; returns how many it settled.

        A case that was tried too often is given to a person instead; one that is held just now waits for the next
        look. Each worker does this for the cases of all workers.
        """

        async def work(session: Session) -> int:
            settled = 0
            for job in await jobs.lost(session, [store.DRAFT]):
                try:
                    async with session.begin_nested():
                        settled += await self._put_back(session, job)
                except DBAPIError:
                    raise
                except Exception as err:
                    await self._set_aside(session, job, err)
                    settled += 1
            return settled

        count = await self._database.run("put lost cases back", work)
        metrics.CASES_REQUEUED.inc(count)
        return count

    async def _put_back(self, session: Session, job: jobs.Job) -> bool:
        """Queue one case again; ``False`` while somebody decides about the case, or its late heartbeat is written."""
        if job.case_id is None or not await _hold(session, job.case_id):
            return False
        case = await store.load(session, job.case_id)
        if case.state is CaseState.DRAFTING:
            await self._fail(session, TakenCase(case, job), sentence("Its worker was lost."))
        else:
            await jobs.finish(session, job, JobState.CANCELLED)
        return True

    async def keep(self, taken: TakenCase, progress: str | None = None, preview: Preview | None = None) -> bool:
        """Renew the lease, and record how far the work is; ``False`` if it was lost or the case was moved.

        Args:
            progress: the stage of the engine, where that is new.
            preview: the best draft so far and what it rests on, where that is new.

        Raises:
            BadAnswer: the preview cannot be stored; the lease was not renewed.
        """
        is_new = progress is not None or preview is not None
        document = None if preview is None else preview_to_json(preview)

        async def work(session: Session) -> bool:
            # Locked if there is something to show: a transaction that moves the case then finds and drops the preview.
            case = await (holds.lock if is_new else store.load)(session, taken.case.id)
            if case.version != taken.case.version or not await jobs.renew(session, taken.job, self._lease, progress):
                return False
            if document is not None:
                await keep_preview(session, case.id, document)
            if is_new:
                await store.touch(session, case.id)
            return True

        return await self._database.run("keep a lease", work)

    async def store(self, taken: TakenCase, suggestion: Suggestion) -> Case:
        """Store what the engine said, and put the case before a moderator.

        An earlier suggestion is kept, but no longer shown. Without a draft the case needs a person, and the reason says
        what the engine found; if a moderator had asked for other drafts, the earlier ones stay instead, also where
        there is nothing new but the notice on the rules.

        Raises:
            Conflict: another worker has the case by now, or somebody moved it; nothing was stored.
        """
        document = suggestion_to_json(suggestion)

        async def work(session: Session) -> tuple[Case, bool]:
            case = await self._expected(session, taken)
            was_reviewed = await store.was_reviewed(session, case.id)
            to, reason = CaseState.IN_REVIEW, counted(len(suggestion.drafts), "draft")
            is_new = suggestion.has_answer or not was_reviewed
            is_offered = bool(suggestion.drafts) and is_new
            if not is_offered:
                why = why_no_draft(suggestion)
                to, reason = await _without_drafts(session, case.id, why)
            if is_offered or to is CaseState.NEEDS_PERSON:
                session.add(
                    SuggestionRow(
                        id=uuid4().hex,
                        case_id=case.id,
                        document=document,
                        created_at=session.moment,
                        severity=suggestion.reading.severity,
                        target_group=suggestion.reading.target_group,
                    )
                )
            moved = await self._move(session, case, to, reason)
            await jobs.finish(session, taken.job)
            return moved, is_offered and not was_reviewed

        moved, is_first = await self._database.run("store a suggestion", work)
        if is_first:
            waited = (moved.updated_at - moved.created_at).total_seconds()
            metrics.FLAG_TO_DRAFTS.labels(moved.post.priority.name.lower()).observe(waited)
        return moved

    async def give_up(self, taken: TakenCase, reason: str) -> Case:
        """Hand a case that could not be drafted to a person, with the reason; earlier drafts stay."""

        async def work(session: Session) -> Case:
            return await self._give_up(session, await self._expected(session, taken), taken.job, reason)

        return await self._database.run("give a case up", work)

    async def fail(self, taken: TakenCase, reason: str, *, is_away: bool = False) -> Case:
        """Record that an attempt failed because something was unavailable: the case is tried again after a pause.

        A case that was tried too often is given to a person, as by ``give_up``.

        Args:
            is_away: the model answers nobody, so that the attempt does not count: the case waits until the model is
                back, or the case expires (``core.desk.upkeep.retention``). Attempts count all the same where one is
                all, and where a moderator asked for other drafts, whose earlier ones must not wait for an outage to
                end.
        """

        async def work(session: Session) -> Case:
            expected = TakenCase(await self._expected(session, taken), taken.job)
            is_excused = is_away and self._max_attempts > 1 and not await store.was_reviewed(session, taken.case.id)
            return await self._fail(session, expected, reason, is_excused=is_excused)

        return await self._database.run("put a case off", work)

    async def release(self, taken: TakenCase, reason: str) -> Case:
        """Put a case back into the queue because its worker stops; the attempt does not count."""

        async def work(session: Session) -> Case:
            moved = await self._move(session, await self._expected(session, taken), CaseState.QUEUED, reason)
            await jobs.retry(session, taken.job, timedelta(), reason, is_excused=True)
            return moved

        return await self._database.run("release a case", work)

    async def _expected(self, session: Session, taken: TakenCase) -> Case:
        return await store.load_expected(session, taken.case.id, taken.case.version, CaseState.DRAFTING)

    async def _fail(self, session: Session, taken: TakenCase, reason: str, *, is_excused: bool = False) -> Case:
        job, tries = taken.job, taken.job.tries
        if tries >= self._max_attempts and not is_excused:
            often = sentence("Drafting was tried {count} times. The last time: {why}", count=tries, why=reason)
            return await self._give_up(session, taken.case, job, reason if tries == 1 else often)
        later = joined(reason, sentence("It is tried again later."))
        moved = await self._move(session, taken.case, CaseState.QUEUED, later)
        pause = timedelta(seconds=self._backoff.seconds(job.attempts if is_excused else tries))
        await jobs.retry(session, job, pause, reason, is_excused=is_excused)
        return moved

    async def _give_up(self, session: Session, case: Case, job: jobs.Job, reason: str) -> Case:
        to, why = await _without_drafts(session, case.id, reason)
        moved = await self._move(session, case, to, why)
        await jobs.finish(session, job, JobState.DEAD, reason)
        return moved

    async def _move(self, session: Session, case: Case, to: CaseState, reason: str) -> Case:
        return await store.transition(session, case.id, case.version, to, actor="worker", reason=reason)


async def _hold(session: Session, case_id: str) -> bool:
    """Lock the case against other decisions until the end of the transaction; ``False`` if somebody is deciding now."""
    query = select(CaseRow.id).where(CaseRow.id == case_id).with_for_update(skip_locked=True)
    return await session.scalar(query) is not None


async def _without_drafts(session: Session, case_id: str, reason: str) -> tuple[CaseState, str]:
    """Where a case without a new draft goes, and why.

    A case that was in review has drafts, which a moderator must not lose by asking for others.
    """
    if await store.was_reviewed(session, case_id):
        return CaseState.IN_REVIEW, joined(reason, sentence("The earlier drafts are still there."))
    return CaseState.NEEDS_PERSON, reason
