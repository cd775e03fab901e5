"""Cases as workers see them: taken, lost, put off, given to a person, and never drafted behind a decision."""

import asyncio
import json
import logging
from dataclasses import replace

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import Backoff, DraftQueue, TakenCase
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.store import holds
from core.desk.store.cases import Case
from core.errors import Conflict, StoreUnavailable
from core.i18n.sentences import from_json
from core.models import FlaggedPost, PostRef, Priority
from tests.fakes.desk.decisions import execute, one_row, take
from tests.fakes.desk.people import COMMUNITY, MODERATOR, PLATFORM, VOLUNTEER
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock

pytestmark = pytest.mark.both_databases

LAPSED = 61.0  # seconds after which a lease is over


@pytest.fixture
def other(database: Database) -> DraftQueue:
    return DraftQueue(database, "worker-2")


async def flag(desk: Desk, message: str, community: str = COMMUNITY, priority: Priority = Priority.FLAGGED) -> Case:
    ref = PostRef(PLATFORM, community, "square", message)
    return await desk.intake.flag(
        FlaggedPost(ref, f"text {message}", "somebody", VOLUNTEER.user, "menu", priority=priority)
    )


async def lose(queue: DraftQueue, clock: FakeClock) -> None:
    """A worker takes the next case and is never heard of again; the others find out, and the pause is over."""
    await take(queue)
    clock.advance(LAPSED)
    await queue.put_back_lost()
    clock.advance(10_000)


async def reasons(desk: Desk, case: Case) -> list[str]:
    return [entry.reason for entry in await desk.queries.history(case.id)][2:]


async def state(desk: Desk, case: Case) -> CaseState:
    return (await desk.queries.case(case.id)).state


# Which case


async def test_a_volunteer_who_asks_comes_before_what_a_filter_found(
    desk: Desk, queue: DraftQueue, clock: FakeClock
) -> None:
    """A person who waits for an answer gets the next free worker."""
    expected = []
    for priority in Priority:
        expected.append((await flag(desk, priority.name, priority=priority)).id)
        clock.advance(1)
    assert [(await take(queue)).case.id for _ in Priority] == expected[::-1]
    assert await queue.take() is None


async def test_a_community_is_held_to_its_limit(database: Database, desk: Desk) -> None:
    """Over all workers; what is stored or put off makes room."""
    queues = [DraftQueue(database, f"worker-{number}", per_community=1) for number in range(2)]
    await flag(desk, "1")
    await flag(desk, "2")
    held = await take(queues[0])
    assert await queues[1].take() is None
    await queues[0].store(held, suggestion_for(held.case.post))
    assert (await take(queues[1])).case.id != held.case.id


