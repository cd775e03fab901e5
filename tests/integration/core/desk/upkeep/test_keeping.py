"""What keeps the database in order: the digest of its audit log, the pruning of old work, backups."""

import os
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.invariants.checks import check
from core.desk.invariants.facts import read_facts
from core.desk.schema import JobRow, JobState
from core.desk.store import jobs
from core.desk.store.erasure import delete_case
from core.desk.upkeep.backups import Backups
from core.desk.upkeep.digest import Digest
from core.desk.upkeep.retention import Cleanup
from core.models import FlaggedPost
from tests.fakes.desk.chores import DAY, NOW, closed, job, other
from tests.fakes.desk.decisions import execute, one_row
from tests.fakes.machine.clock import FakeClock

# Digest


async def test_the_digest_shows_that_a_chain_is_missing_or_changed(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """What happens later does not change it; what is taken away does (threat T21)."""
    first = await closed(desk, queue, post)
    done = await Digest(database).do(job("audit digest:one"))
    await closed(desk, queue, other(post, "104"))
    clock.advance(DAY)
    await Digest(database).do(job("audit digest:two"))
    assert "I11" not in await check(database, looks_at_schema=False)
    assert await one_row(database, "SELECT streams FROM digests ORDER BY last_line LIMIT 1") == (2,)
    assert "over the 2 chains of the audit log" in done.what
    for statement in _off(database):
        await execute(database, statement)
    await execute(database, f"DELETE FROM audit WHERE stream = '{first.id}'")
    (found,) = [one for one in (await check(database, looks_at_schema=False))["I11"] if one.where == "audit"]
    assert "audit digest:two" in str(found)


@pytest.mark.both_databases
async def test_the_log_of_a_deleted_case_is_still_checked_and_hardly_kept_in_memory(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The log grows for ever, the memory of an audit only with the cases that are there (invariant I11)."""
    gone, there = await closed(desk, queue, post), await closed(desk, queue, other(post, "104"))
    await database.run("delete", lambda session: delete_case(session, gone.id))
    facts = await database.run("read", lambda session: read_facts(session, looks_at_schema=False))
    assert {stream: [line.seq for line in facts.chains[stream]] for stream in (gone.id, there.id)} == {
        gone.id: [1, gone.version + 1],
        there.id: list(range(1, there.version + 1)),
    }
    assert await check(database, looks_at_schema=False) == {}
    for statement in _off(database):
        await execute(database, statement)
    await execute(database, f"UPDATE audit SET reason = 'other' WHERE stream = '{gone.id}' AND seq = 2")
    (found,) = (await check(database, looks_at_schema=False))["I11"]
    assert str(found) == f"{gone.id}: The line of version 2 was changed, or one before it."


def _off(database: Database) -> list[str]:
    """Take away what refuses changes of the audit log, as an intruder with the database's password would."""
    if database.is_postgresql:
        return ["ALTER TABLE audit DISABLE TRIGGER ALL"]
    return ["DROP TRIGGER audit_refuses_update", "DROP TRIGGER audit_refuses_delete"]


async def test_a_slot_has_one_digest(database: Database, desk: Desk, post: FlaggedPost) -> None:
    """The first one stands."""
    await Digest(database).do(job("audit digest:one"))
    kept = await one_row(database, "SELECT sha256 FROM digests")
    await desk.intake.flag(post)
    await Digest(database).do(job("audit digest:one"))
    assert await one_row(database, "SELECT sha256 FROM digests") == kept


# Pruning


@pytest.mark.both_databases
async def test_jobs_that_are_over_are_deleted_after_a_week(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """What waits or runs is never deleted."""
    await closed(desk, queue, post)
    await desk.intake.flag(other(post, "104"))
    await database.run("ask", lambda session: jobs.enqueue(session, "tidy:1", "tidy"))
    clock.advance(7 * DAY)
    assert (await Cleanup(database).do(NOW)).what == "0 jobs deleted"
    clock.advance(1)
    assert (await Cleanup(database).do(NOW)).what == "1 job deleted"

    async def states(session: Session) -> set[JobState]:
        return set(await session.scalars(select(JobRow.state)))

    assert await database.run("read states", states) == {JobState.READY}


# Backups


async def test_a_backup_is_made_and_old_ones_are_deleted(database: Database, tmp_path: Path, clock: FakeClock) -> None:
    """Who was erased is in no backup for longer than it is kept."""
    folder = tmp_path / "backups"

    async def make(into: Path) -> Path:
        made = into / f"{clock():%j}.db"
        made.write_text("a backup")
        os.utime(made, (clock().timestamp(),) * 2)
        return made

    backups = Backups(database, make, folder, kept_days=3)
    for _ in range(6):
        await backups.do(NOW)
        clock.advance(DAY)
    assert sorted(file.name for file in folder.iterdir()) == ["063.db", "064.db", "065.db", "066.db"]
    assert folder.stat().st_mode & 0o077 == 0
