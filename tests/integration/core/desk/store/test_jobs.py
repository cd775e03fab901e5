"""Work under a lease: who gets it, who may keep what of it, and what the next one costs however much waits."""

import asyncio
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from core.desk.database.connection import Database, Session
from core.desk.rules.case_cards import DraftProgress
from core.desk.schema import JobState
from core.desk.store import jobs
from core.desk.store.jobs import Job, PeoplesWork
from core.desk.views.status import progress
from core.errors import Conflict
from core.models import Priority
from tests.fakes.desk.people import SECRET
from tests.fakes.machine.clock import FakeClock

KIND = "draft"
LEASE = timedelta(seconds=60)
LAPSED = 61.0  # seconds after which it is over


class Jobs:
    """The functions of ``jobs``, each in a transaction of its own; time passes only between two of them."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, name: str, community: str = "one", priority: int = 1, **more: Any) -> bool:
        """Enqueue; each a second later than the one before."""
        self._clock.advance(1)

        async def work(session: Session) -> bool:
            return await jobs.enqueue(
                session, name, KIND, community_id=community, case_id=name, priority=priority, **more
            )

        return await self._database.run("add", work)

    async def take(self, owner: str = "worker", **how: Any) -> Job | None:
        self._clock.advance(1)
        return await self._database.run("take", lambda session: jobs.take(session, [KIND], owner, LEASE, **how))

    async def taken(self, owner: str = "worker", **how: Any) -> Job:
        job = await self.take(owner, **how)
        assert job is not None
        return job

    async def in_order(self, **how: Any) -> list[str]:
        """The keys of all that can be taken, in the order in which it is."""
        keys = []
        while (job := await self.take(**how)) is not None:
            keys.append(job.key)
        return keys

    async def finish(self, job: Job, state: JobState = JobState.DONE) -> None:
        await self._database.run("finish", lambda session: jobs.finish(session, job, state))

    async def renew(self, job: Job, progress: str | None = None) -> bool:
        return await self._database.run("renew", lambda session: jobs.renew(session, job, LEASE, progress))

    async def retry(self, job: Job, seconds: float = 0, error: str | None = None, *, is_excused: bool = False) -> None:
        after = timedelta(seconds=seconds)
        await self._database.run("retry", lambda session: jobs.retry(session, job, after, error, is_excused=is_excused))

    async def lost(self) -> list[Job]:
        return await self._database.run("lost", lambda session: jobs.lost(session, [KIND]))

    async def hurry(self, name: str, priority: Priority) -> bool:
        return await self._database.run("hurry", lambda session: jobs.hurry(session, name, KIND, priority))

    async def people(self) -> PeoplesWork:
        return await self._database.run("look", lambda session: jobs.peoples_work(session, KIND))

    async def progress(self, name: str) -> DraftProgress | None:
        return await self._database.run("read progress", lambda session: progress(session, name, KIND))


@pytest.fixture
def work(database: Database, clock: FakeClock) -> Jobs:
    return Jobs(database, clock)


# Who gets it


async def test_a_piece_of_work_is_enqueued_once(work: Jobs) -> None:
    """A key says what it is, also when it was done long ago (invariant I17)."""
    assert await work.add("a")
    assert not await work.add("a")
    await work.finish(await work.taken())
    assert not await work.add("a")
    assert await work.take() is None


async def test_a_priority_that_nobody_knows_is_refused(work: Jobs) -> None:
    """It would wait for ever."""
    with pytest.raises(ValueError, match="7"):
        await work.add("a", priority=7)


async def test_communities_take_turns(work: Jobs) -> None:
    """A raid on one community does not let the others wait for its end."""
    for number in range(4):
        await work.add(f"raid {number}", "raided")
    await work.add("calm", "calm")
    await work.add("quiet", "quiet")
    assert await work.in_order() == ["calm", "quiet", "raid 0", "raid 1", "raid 2", "raid 3"]
    for number in range(4, 7):
        await work.add(f"raid {number}", "raided")
    await work.add("calm again", "calm")
    assert await work.in_order() == ["calm again", "raid 4", "raid 5", "raid 6"]


async def test_what_is_put_off_waits_until_then(work: Jobs, clock: FakeClock) -> None:
    """And holds nothing up that is due."""
    await work.add("later", priority=Priority.ASKED, after=timedelta(seconds=30))
    await work.add("now")
    assert await work.in_order() == ["now"]
    clock.advance(30)
    assert await work.in_order() == ["later"]


async def test_a_community_has_no_more_at_work_than_its_limit(work: Jobs, clock: FakeClock) -> None:
    """Then others are served, less urgent as they may be; a lost worker's place is free again."""
    for number in range(3):
        await work.add(f"raid {number}", "raided", Priority.ASKED)
    await work.add("calm", "calm")
    first = await work.taken(per_community=2)
    assert await work.in_order(per_community=2) == ["raid 1", "calm"]
    await work.finish(first)
    assert (await work.taken(per_community=2)).key == "raid 2"
    await work.add("raid 3", "raided")
    assert await work.take(per_community=2) is None
    clock.advance(LAPSED)
    assert (await work.taken(per_community=2, takes_over=False)).key == "raid 3"


