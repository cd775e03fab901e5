"""Work under a lease: enqueued once, taken by one, given up after too many attempts.

Locks are waited for in one order only: a case before its job. So ``take`` and ``lost`` never wait for a job that
another transaction holds, and code that moves a case and ends its job must move the case first.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import ColumnElement, Integer, Select, Text, and_, column, exists, func, literal, select, update, values

from core.desk.database.connection import Session, insert_new, insert_or_set
from core.desk.schema import JobRow, JobState, TurnRow
from core.errors import Conflict
from core.models import Priority

_LEVELS: Final = tuple(sorted(Priority, reverse=True))
_PEOPLES: Final = tuple(level for level in _LEVELS if level > Priority.DETECTED)
_ONE: Final = select(literal(1).label("one")).subquery("one")
_LOST_AT_ONCE: Final = 100
NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PeoplesWork:
    """What people wait for now: whether some of it could be taken, and the jobs that somebody has in hand."""

    is_waiting: bool = False
    in_hand: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work that was taken; ``attempts`` is the fence that ``renew`` and ``finish`` must name.

    ``excused`` of these attempts do not count: their worker was stopped, or what all work needs was away.
    ``priority`` is the one that it was taken with.
    """

    id: str
    key: str
    kind: str
    community_id: str
    case_id: str | None
    attempts: int
    owner: str
    payload: dict[str, Any] = field(default_factory=dict)
    excused: int = 0
    priority: int = int(Priority.DETECTED)

    @property
    def tries(self) -> int:
        """How many attempts count: this one, and those that failed or were lost."""
        return self.attempts - self.excused


async def enqueue(
    session: Session,
    key: str,
    kind: str,
    *,
    community_id: str = "",
    case_id: str | None = None,
    priority: int = 0,
    payload: dict[str, Any] | None = None,
    after: timedelta = timedelta(),
) -> bool:
    """Add a piece of work; ``False`` if one with this key was added before, whatever became of it (I17).

    Args:
        priority: one of ``core.models.Priority``; ``ValueError`` for any other number.
    """
    now = session.moment
    row = {
        "id": uuid4().hex,
        "key": key,
        "kind": kind,
        "community_id": community_id,
        "case_id": case_id,
        "payload": payload or {},
        "priority": int(Priority(priority)),
        "state": JobState.READY,
        "run_at": now + after,
        "attempts": 0,
        "excused": 0,
        "created_at": now,
        "updated_at": now,
    }
    return await insert_new(session, JobRow, row, "key")


async def hurry(session: Session, case_id: str, kind: str, priority: Priority) -> bool:
    """Raise the work that a case waits for, under way or not, to at least this priority.

    Returns:
        ``False`` if nothing changed.
    """
    statement = (
        update(JobRow)
        .where(JobRow.case_id == case_id, JobRow.kind == kind, JobRow.state.in_((JobState.READY, JobState.RUNNING)))
        .where(JobRow.priority < int(priority))
        .values(priority=int(priority))
        .returning(JobRow.id)
    )
    return (await session.execute(statement)).first() is not None


async def take(
    session: Session,
    kinds: Collection[str],
    owner: str,
    lease: timedelta,
    *,
    per_community: int | None = None,
    takes_over: bool = True,
    least: Priority = Priority.DETECTED,
) -> Job | None:
    """Take the next piece of work: the most urgent first, and of those the community served longest ago.

    The attempt is counted here, before any work. The cost grows with the number of communities that wait, and not
    with what each has waiting.

    Args:
        per_community: how many pieces of one community may run at once; any number by default. What people wait for
            is not counted together with other work, which waits for it meanwhile.
        takes_over: whether a piece whose owner let the lease run out comes first; a caller that does not want it
            must ask for ``lost``.
        least: the lowest priority to take.

    Raises:
        Conflict: with ``per_community`` only: another worker took this community's turn just now. Try again in a new
            transaction.
    """
    row = await session.scalar(_lost(session, kinds, 1)) if takes_over else None
    if row is None:
        row = await _next(session, kinds, per_community, least)
    if row is None:
        return None
    now = session.moment
    row.state, row.owner, row.lease_until = JobState.RUNNING, owner, now + lease
    row.attempts, row.started_at, row.updated_at = row.attempts + 1, now, now
    row.progress = None
    await session.flush()
    return _job(row)