async def test_a_case_that_cannot_be_read_holds_no_other_up(
    database: Database,
    desk: Desk,
    queue: DraftQueue,
    clock: FakeClock,
    post: FlaggedPost,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A damaged row is tried as often as any other, and then no more; nothing of it is in the log."""
    caplog.set_level(logging.DEBUG, "bot")
    damaged = await flag(desk, "damaged", priority=Priority.ASKED)
    await execute(database, f"UPDATE cases SET priority = 99 WHERE id = '{damaged.id}'")
    sound = await desk.intake.flag(post)
    assert (await take(queue)).case.id == sound.id
    for _ in range(3):
        clock.advance(10_000)
        await queue.take()
    query = f"SELECT state, error, attempts FROM jobs WHERE case_id = '{damaged.id}'"
    state, error, attempts = await one_row(database, query)
    assert (state, attempts) == ("dead", 3)
    assert from_json(json.loads(str(error))) == "The case cannot be read (ValueError)."
    assert damaged.post.text not in caplog.text


# Workers that are lost


async def test_a_lost_workers_case_waits_again_and_is_taken_by_another(
    desk: Desk, queue: DraftQueue, other: DraftQueue, case: Case, clock: FakeClock
) -> None:
    """The case says so, is in no worker's hands meanwhile, and the late draft is refused (invariant I5)."""
    late = await take(queue)
    assert await other.take() is None
    clock.advance(LAPSED)
    assert await other.take() is None, "first a pause"
    assert await state(desk, case) is CaseState.QUEUED
    clock.advance(10)
    now = await take(other)
    for write in (
        queue.store(late, suggestion_for(case.post)),
        queue.give_up(late, "no"),
        queue.fail(late, "no"),
        queue.release(late, "no"),
    ):
        with pytest.raises(Conflict):
            await write
    assert not await queue.keep(late)
    assert await other.keep(now)
    assert await reasons(desk, case) == [
        "drafting, attempt 1",
        "Its worker was lost. It is tried again later.",
        "drafting, attempt 2",
    ]


async def test_a_case_that_loses_three_workers_comes_to_a_person(
    desk: Desk, queue: DraftQueue, case: Case, clock: FakeClock
) -> None:
    """A poison case stops, and the reason says why (invariant I6)."""
    for _ in range(3):
        await lose(queue, clock)
    assert await state(desk, case) is CaseState.NEEDS_PERSON
    assert (await reasons(desk, case))[-1] == "Drafting was tried 3 times. The last time: Its worker was lost."
    assert await queue.take() is None


async def test_a_lost_case_that_somebody_holds_just_now_waits_for_the_next_look(
    desk: Desk, queue: DraftQueue, database: Database, case: Case, clock: FakeClock
) -> None:
    """It is told as put back when it was, not when it was found: whoever counts it may rely on it."""
    await take(queue)
    clock.advance(LAPSED)
    if database.is_postgresql:  # SQLite lets one transaction write at a time, so nothing is passed over there

        async def look(session: Session) -> int:
            await holds.lock(session, case.id)
            return await queue.put_back_lost()

        assert await database.run("hold a case", look) == 0
        assert await state(desk, case) is CaseState.DRAFTING
    assert await queue.put_back_lost() == 1
    assert await state(desk, case) is CaseState.QUEUED


# Attempts that fail


async def test_a_failed_attempt_is_tried_again_three_times_in_all(
    desk: Desk, queue: DraftQueue, case: Case, clock: FakeClock
) -> None:
    """Each time after a pause; then a person reads what was missing."""
    for _ in range(3):
        await queue.fail(await take(queue), "The model is away.")
        assert await queue.take() is None
        clock.advance(10_000)
    assert await state(desk, case) is CaseState.NEEDS_PERSON
    assert await reasons(desk, case) == [
        "drafting, attempt 1",
        "The model is away. It is tried again later.",
        "drafting, attempt 2",
        "The model is away. It is tried again later.",
        "drafting, attempt 3",
        "Drafting was tried 3 times. The last time: The model is away.",
    ]


async def test_where_one_attempt_is_all_the_reason_is_said_as_it_is(database: Database, desk: Desk, case: Case) -> None:
    """Somebody sits before the screen and waits: there is no later."""
    queue = DraftQueue(database, "worker", max_attempts=1)
    await queue.fail(await take(queue), "The model is away.", is_away=True)
    assert (await reasons(desk, case))[-1] == "The model is away."
    assert await state(desk, case) is CaseState.NEEDS_PERSON


async def test_a_model_that_is_away_costs_a_case_no_attempt(
    desk: Desk, queue: DraftQueue, case: Case, clock: FakeClock
) -> None:
    """However long it is away; the pauses grow to ten minutes, and are half of that at least."""
    for _ in range(6):
        await queue.fail(await take(queue), "The model is away.", is_away=True)
        clock.advance(600)
    await queue.fail(await take(queue), "The model is away.", is_away=True)
    clock.advance(299)
    assert await queue.take() is None
    clock.advance(301)
    taken = await take(queue)
    assert (taken.job.attempts, taken.job.tries) == (8, 1)
    assert (await reasons(desk, case))[-1] == "drafting, attempt 1"


async def test_a_stopped_worker_costs_a_case_no_attempt(desk: Desk, queue: DraftQueue, case: Case) -> None:
    """However often it is deployed; and no pause either."""
    for _ in range(2):
        await queue.release(await take(queue), "its worker was stopped")
    taken = await take(queue)
    assert (taken.job.attempts, taken.job.tries) == (3, 1)
    assert (await reasons(desk, case))[-1] == "drafting, attempt 1"


def test_the_pause_doubles_up_to_a_limit_and_differs_between_workers() -> None:
    """At least half of it is kept, the rest is drawn: repeatable by the seed."""
    backoff = Backoff("worker-1", first_seconds=10, most_seconds=60)
    pauses = [backoff.seconds(attempt) for attempt in range(1, 7)]
    for pause, most in zip(pauses, (10, 20, 40, 60, 60, 60), strict=True):
        assert most / 2 <= pause <= most
    again = Backoff("worker-1", first_seconds=10, most_seconds=60)
    assert [again.seconds(attempt) for attempt in range(1, 7)] == pauses
    assert Backoff("worker-2", 10, 60).seconds(1) != pauses[0]
    assert backoff.seconds(100_000) <= 60


# Decisions meanwhile


async def test_a_withdrawn_case_is_kept_by_nobody(desk: Desk, queue: DraftQueue, case: Case, clock: FakeClock) -> None:
    """The worker learns it at its next heartbeat; also of one that is lost nothing comes back."""
    taken = await take(queue)
    assert await queue.keep(taken)
    await desk.decisions.close(case.id, taken.case.version, MODERATOR, CloseReason.MISTAKE, "the author took it back")
    assert not await queue.keep(taken)
    with pytest.raises(Conflict):
        await queue.store(taken, suggestion_for(case.post))
    assert await desk.queries.suggestion(case.id) is None
    clock.advance(LAPSED)
    assert await queue.put_back_lost() == 0
    clock.advance(10_000)
    assert await queue.take() is None
    assert await state(desk, case) is CaseState.WITHDRAWN


async def test_decisions_and_workers_never_block_each_other(database: Database, desk: Desk) -> None:
    """Withdrawals beside takes, releases and drafts of the same cases: no call waits for ever, or fails."""
    cases = [await flag(desk, f"{number}") for number in range(6)]

    async def draft(queue: DraftQueue, number: int) -> None:
        while (taken := await queue.take()) is not None:
            try:
                if number:
                    await queue.store(taken, suggestion_for(taken.case.post))
                else:
                    await queue.release(taken, "its worker was stopped")
            except Conflict:
                continue
            if not number:
                return

    async def withdraw(case: Case) -> None:
        for _ in range(3):
            try:
                now = await desk.queries.case(case.id)
                await desk.decisions.close(
                    case.id, now.version, MODERATOR, CloseReason.MISTAKE, "the author took it back"
                )
            except Conflict:
                continue
            return

    queues = [DraftQueue(database, f"worker-{number}", per_community=4) for number in range(3)]
    await asyncio.gather(
        *(draft(queue, number) for number, queue in enumerate(queues)), *(withdraw(case) for case in cases[::2])
    )
    left = {(await desk.queries.case(case.id)).state for case in cases}
    assert left <= {CaseState.QUEUED, CaseState.IN_REVIEW, CaseState.WITHDRAWN}


async def test_a_case_in_hand_names_its_job_and_version(queue: DraftQueue, case: Case) -> None:
    """Both are fences: the same worker that takes the same case again is another one."""
    first = await take(queue)
    await queue.release(first, "its worker was stopped")
    second = await take(queue)
    stale = TakenCase(replace(second.case, version=first.case.version), second.job)
    with pytest.raises(Conflict):
        await queue.store(stale, suggestion_for(case.post))
    with pytest.raises(Conflict):
        await queue.store(TakenCase(second.case, first.job), suggestion_for(case.post))
    await queue.store(second, suggestion_for(case.post))


async def test_a_database_that_fails_is_not_held_against_the_case(
    desk: Desk, queue: DraftQueue, database: Database, post: FlaggedPost
) -> None:
    """It is the database that does not answer, and no damaged row: nothing was kept of the attempt."""
    case = await desk.intake.flag(post)
    await execute(database, "ALTER TABLE audit RENAME TO away")
    with pytest.raises(StoreUnavailable):
        await queue.take()
    await execute(database, "ALTER TABLE away RENAME TO audit")
    taken = await take(queue)
    assert (taken.case.id, taken.job.attempts) == (case.id, 1)