async def test_many_workers_together_keep_to_the_limit(work: Jobs) -> None:
    """Each takes in a transaction of its own at the same moment, and none twice."""
    for number in range(8):
        await work.add(f"{number}")
    outcomes = await asyncio.gather(*(work.take(f"w{n}", per_community=3) for n in range(8)), return_exceptions=True)
    taken = [outcome for outcome in outcomes if isinstance(outcome, Job)]
    assert all(outcome is None or isinstance(outcome, Job | Conflict) for outcome in outcomes)
    assert len({job.id for job in taken}) == len(taken) <= 3
    while len(taken) < 3:  # who met another at the same moment takes again
        taken.append(await work.taken(per_community=3))
    assert await work.take(per_community=3) is None


async def test_many_workers_together_take_each_piece_once(work: Jobs) -> None:
    """Without a limit nobody meets anybody."""
    for number in range(6):
        await work.add(f"{number}", f"community {number % 2}")
    taken = await asyncio.gather(*(work.taken(f"w{number}") for number in range(6)))
    assert sorted(job.key for job in taken) == [f"{number}" for number in range(6)]
    assert await work.take() is None


async def test_a_case_that_somebody_asks_for_is_moved_up(work: Jobs) -> None:
    """Never down; also while somebody has it in hand, who keeps it, and not once it is done."""
    await work.add("first", priority=Priority.DETECTED)
    await work.add("second", priority=Priority.DETECTED)
    assert await work.hurry("second", Priority.ASKED)
    assert not await work.hurry("second", Priority.FLAGGED)
    assert (await work.taken()).key == "second"
    first = await work.taken()
    assert (first.key, first.priority) == ("first", Priority.DETECTED)
    assert await work.hurry("first", Priority.ASKED)
    assert await work.renew(first)
    await work.finish(first)
    assert not await work.hurry("first", Priority.ASKED)


async def test_what_people_wait_for_is_seen_whoever_has_it_in_hand(work: Jobs, clock: FakeClock) -> None:
    """A filter's finds are no people's, nor is what is put off, done, or in the hands of a worker that is gone."""
    await work.add("found", priority=Priority.DETECTED)
    await work.add("flagged", after=timedelta(seconds=30))
    assert await work.people() == PeoplesWork()
    clock.advance(30)
    assert await work.people() == PeoplesWork(is_waiting=True)
    await work.add("asked", "other", Priority.ASKED)
    in_hand = [(await work.taken("one")), (await work.taken("two"))]
    assert await work.people() == PeoplesWork(in_hand=frozenset(job.id for job in in_hand))
    found = await work.taken("three")
    assert await work.hurry("found", Priority.FLAGGED)
    assert found.id in (await work.people()).in_hand
    await work.finish(in_hand[0])
    assert (await work.people()).in_hand == {in_hand[1].id, found.id}
    clock.advance(LAPSED)
    assert await work.people() == PeoplesWork()


