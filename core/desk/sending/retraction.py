"""Taking a posted reply back, within the limits of its platform.

A retraction is a job under a lease, from the committed intent to its end: the reply is gone and the case ``retracted``,
or the platform refuses and the case stays ``posted``. A removal may be repeated, so one that got no answer is checked
and tried again.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import select, update

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import RetractReason, retract_words
from core.desk.rules.roles import OnCase, Person
from core.desk.runtime import metrics
from core.desk.runtime.logs import about
from core.desk.schema import JobRow, JobState, OutboxState
from core.desk.sending.gate import Gate, cause
from core.desk.sending.outbox_rows import Delivery, Rules, end
from core.desk.store import jobs
from core.desk.store import outbox as store
from core.desk.store.cases import load, load_expected
from core.desk.store.people import require_on_case
from core.errors import Conflict, NotAllowed, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import joined, sentence
from core.models import PostRef

_KIND: Final = "retract:{}"
"""The kind of the job that a retraction is, by platform: only a process that is connected to it can carry it out."""
_LONGEST_WAIT_SECONDS: Final = 3600.0
"""How long a platform may ask to wait: some allow few removals in half an hour, and many replies may have to go."""


class Retractions:
    def __init__(self, database: Database, gate: Gate, rules: Rules) -> None:
        self._database = database
        self._gate = gate
        self._rules = rules
        self._owner = uuid4().hex

    async def retract(self, case_id: str, version: int, by: Person, reason: RetractReason, note: str) -> Delivery:
        """Commit the intent, carry out what waits on that platform, and return the state of this case."""
        platform = await self._ask(case_id, version, by, reason, note)
        await self.carry_out(platform.__eq__)
        return await self._database.run("look at a retraction", lambda session: _standing(session, case_id))

    async def carry_out(self, of: Callable[[str], bool]) -> None:
        """Try every retraction that waits on a platform that is connected here and that ``of`` selects."""
        kinds = [_KIND.format(platform) for platform in self._gate.connected if of(platform)]
        tried = set[str]()
        while kinds and (job := await self._take(kinds)) is not None and job.id not in tried:
            tried.add(job.id)
            with about(case=job.case_id):
                await self._try(job)

    async def _ask(self, case_id: str, version: int, by: Person, reason: RetractReason, note: str) -> str:
        """Commit the intent; returns the platform that the reply is on."""

        async def work(session: Session) -> str:
            case = await load(session, case_id)
            who = await require_on_case(session, case.community_id, by, OnCase.RETRACT)
            await load_expected(session, case_id, version, CaseState.POSTED, by)
            row = await store.newest(session, case_id)
            if row is None or row.state is not OutboxState.POSTED or row.remote_message is None:
                raise NotAllowed(
                    sentence("Nobody knows where the reply is."), remedy=sentence("Take it away on the platform.")
                )
            if await _open_job(session, case_id) is not None:
                raise Conflict(
                    sentence("The reply is being taken back already."), remedy=sentence("Look again in a moment.")
                )
            await jobs.enqueue(
                session,
                f"retract:{row.approval_id}:{uuid4().hex}",
                _KIND.format(case.post.ref.platform),
                community_id=case.community_id,
                case_id=case_id,
                payload={"approval": row.approval_id, "by": who, "reason": reason, "note": note},
            )
            return case.post.ref.platform

        return await self._database.run("ask for a retraction", work)

    async def _take(self, kinds: Sequence[str]) -> jobs.Job | None:
        return await self._database.run(
            "take a retraction", lambda session: jobs.take(session, kinds, self._owner, self._rules.lease)
        )

    async def _try(self, job: jobs.Job) -> None:
        """Make the call once, look at the platform if it got no answer, and record the outcome."""
        ref = await self._database.run("read a retraction", lambda session: _ref(session, job))
        if ref is None:
            await self._give_up(job, sentence("The reply does not count as posted any more."))
            return
        try:
            await self._gate.retract(ref)
        except PlatformBusy as err:
            wait = timedelta(seconds=min(max(err.retry_after_seconds, 0.0), _LONGEST_WAIT_SECONDS))
            await self._later(job, err.said, wait)
        except PlatformUnavailable as err:
            await self._give_up(job, err.said)
        except Exception as err:
            await self._after_no_answer(job, ref, cause(err))
        else:
            await self._record_gone(job)

    async def _after_no_answer(self, job: jobs.Job, ref: PostRef, why: str) -> None:
        try:
            stands = await self._gate.read(ref) is not None
        except Exception as err:
            await self._later(job, joined(why, sentence("It cannot be read back: {why}", why=cause(err))))
            return
        if stands:
            await self._later(job, why)
        else:
            await self._record_gone(job)

    async def _record_gone(self, job: jobs.Job) -> None:
        async def work(session: Session) -> None:
            entry = await store.entry_of(session, job.payload["approval"], lock=True)
            if entry.case.state is CaseState.POSTED:
                by, note, why = job.payload["by"], job.payload["note"], retract_words(job.payload["reason"])
                await end(session, entry, CaseState.RETRACTED, why, actor=by, note=note)
            await jobs.finish(session, job)
            await _forget_note(session, job)

        if await self._recorded("record a retraction", work):
            metrics.SENDS.labels(job.kind.partition(":")[2], CaseState.RETRACTED).inc()

    async def _give_up(self, job: jobs.Job, reason: str) -> None:
        async def work(session: Session) -> None:
            await jobs.finish(session, job, JobState.DEAD, sentence("The reply is still there: {why}", why=reason))
            await _forget_note(session, job)

        await self._recorded("give a retraction up", work)

    async def _later(self, job: jobs.Job, reason: str, wait: timedelta = timedelta()) -> None:
        """Try again after a pause; after ``max_attempts`` a person must take the reply away."""
        if job.attempts >= self._rules.max_attempts:
            await self._give_up(job, joined(reason, sentence("Take it away on the platform.")))
            return
        after = max(wait, self._rules.pause(job.attempts))
        again = sentence("The reply could not be taken back yet; Antiphon tries again: {why}", why=reason)
        await self._recorded("put a retraction back", lambda session: jobs.retry(session, job, after, again))

    async def _recorded(self, name: str, work: Any) -> bool:
        """Record the outcome of an attempt; ``False`` if another process took the retraction over meanwhile."""
        try:
            await self._database.run(name, work)
        except Conflict:
            return False
        return True


async def _ref(session: Session, job: jobs.Job) -> PostRef | None:
    """Where the reply is; ``None`` if it does not count as posted."""
    entry = await store.entry_of(session, job.payload["approval"])
    return entry.posted_ref() if entry.case.state is CaseState.POSTED else None


async def _open_job(session: Session, case_id: str) -> JobRow | None:
    job = await _newest_job(session, case_id)
    return job if job is not None and job.state in (JobState.READY, JobState.RUNNING) else None


async def _newest_job(session: Session, case_id: str) -> JobRow | None:
    query = select(JobRow).where(JobRow.case_id == case_id, JobRow.kind.startswith("retract:"))
    query = query.order_by(JobRow.created_at.desc()).limit(1)
    return await session.scalar(query.execution_options(populate_existing=True))


async def _standing(session: Session, case_id: str) -> Delivery:
    case, row = await load(session, case_id), await store.newest(session, case_id)
    job = await _newest_job(session, case_id)
    so_far = (job.error if job else None) or sentence("The reply is being taken back.")
    reason = sentence("taken back") if case.state is CaseState.RETRACTED else so_far
    return Delivery(case_id, "" if row is None else row.approval_id, case.state, reason)


async def _forget_note(session: Session, job: jobs.Job) -> None:
    """Remove what the person typed from the job: from here on it is in the audit log, where it can be erased."""
    await session.execute(update(JobRow).filter_by(id=job.id).values(payload={**job.payload, "note": ""}))