async def lost(session: Session, kinds: Collection[str]) -> list[Job]:
    """Running pieces whose owner let the lease run out, held for this transaction; ``retry`` or ``finish`` each."""
    return [_job(row) for row in await session.scalars(_lost(session, kinds, _LOST_AT_ONCE))]


def _lost(session: Session, kinds: Collection[str], limit: int) -> Select[JobRow]:
    return (
        select(JobRow)
        .where(JobRow.state == JobState.RUNNING, JobRow.kind.in_(kinds), JobRow.lease_until < session.moment)
        .order_by(JobRow.lease_until, JobRow.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    )


async def _next(session: Session, kinds: Collection[str], per_community: int | None, least: Priority) -> JobRow | None:
    """The piece of work whose turn it is, held for this transaction."""
    waiting = await _waiting(session, kinds, [level for level in _LEVELS if level >= least])
    for priority in sorted(waiting, reverse=True):
        counted = _PEOPLES if priority in _PEOPLES else _LEVELS
        at_work = await running(session, kinds, counted) if per_community is not None else {}
        for community, kind in await _turns(session, waiting[priority], priority):
            if per_community is not None:
                if at_work.get(community, 0) >= per_community:
                    continue
                # A worker that waits here for another of the same community sees afterwards what that one took.
                await _serve(session, community)
                if (await running(session, kinds, counted)).get(community, 0) >= per_community:
                    raise Conflict("Another worker took this community's turn.", remedy="Take again.")
            query = (
                select(JobRow)
                .where(*_ready(kind, priority), JobRow.community_id == community, JobRow.run_at <= session.moment)
                .order_by(JobRow.run_at, JobRow.id)
                .limit(1)
                .with_for_update(skip_locked=True)
                .execution_options(populate_existing=True)
            )
            row = await session.scalar(query)
            if row is not None:
                if per_community is None:
                    await _serve(session, community)
                return row
            if per_community is not None:  # a second turn must not be waited for while this one is held
                raise Conflict("Another worker took this community's work.", remedy="Take again.")
    return None


async def _waiting(session: Session, kinds: Collection[str], levels: Collection[Priority]) -> dict[Priority, list[str]]:
    """Of which kinds work waits, due or not, by its priority: one step into the index for each pair, in one query."""
    table = values(column("kind", Text), column("priority", Integer))
    pairs = table.data([(kind, int(level)) for level in levels for kind in kinds]).cte("pairs")
    is_there = exists().where(*_ready(pairs.c.kind, pairs.c.priority)).correlate(pairs)
    kinds_by_level: dict[Priority, list[str]] = {}
    for kind, level in await session.execute(select(pairs.c.kind, pairs.c.priority).where(is_there)):
        kinds_by_level.setdefault(Priority(level), []).append(kind)
    return kinds_by_level


def _ready(kind: ColumnElement[str] | str, priority: ColumnElement[int] | int) -> tuple[Any, ...]:
    return JobRow.state == JobState.READY, JobRow.kind == kind, JobRow.priority == priority


async def _turns(session: Session, kinds: Collection[str], priority: int) -> list[tuple[str, str]]:
    """The communities with work of this priority and kind that is due; the one served longest ago comes first."""
    turns = [
        (served or NEVER, community, kind)
        for kind in kinds
        for community, served in await session.execute(_communities(session, kind, priority))
    ]
    return [(community, kind) for _, community, kind in sorted(turns)]


def _communities(session: Session, kind: str, priority: int) -> Select[str, datetime | None]:
    """The communities with work that is due, each with its last turn.

    Steps from one community to the next within the index, since neither database does so for DISTINCT: 100,000 pieces
    of one community cost as much as one.
    """
    ready = _ready(kind, priority)
    ids = select(func.min(JobRow.community_id).label("community_id")).where(*ready).cte("found", recursive=True)
    following = select(func.min(JobRow.community_id)).where(*ready, JobRow.community_id > ids.c.community_id)
    ids = ids.union_all(select(following.correlate(ids).scalar_subquery()).where(ids.c.community_id.is_not(None)))
    oldest = (
        select(JobRow.run_at)
        .where(*ready, JobRow.community_id == ids.c.community_id)
        .order_by(JobRow.run_at)
        .limit(1)
        .correlate(ids)
        .scalar_subquery()
    )
    return (
        select(ids.c.community_id, TurnRow.served_at)
        .outerjoin(TurnRow, TurnRow.community_id == ids.c.community_id)
        .where(oldest <= session.moment)
    )


async def running(
    session: Session, kinds: Collection[str], priorities: Collection[Priority] = _LEVELS
) -> dict[str, int]:
    """How many pieces are at work, by community."""
    query = (
        select(JobRow.community_id, func.count())
        .where(JobRow.state == JobState.RUNNING, JobRow.kind.in_(kinds), JobRow.lease_until >= session.moment)
        .where(JobRow.priority.in_([int(priority) for priority in priorities]))
        .group_by(JobRow.community_id)
    )
    return {str(community): int(count) for community, count in await session.execute(query)}


async def peoples_work(session: Session, kind: str) -> PeoplesWork:
    """What people wait for, of all communities: two looks into one index, whose cost does not grow with the queue."""
    levels = [int(level) for level in _PEOPLES]
    of_people = JobRow.kind == kind, JobRow.priority.in_(levels)
    is_due = exists().where(JobRow.state == JobState.READY, *of_people, JobRow.run_at <= session.moment)
    is_in_hand = (JobRow.state == JobState.RUNNING, *of_people, JobRow.lease_until >= session.moment)
    result = await session.execute(select(is_due, JobRow.id).select_from(_ONE).outerjoin(JobRow, and_(*is_in_hand)))
    rows = result.all()
    return PeoplesWork(bool(rows[0][0]), frozenset(str(job) for _, job in rows if job is not None))


async def _serve(session: Session, community: str) -> None:
    """Note the community's turn; other workers that do so wait for the end of this transaction."""
    await insert_or_set(session, TurnRow, {"community_id": community}, {"served_at": session.moment})


async def renew(session: Session, job: Job, lease: timedelta, progress: str | None = None) -> bool:
    """Keep a piece of work for another ``lease``; ``False`` if another worker has it by now."""
    changes: dict[str, Any] = {"lease_until": session.moment + lease}
    if progress is not None:
        changes["progress"] = progress
    return await _mine(session, job, changes)


async def finish(session: Session, job: Job, state: JobState = JobState.DONE, error: str | None = None) -> None:
    """Record that a piece of work is over, in the transaction that stores its result.

    Raises:
        Conflict: somebody else took it over.
    """
    await _end(session, job, {"state": state, "error": error})


async def retry(
    session: Session, job: Job, after: timedelta, error: str | None = None, *, is_excused: bool = False
) -> None:
    """Put a piece of work back, to be tried again; ``Conflict`` if somebody else took it over.

    Args:
        is_excused: the attempt does not count: its worker was stopped, or what all work needs was away.
    """
    changes = {
        "state": JobState.READY,
        "run_at": session.moment + after,
        "error": error,
        "excused": job.excused + is_excused,
    }
    await _end(session, job, changes)


async def _end(session: Session, job: Job, changes: dict[str, Any]) -> None:
    over = {"lease_until": None, "progress": None, "updated_at": session.moment}
    if not await _mine(session, job, changes | over):
        raise Conflict("Another worker took this over.", remedy="Nothing was kept of this attempt.")


async def begin_again(session: Session, case_id: str, kind: str) -> None:
    """Take the work of this kind for a case from whoever has it; it waits again."""
    await session.execute(
        update(JobRow)
        .where(JobRow.case_id == case_id, JobRow.kind == kind, JobRow.state == JobState.RUNNING)
        .values(state=JobState.READY, lease_until=None, progress=None, updated_at=session.moment)
    )


async def cancel_of_case(session: Session, case_id: str, kind: str) -> None:
    """Stop all work of this kind for a case: none begins from now on, and no result is kept."""
    await session.execute(
        update(JobRow)
        .where(JobRow.case_id == case_id, JobRow.kind == kind, JobRow.state.in_((JobState.READY, JobState.RUNNING)))
        .values(state=JobState.CANCELLED, lease_until=None, progress=None, updated_at=session.moment)
    )


async def _mine(session: Session, job: Job, changes: dict[str, Any]) -> bool:
    statement = (
        update(JobRow)
        .where(
            JobRow.id == job.id,
            JobRow.owner == job.owner,
            JobRow.attempts == job.attempts,
            JobRow.state == JobState.RUNNING,
        )
        .values(**changes)
        .returning(JobRow.id)
    )
    return (await session.execute(statement)).first() is not None


def _job(row: JobRow) -> Job:
    return Job(
        id=row.id,
        key=row.key,
        kind=row.kind,
        community_id=row.community_id,
        case_id=row.case_id,
        attempts=row.attempts,
        owner=row.owner or "",
        payload=dict(row.payload),
        excused=row.excused,
        priority=row.priority,
    )