async def test_only_what_people_wait_for_is_taken_where_a_worker_asks_for_no_other(work: Jobs) -> None:
    """A worker that holds a find back for people takes no second one."""
    await work.add("found", priority=Priority.DETECTED)
    assert await work.take(least=Priority.FLAGGED) is None
    await work.add("flagged")
    await work.add("asked", priority=Priority.ASKED)
    assert await work.in_order(least=Priority.FLAGGED) == ["asked", "flagged"]
    assert await work.in_order() == ["found"]


async def test_finds_that_stand_still_do_not_keep_people_out_of_their_communitys_limit(work: Jobs) -> None:
    """Else a person would wait for a find that waits for the person."""
    await work.add("found", priority=Priority.DETECTED)
    assert (await work.taken(per_community=1)).key == "found"
    await work.add("asked", priority=Priority.ASKED)
    await work.add("flagged")
    assert await work.in_order(per_community=1) == ["asked"]
    await work.add("found too", "other", Priority.DETECTED)
    assert await work.in_order(per_community=1) == ["found too"]


# Who may keep what of it


async def test_an_attempt_counts_before_the_work(work: Jobs, clock: FakeClock) -> None:
    """A person who dies at it has tried it (invariant I6)."""
    await work.add("a")
    for attempt in (1, 2, 3):
        assert (await work.taken()).tries == attempt
        clock.advance(LAPSED)


async def test_a_lease_is_kept_by_renewing_it(work: Jobs, clock: FakeClock) -> None:
    """Nobody takes over from a worker that is heard of."""
    await work.add("a")
    job = await work.taken()
    for _ in range(3):
        clock.advance(LEASE.total_seconds() - 2)
        assert await work.renew(job)
        assert await work.take() is None
        assert await work.lost() == []


async def test_who_lost_the_lease_can_keep_nothing(work: Jobs, clock: FakeClock) -> None:
    """The attempt is the fence: of the same owner, too (invariant I5)."""
    await work.add("a")
    late = await work.taken()
    clock.advance(LAPSED)
    assert await work.lost() == [late]
    now = await work.taken()
    assert not await work.renew(late)
    with pytest.raises(Conflict):
        await work.finish(late)
    with pytest.raises(Conflict):
        await work.retry(late)
    await work.finish(now)


async def test_lost_work_can_be_left_to_who_asks_for_it(work: Jobs, clock: FakeClock) -> None:
    """``take`` then gives only what waits."""
    await work.add("a")
    late = await work.taken()
    clock.advance(LAPSED)
    assert await work.take(takes_over=False) is None
    assert await work.lost() == [late]


async def test_an_excused_attempt_does_not_count(work: Jobs) -> None:
    """It is a fence like any other; only the number of tries does not grow."""
    await work.add("a")
    stopped = await work.taken()
    await work.retry(stopped, is_excused=True)
    again = await work.taken()
    assert (again.attempts, again.tries) == (2, 1)
    assert not await work.renew(stopped)
    await work.retry(again)
    assert (await work.taken()).tries == 2


# What people see of it


async def test_waiting_work_says_how_many_come_before_it(work: Jobs) -> None:
    """The number is the one of pieces that are then taken first, over priorities and turns."""
    chance = random.Random(7)
    names = [f"case {number}" for number in range(30)]
    for name in names:
        await work.add(name, chance.choice("abcd"), chance.choice(list(Priority)))
    for _ in range(4):
        await work.take()
    said = {name: found.ahead for name in names if (found := await work.progress(name))}
    order = await work.in_order()
    assert len(order) == len(names) - 4
    assert {name: said[name] for name in order} == {name: place for place, name in enumerate(order)}


async def test_running_work_says_how_far_it_is(work: Jobs) -> None:
    """What its worker said last; nothing any more once it is over."""
    await work.add("a")
    job = await work.taken()
    assert await work.renew(job, "claims")
    assert await work.renew(job)
    found = await work.progress("a")
    assert found is not None
    assert (found.stage, found.ahead) == ("claims", 0)
    await work.finish(job)
    assert await work.progress("a") is None
    assert await work.progress("b") is None


