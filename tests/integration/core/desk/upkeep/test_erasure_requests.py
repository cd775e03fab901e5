"""A request to erase somebody: who may make it, what is written down of it, and that it is done to the end (I15)."""

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.compose.desk import Desk, build_desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.runtime import faults
from core.desk.schema import JobRow, JobState
from core.desk.upkeep.chores import Chore, Chores
from core.desk.upkeep.erasure import ERASURE, ERASURES, Erasure, ErasureReport
from core.errors import NotAllowed, StoreUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.audit_log import lines_of
from tests.fakes.desk.canary import AUTHOR, CANARY, approved, canary_post, erase, move, quoting, reviewed
from tests.fakes.desk.decisions import drafted, execute
from tests.fakes.desk.people import ADMIN, COMMUNITY_ID, MANAGER, MODERATOR, PLATFORM, SECRET
from tests.fakes.desk.traces import everything, files_with
from tests.fakes.machine.clock import FakeClock


@pytest.fixture
def post(post: FlaggedPost) -> FlaggedPost:
    return canary_post(post)


async def test_a_database_in_use_is_scrubbed_later(tmp_path: Path, clock: FakeClock, post: FlaggedPost) -> None:
    """The erasure itself is committed; the runner rewrites the file as soon as it can."""
    path = tmp_path / "busy.sqlite"
    opened = await Database.open(path, secret=SECRET, clock=clock, busy_seconds=0.1)
    await build_desk(opened).intake.flag(post)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM cases").fetchone()
    with pytest.raises(StoreUnavailable):
        await Erasure(opened).erase(PLATFORM, AUTHOR)
    assert CANARY not in await everything(opened)
    assert files_with(tmp_path, CANARY)
    reader.close()
    clock.advance(301)
    await Chores(opened, [Chore(ERASURE, Erasure(opened).do, must_end=True)], "one").drain()
    assert files_with(tmp_path, CANARY) == []
    await opened.close()


async def test_a_reply_on_its_way_is_settled_first(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """The words of the post go at once; the approved text, which the outbox needs to read back, when it is over."""
    case = await approved(desk, queue, post)
    await move(database, case, CaseState.SENDING)
    await execute(database, "UPDATE outbox SET state = 'sending'")
    erased = await erase(database)
    assert (erased.cases, erased.waiting) == (0, 1)
    assert (await desk.queries.case(case.id)).post.text == ""
    left = {line.partition(":")[0] for line in (await everything(database)).splitlines() if CANARY in line}
    assert left == {"cases", "approvals"}  # where the post is, and our reply to it
    runner = Chores(database, [Chore(ERASURE, Erasure(database).do, must_end=True)], "one")
    for _ in range(5):
        clock.advance(301)
        assert len(await runner.drain()) == 1
    assert (await desk.queries.case(case.id)).state is CaseState.SENDING
    await move(database, case, CaseState.POSTED)
    await execute(database, "UPDATE outbox SET state = 'posted'")
    clock.advance(301)
    await runner.drain()
    assert CANARY not in await everything(database)
    clock.advance(301)
    assert await runner.drain() == []


@pytest.mark.both_databases
async def test_the_audit_log_says_that_somebody_was_erased_and_not_who(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Each erasure is a line of a stream of its own, by whoever asked for it."""
    await drafted(desk, queue, post)
    await Erasure(database).erase(PLATFORM, AUTHOR, by=ADMIN, community_id=COMMUNITY_ID)
    await erase(database, "mill_pond")
    lines = await lines_of(database, ERASURES)
    said = "a person was erased on request"
    assert [(row.seq, row.actor.startswith("p-"), row.reason) for row in lines] == [(1, True, said), (2, False, said)]


async def test_only_an_administrator_may_erase_somebody(database: Database, desk: Desk, post: FlaggedPost) -> None:
    """It cannot be undone; who is refused has changed nothing."""
    await desk.intake.flag(post)
    before = await everything(database)
    for person in (MANAGER, MODERATOR):
        with pytest.raises(NotAllowed):
            await Erasure(database).erase(PLATFORM, AUTHOR, by=person, community_id=COMMUNITY_ID)
    assert await everything(database) == before


async def test_who_is_flagged_again_for_the_same_post_can_be_erased_again(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The post may stand on the platform still; each time its case is another one, and nothing of it is left."""
    for _ in range(3):
        await drafted(desk, queue, post)
        assert (await erase(database)).cases == 1
        assert CANARY not in await everything(database)
    assert len({case.id for case in await desk.queries.cases()}) == 3


async def test_somebody_unknown_is_said_to_be_unknown(database: Database) -> None:
    """A slip in the id must not look like an erasure; and the same erasure twice does no harm."""
    assert await erase(database, "nobody") == ErasureReport(is_known=False)
    assert (await erase(database, MODERATOR.user)).is_known
    assert await erase(database, MODERATOR.user) == ErasureReport(is_known=False)


class Crash(Exception):
    """The process died here."""


async def _points(run: Callable[[], Awaitable[object]]) -> list[str]:
    """Every point that a run passes, in order."""
    passed = list[str]()

    async def note(point: str) -> None:
        passed.append(point)

    with faults.installed(note):
        await run()
    return passed


@pytest.mark.both_databases
async def test_an_erasure_that_was_cut_off_anywhere_is_finished(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock, tmp_path: Path
) -> None:
    """At each named point the process dies once: before the request is kept nothing has changed, after it all goes."""
    await reviewed(desk, queue, post)
    await drafted(desk, queue, quoting(post))
    points = await _points(lambda: erase(database))
    assert "shred a person's key: after the commit" in points
    runner = Chores(database, [Chore(ERASURE, Erasure(database).do, must_end=True)], "one")
    for number in range(len(points)):
        again = replace(post, ref=replace(post.ref, message=f"{CANARY}-{number + 10}"))
        await reviewed(desk, queue, again)
        other = quoting(post)
        await drafted(desk, queue, replace(other, ref=replace(other.ref, message=str(number + 500))))
        left = [number]

        async def die(_: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Crash

        with faults.installed(die), pytest.raises(Crash):
            await erase(database)
        if number == 0:
            assert CANARY in await everything(database)
            assert (await erase(database)).is_known
        clock.advance(301)
        await runner.drain()
        assert CANARY not in await everything(database), points[number]
        assert files_with(tmp_path, CANARY) == [], points[number]
        await execute(database, "DELETE FROM jobs")


@pytest.mark.both_databases
async def test_a_finished_erasure_is_not_begun_again(
    database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """The job that stands by is over when all is done."""
    await desk.intake.flag(post)
    await erase(database)

    async def states(session: Session) -> list[JobState]:
        return list(await session.scalars(select(JobRow.state).filter_by(kind=ERASURE)))

    assert await database.run("read jobs", states) == [JobState.DONE]
    clock.advance(3600)
    assert await Chores(database, [Chore(ERASURE, Erasure(database).do)], "one").drain() == []


async def test_an_administrator_erases_nobody_whom_another_community_knows(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Neither their cases nor their roles there; whoever runs Antiphon can."""
    other = replace(post, ref=replace(post.ref, community="elsewhere", message="77"))
    await drafted(desk, queue, post)
    await desk.intake.flag(other)
    before = await everything(database)
    with pytest.raises(NotAllowed, match="another community"):
        await Erasure(database).erase(PLATFORM, AUTHOR, by=ADMIN, community_id=COMMUNITY_ID)
    assert await everything(database) == before
    assert (await erase(database)).cases == 2
