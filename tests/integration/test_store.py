"""What the database promises whoever uses it: what is committed stays, what is refused leaves no trace."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from bot.desk import Desk
from bot.store.cases import Case, transition
from bot.store.database import Database
from bot.store.documents import suggestion_from_json
from core.errors import NotAllowed, StoreUnavailable
from core.models import FlaggedPost
from core.review import CaseState, text_hash
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import approve, one_row


async def _execute(database: Database, statement: str) -> None:
    await database.run(lambda session: session.execute(text(statement)))


async def test_a_flag_is_on_the_disk_before_it_is_acknowledged(desk: Desk, post: FlaggedPost, tmp_path: Path) -> None:
    """No acknowledged capture is lost (invariant I3): another process sees it at once."""
    case = await desk.flag(post)
    other = sqlite3.connect(tmp_path / "antiphon.sqlite")
    found = other.execute("SELECT id, state FROM cases").fetchall()
    other.close()
    assert found == [(case.id, "queued")]


@pytest.mark.parametrize("to", [CaseState.SENDING, CaseState.POSTED, CaseState.DRAFTING, CaseState.UNKNOWN])
async def test_an_undeclared_move_leaves_no_trace(
    desk: Desk, in_review: Case, database: Database, clock: FakeClock, to: CaseState
) -> None:
    """The one function that moves a case obeys the graph, and a refused move writes no audit line."""
    before = await desk.history(in_review.id)
    with pytest.raises(NotAllowed):
        await database.run(
            lambda session: transition(session, in_review.id, in_review.version, to, actor="x", reason="x", at=clock())
        )
    assert await desk.case(in_review.id) == in_review
    assert await desk.history(in_review.id) == before


@pytest.mark.parametrize("statement", ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit"])
async def test_the_audit_log_is_append_only(desk: Desk, in_review: Case, database: Database, statement: str) -> None:
    """Nobody can rewrite who decided what, not even this program."""
    before = await desk.history(in_review.id)
    with pytest.raises(NotAllowed, match="append-only"):
        await _execute(database, statement)
    assert await desk.history(in_review.id) == before


@pytest.mark.parametrize("statement", ["UPDATE cases SET state = 'sent'", "UPDATE outbox SET state = 'sent'"])
async def test_a_state_outside_the_graph_is_refused(
    desk: Desk, in_review: Case, database: Database, statement: str
) -> None:
    """The database holds the states of core.review and no other, whoever writes them."""
    await approve(desk, in_review)
    with pytest.raises(NotAllowed, match="CHECK"):
        await _execute(database, statement)


async def test_a_commit_is_durable(database: Database) -> None:
    """A power cut must not lose a commit, above all not the intent to send."""
    assert await one_row(database, "PRAGMA synchronous") == (2,)
    assert await one_row(database, "PRAGMA journal_mode") == ("wal",)
    assert await one_row(database, "PRAGMA foreign_keys") == (1,)


async def test_a_database_that_cannot_be_durable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The promise is read back at start-up, not believed."""
    monkeypatch.setattr("bot.store.database._REQUIRED_PRAGMAS", {"synchronous": "3"})
    with pytest.raises(StoreUnavailable, match="synchronous=2 where 3 is needed"):
        await Database.open(tmp_path / "antiphon.sqlite")


async def test_a_full_disk_is_said_so(desk: Desk, post: FlaggedPost, database: Database) -> None:
    """The operator reads what to do; nothing of the change is kept, and the desk works on when there is space."""
    await desk.flag(post)
    size = await one_row(database, "PRAGMA page_count")
    await one_row(database, f"PRAGMA max_page_count = {size[0]}")
    big = replace(post, ref=replace(post.ref, message="1"), text="x" * 100_000)
    with pytest.raises(StoreUnavailable, match="full") as caught:
        await desk.flag(big)
    assert "Free space" in caught.value.remedy
    assert "xxx" not in str(caught.value) + str(caught.value.__cause__)
    assert len(await desk.cases()) == 1
    await one_row(database, "PRAGMA max_page_count = 100000")
    assert (await desk.flag(big)).state is CaseState.QUEUED


async def test_a_read_only_database_is_said_so(desk: Desk, post: FlaggedPost, database: Database) -> None:
    """A wrong owner of the file is a common mistake of the first day; it gets its own remedy."""
    await _execute(database, "PRAGMA query_only = ON")
    with pytest.raises(StoreUnavailable, match="readonly") as caught:
        await desk.flag(post)
    assert "write the database file" in caught.value.remedy