async def test_work_that_failed_says_why(work: Jobs) -> None:
    """A moderator must not take a pause for a standstill."""
    await work.add("a")
    await work.retry(await work.taken(), 30, "The model is away.")
    found = await work.progress("a")
    assert found is not None
    assert (found.error, found.stage) == ("The model is away.", "")


async def test_the_wait_is_told_from_the_work_that_was_done(work: Jobs, clock: FakeClock) -> None:
    """Two at work, 40 seconds each: the third in the queue begins after two of them, and then takes its time."""
    for number in range(7):
        await work.add(f"{number}")
    for _ in range(2):
        job = await work.taken()
        clock.advance(40)
        await work.finish(job)
    unknown = await work.progress("6")
    assert unknown is not None
    assert unknown.expected_seconds is None, "nobody is at work"
    running = [await work.taken(), await work.taken()]
    waiting, at_work = await work.progress("6"), await work.progress(running[1].key)
    assert waiting is not None
    assert at_work is not None
    assert (waiting.ahead, waiting.expected_seconds) == (2, 40 * 3 / 2 + 40)
    assert at_work.expected_seconds == 40


async def test_the_wait_is_told_from_what_people_waited_for(work: Jobs, clock: FakeClock) -> None:
    """What a filter found stood still for people meanwhile, so that its time says nothing to them."""
    for name, priority, seconds in (("asked", 1, 20), ("found", 0, 500)):
        await work.add(name, priority=priority)
        job = await work.taken()
        clock.advance(seconds)
        await work.finish(job)
    await work.add("next")
    running = await work.taken()
    told = await work.progress(running.key)
    assert told is not None
    assert told.expected_seconds == 20


# What the next one costs


async def test_the_next_piece_costs_no_more_when_more_wait(tmp_path: Path, clock: FakeClock) -> None:
    """Counted in SQLite's own steps: a raid of thousands must not slow every worker down, nor the look for people."""
    opened = await Database.open(tmp_path / "steps.sqlite", secret=SECRET, clock=clock)

    async def add(session: Session, begin: int, end: int) -> None:
        for number in range(begin, end):
            await jobs.enqueue(session, f"{number}", KIND, community_id=f"{number % 5}", priority=number % 3)

    async def steps(session: Session) -> tuple[int, int]:
        driver: Any = (await (await session.connection()).get_raw_connection()).driver_connection
        counted: list[None] = []
        await driver.set_progress_handler(lambda: counted.append(None), 10)
        assert await jobs.take(session, [KIND], "worker", LEASE, per_community=1000) is not None
        taking = len(counted)
        assert (await jobs.peoples_work(session, KIND)).is_waiting
        await driver.set_progress_handler(None, 10)
        return taking, len(counted) - taking

    try:
        await opened.run("add", lambda session: add(session, 0, 60))
        few, look = await opened.run("take", steps)
        await opened.run("add", lambda session: add(session, 60, 1500))
        many, later_look = await opened.run("take", steps)
    finally:
        await opened.close()
    assert 0 < many <= 1.5 * few
    assert 0 < later_look <= 1.5 * look < few


async def test_a_look_for_twenty_kinds_of_work_takes_as_many_queries_as_for_one(
    database: Database, clock: FakeClock
) -> None:
    """Each process looks for its chores every few seconds, and nearly always there is none."""
    asked: list[str] = []

    async def look(session: Session, kinds: int) -> int:
        connection = (await session.connection()).sync_connection
        assert connection is not None

        def hear(*call: Any) -> None:
            asked.append(call[2])

        event.listen(connection, "before_cursor_execute", hear)
        before = len(asked)
        assert await jobs.take(session, [f"kind {number}" for number in range(kinds)], "worker", LEASE) is None
        event.remove(connection, "before_cursor_execute", hear)
        return len(asked) - before

    assert await database.run("look", lambda session: look(session, 20)) == 2
    assert await database.run("look", lambda session: look(session, 1)) == 2