async def test_a_held_database_is_said_so(tmp_path: Path, post: FlaggedPost, clock: FakeClock) -> None:
    """Another program that keeps the database locked is named as the cause."""
    path = tmp_path / "antiphon.sqlite"
    database = await Database.open(path, busy_seconds=0)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(StoreUnavailable, match="locked") as caught:
            await Desk(database, clock).flag(post)
        assert "Another program" in caught.value.remedy
    finally:
        holder.close()
        await database.close()


async def test_a_missing_folder_and_a_wrong_file_are_said_so(tmp_path: Path) -> None:
    """A wrong path in the settings is refused at start-up, with what to do."""
    with pytest.raises(StoreUnavailable, match="unable to open") as caught:
        await Database.open(tmp_path / "missing" / "antiphon.sqlite")
    assert "folder" in caught.value.remedy
    (tmp_path / "notes.txt").write_text("This is not a database. " * 100)
    with pytest.raises(StoreUnavailable, match="not a database") as caught:
        await Database.open(tmp_path / "notes.txt")
    assert "restore a backup" in caught.value.remedy


async def test_a_cancelled_call_leaves_the_database_free(tmp_path: Path, post: FlaggedPost, clock: FakeClock) -> None:
    """A page that is closed half-way must neither cut a transaction short nor keep the lock from everybody else."""
    database = await Database.open(tmp_path / "cancelled.sqlite", busy_seconds=0)
    desk = Desk(database, clock)
    try:
        for turns in range(40):
            task = asyncio.create_task(desk.flag(replace(post, ref=replace(post.ref, message=f"{turns}"))))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            await desk.flag(replace(post, ref=replace(post.ref, message=f"after {turns}")))
        cases = await desk.cases()
        assert len([case for case in cases if case.post.ref.message.startswith("after")]) == 40
        assert {case.state for case in cases} == {CaseState.QUEUED}
    finally:
        await database.close()


async def test_a_transaction_is_never_cut_short(desk: Desk, in_review: Case, database: Database) -> None:
    """A cancelled approval is either made or not; the cancellation comes through when it is over, however often."""
    started, go_on = asyncio.Event(), asyncio.Event()

    async def work(session: AsyncSession) -> None:
        started.set()
        await go_on.wait()
        await session.execute(text("UPDATE cases SET author = 'somebody_else'"))

    task = asyncio.create_task(database.run(work))
    await started.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await desk.case(in_review.id)).post.author == "somebody_else"


async def test_everything_survives_a_restart(desk: Desk, in_review: Case, database: Database, tmp_path: Path) -> None:
    """What was decided before a stop is there after it, times with their zone."""
    await approve(desk, in_review)
    history = await desk.history(in_review.id)
    await database.close()
    again = await Database.open(tmp_path / "antiphon.sqlite")
    try:
        other = Desk(again, FakeClock())
        assert (await other.case(in_review.id)).state is CaseState.APPROVED
        assert await other.history(in_review.id) == history
        assert {entry.at.tzinfo for entry in history} == {UTC}
    finally:
        await again.close()


async def test_times_are_stored_as_utc(database: Database, post: FlaggedPost) -> None:
    """A clock of another zone gives the same moment; a naive one is refused."""
    noon = datetime(2026, 3, 2, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    case = await Desk(database, FakeClock(noon)).flag(post)
    assert case.created_at == noon
    assert await one_row(database, "SELECT created_at FROM cases") == ("2026-03-02 10:00:00.000000",)


async def test_a_document_of_another_version_is_said_so() -> None:
    """A stored suggestion that cannot be read is an error with a remedy, and does not quote the post."""
    with pytest.raises(StoreUnavailable) as caught:
        suggestion_from_json('{"post": {"text": "They do not belong here."}}')
    assert caught.value.remedy
    assert "belong" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_logs_hold_no_post_text(
    desk: Desk, post: FlaggedPost, caplog: pytest.LogCaptureFixture, in_review: Case
) -> None:
    """Not even at the most talkative level, and not the driver's log either."""
    caplog.set_level(logging.DEBUG)
    canary = "canary-7f3a"
    await desk.flag(replace(post, ref=replace(post.ref, message="1"), text=canary, author=canary))
    await desk.approve(in_review.id, in_review.version, canary, text_hash(canary), "moderator_one")
    assert canary not in caplog.text
