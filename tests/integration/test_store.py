"""What the database promises whoever uses it: what is committed stays, what is refused leaves no trace."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import URL, exc, text

from bot.desk import Desk
from bot.store.cases import Case, transition
from bot.store.database import Database, Session, translating
from bot.store.documents import suggestion_from_json
from bot.store.schema import AuditRow, CaseRow
from core.errors import Conflict, NotAllowed, StoreUnavailable
from core.models import FlaggedPost
from core.review import TRANSITIONS, CaseState
from tests.fakes.chains import broken_chains
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import approve, execute, one_row
from tests.fakes.people import SECRET
from tests.fakes.postgres import execute as administer
from tests.fakes.postgres import new_database

CANARY = "canary-in-the-post"


async def _move(database: Database, case: Case, to: CaseState, actor: str = "test") -> Case:
    return await database.run(
        "move", lambda session: transition(session, case.id, case.version, to, actor=actor, reason="test")
    )


def _all_said(err: BaseException) -> str:
    """Every word of an error and of what it was made from."""
    said, links = "", [err]
    for link in links:
        said += repr(link) + str(link)
        links += [one for one in (link.__cause__, link.__context__, getattr(link, "orig", None)) if one is not None]
    return said


async def test_a_flag_is_on_the_disk_before_it_is_acknowledged(
    desk: Desk, post: FlaggedPost, place: Path | URL
) -> None:
    """No acknowledged capture is lost (invariant I3): another process sees it at once."""
    case = await desk.flag(post)
    other = await Database.open(place, secret=SECRET)
    found = await one_row(other, "SELECT id, state FROM cases")
    await other.close()
    assert found == (case.id, "queued")


@pytest.mark.parametrize("to", [CaseState.SENDING, CaseState.POSTED, CaseState.DRAFTING, CaseState.UNKNOWN])
async def test_an_undeclared_move_leaves_no_trace(
    desk: Desk, in_review: Case, database: Database, to: CaseState
) -> None:
    """The one function that moves a case obeys the graph, and a refused move writes no audit line."""
    before = await desk.history(in_review.id)
    with pytest.raises(NotAllowed):
        await _move(database, in_review, to)
    assert await desk.case(in_review.id) == in_review
    assert await desk.history(in_review.id) == before


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wishes=st.lists(st.sampled_from(CaseState), min_size=1, max_size=12))
def test_a_case_only_moves_along_the_graph(
    tmp_path_factory: pytest.TempPathFactory, post: FlaggedPost, wishes: list[CaseState]
) -> None:
    """Whatever is asked for, in whatever order: declared moves are made and chained, others change nothing (I11)."""

    async def walk() -> None:
        database = await Database.open(tmp_path_factory.mktemp("walk") / "antiphon.sqlite", secret=SECRET)
        case = await Desk(database).flag(post)
        for wish in wishes:
            if wish in TRANSITIONS[case.state]:
                moved = await _move(database, case, wish)
                assert (moved.state, moved.version) == (wish, case.version + 1)
                case = moved
            else:
                with pytest.raises(NotAllowed):
                    await _move(database, case, wish)
        lines = await Desk(database).history(case.id)
        assert [line.version for line in lines] == list(range(1, case.version + 1))
        assert await broken_chains(database) == []
        await database.close()

    asyncio.run(walk())


async def test_of_many_who_move_a_case_at_once_one_wins(
    desk: Desk, in_review: Case, database: Database, place: Path | URL
) -> None:
    """Two moderators never both decide (I10): the others are told who did; over two processes, too."""
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    wishes = [CaseState.DECLINED, CaseState.NO_REPLY, CaseState.WITHDRAWN, CaseState.APPROVED] * 3
    answers = await asyncio.gather(
        *(_move(one, in_review, to) for one, to in zip([database, other] * 6, wishes, strict=True)),
        return_exceptions=True,
    )
    await other.close()
    won = [answer for answer in answers if isinstance(answer, Case)]
    assert len(won) == 1
    assert {type(answer) for answer in answers if answer is not won[0]} == {Conflict}
    case = await desk.case(in_review.id)
    assert (case.state, case.version) == (won[0].state, in_review.version + 1)
    assert len(await desk.history(case.id)) == case.version
    assert await broken_chains(database) == []


@pytest.mark.parametrize("statement", ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit"])
async def test_the_audit_log_is_append_only(desk: Desk, in_review: Case, database: Database, statement: str) -> None:
    """Nobody can rewrite who decided what, not even this program."""
    before = await desk.history(in_review.id)
    with pytest.raises(NotAllowed, match="append-only"):
        await execute(database, statement)
    assert await desk.history(in_review.id) == before


async def test_a_line_of_an_undeclared_move_is_refused(in_review: Case, database: Database) -> None:
    """The database knows the graph, whoever writes (I11)."""

    async def work(session: Session) -> None:
        states = {"from_state": CaseState.POSTED, "to_state": CaseState.APPROVED}
        said = {"actor": "x", "reason": CANARY, "note_sha256": None, "previous": "", "sha256": ""}
        session.add(AuditRow(stream=in_review.id, seq=99, at=session.moment, **states, **said))

    with pytest.raises(NotAllowed, match="declared_move") as caught:
        await database.run("meddle", work)
    assert CANARY not in _all_said(caught.value)


@pytest.mark.parametrize("table", ["cases", "outbox"])
async def test_a_state_outside_the_graph_is_refused(
    desk: Desk, in_review: Case, database: Database, table: str
) -> None:
    """The database holds the states of core.review and no other, whoever writes them."""
    await approve(desk, in_review)
    with pytest.raises(NotAllowed, match=r"case_state|outbox_state"):
        await execute(database, f"UPDATE {table} SET state = 'sent'")


async def test_what_a_constraint_refuses_is_told_without_the_rows(database: Database, in_review: Case) -> None:
    """PostgreSQL quotes the row that it refuses; no message, log or cause of ours may."""

    async def work(session: Session) -> None:
        row = await session.get_one(CaseRow, in_review.id)
        values = {column.name: getattr(row, column.name) for column in CaseRow.__table__.columns}
        session.add(CaseRow(**values | {"id": CANARY, "text": CANARY}))

    with pytest.raises(NotAllowed) as caught:
        await database.run("meddle", work)
    assert "platform" in str(caught.value) or "one_case_per_post" in str(caught.value)
    assert CANARY not in _all_said(caught.value)
    assert f"{in_review.post.ref.message})" not in _all_said(caught.value)


async def test_a_commit_is_durable(database: Database) -> None:
    """A power cut must not lose a commit, above all not the intent to send."""
    if database.is_postgresql:
        assert await one_row(database, "SHOW fsync") == await one_row(database, "SHOW synchronous_commit") == ("on",)
        return
    for pragma, wanted in {"synchronous": 2, "journal_mode": "wal", "foreign_keys": 1, "secure_delete": 1}.items():
        assert await one_row(database, f"PRAGMA {pragma}") == (wanted,)


async def test_a_sqlite_file_that_cannot_be_durable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The promise is read back at start-up, not believed."""
    monkeypatch.setattr("bot.store.sqlite._REQUIRED_PRAGMAS", {"synchronous": "3"})
    with pytest.raises(StoreUnavailable, match="synchronous=2 where 3 is needed"):
        await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET)


@pytest.fixture
async def of_postgresql(postgresql: URL) -> AsyncIterator[URL]:
    """A PostgreSQL database of its own, with our tables."""
    async with new_database(postgresql) as address:
        yield address


async def test_a_postgresql_that_may_lose_commits_is_refused(of_postgresql: URL, postgresql: URL) -> None:
    """A setting that somebody made for speed shows at start-up."""
    await administer(postgresql, f"ALTER DATABASE {of_postgresql.database} SET synchronous_commit = off")
    with pytest.raises(StoreUnavailable, match="synchronous_commit=off") as caught:
        await Database.open(of_postgresql, secret=SECRET)
    assert "postgresql.conf" in caught.value.remedy


async def test_postgresql_tells_the_time(of_postgresql: URL) -> None:
    """All machines share one clock, whatever their own says."""
    database = await Database.open(of_postgresql, secret=SECRET)

    async def work(session: Session) -> tuple[datetime, datetime]:
        return session.moment, (await session.execute(text("SELECT clock_timestamp()"))).scalar_one()

    ours, theirs = await database.run("read the time", work)
    await database.close()
    assert timedelta() <= theirs - ours < timedelta(minutes=1)
    assert ours.tzinfo is not None


async def test_a_postgresql_that_closes_the_connection_is_said_so_and_used_again(
    of_postgresql: URL, postgresql: URL
) -> None:
    """After a restart of the server Antiphon goes on by itself."""
    database = await Database.open(of_postgresql, secret=SECRET)

    async def work(session: Session) -> None:
        await administer(
            postgresql,
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{of_postgresql.database}'",
        )
        await session.execute(text("SELECT 1"))

    with pytest.raises(StoreUnavailable) as caught:
        await database.run("be cut off", work)
    assert "by itself" in caught.value.remedy
    assert await one_row(database, "SELECT 1") == (1,)
    await database.close()


def test_a_connection_that_breaks_in_the_middle_of_an_answer_is_said_so() -> None:
    """The driver's protocol then fails in words of its own, without any SQLSTATE."""
    broken = asyncpg.InternalClientError("cannot switch to state 11; another operation (2) is in progress")
    with pytest.raises(StoreUnavailable, match="the connection broke") as caught, translating():
        raise exc.DBAPIError("SELECT 1", None, broken) from broken
    assert "by itself" in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "message", "remedy"),
    [
        ({"database": "no_such_database"}, "no database of this name", "Create it"),
        ({"query": {"host": "/nowhere"}}, "does not answer", "network"),
    ],
)
async def test_a_wrong_postgresql_address_is_said_so(
    of_postgresql: URL, change: dict[str, str], message: str, remedy: str
) -> None:
    """The first day's mistakes get their own remedies."""
    with pytest.raises(StoreUnavailable, match=message) as caught:
        await Database.open(of_postgresql.set(**change), secret=SECRET, busy_seconds=2)  # type: ignore[arg-type]
    assert remedy in caught.value.remedy


async def test_a_postgresql_standby_is_said_so(of_postgresql: URL, postgresql: URL) -> None:
    """A server that takes no changes is not the one to connect to."""
    database = await Database.open(of_postgresql, secret=SECRET)
    await administer(postgresql, f"ALTER DATABASE {of_postgresql.database} SET default_transaction_read_only = on")
    await database.close()
    with pytest.raises(StoreUnavailable, match="takes no changes") as caught:
        await execute(database, "DELETE FROM pauses")
    await database.close()
    assert "primary" in caught.value.remedy


async def test_rows_that_somebody_else_locks_are_said_so(of_postgresql: URL) -> None:
    """Nobody waits for ever for a lock."""
    database = await Database.open(of_postgresql, secret=SECRET, busy_seconds=1)

    async def hold(_: Session) -> None:
        await _.execute(text("LOCK TABLE pauses"))
        with pytest.raises(StoreUnavailable, match="rows are locked"):
            await execute(database, "DELETE FROM pauses")

    await database.run("hold", hold)
    await database.close()


async def test_of_two_transactions_that_wait_for_each_other_one_is_told_to_try_again(of_postgresql: URL) -> None:
    """PostgreSQL undoes one of them; that is no fault of the database."""
    database = await Database.open(of_postgresql, secret=SECRET)
    first = [asyncio.Event(), asyncio.Event()]

    async def lock(own: int) -> None:
        async def work(session: Session) -> None:
            await session.execute(text(f"SELECT pg_advisory_xact_lock({own})"))
            first[own].set()
            await first[1 - own].wait()
            await session.execute(text(f"SELECT pg_advisory_xact_lock({1 - own})"))

        await database.run("lock", work)

    answers = await asyncio.gather(lock(0), lock(1), return_exceptions=True)
    await database.close()
    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "NoneType"]


async def test_a_value_that_postgresql_cannot_keep_is_not_quoted(of_postgresql: URL) -> None:
    """The driver quotes what it refuses; we do not."""
    database = await Database.open(of_postgresql, secret=SECRET)
    for value in (f"{CANARY} \ud83d", f"{CANARY} \0"):

        async def work(session: Session, value: str = value) -> None:
            await session.execute(text("INSERT INTO pauses VALUES (:scope, 'x', now())"), {"scope": value})

        with pytest.raises(NotAllowed) as caught:
            await database.run("keep", work)
        assert CANARY not in _all_said(caught.value)
    await database.close()


@pytest.fixture
async def on_sqlite(tmp_path: Path) -> AsyncIterator[Database]:
    """A SQLite file that is given up on at once when it is held."""
    database = await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET, clock=FakeClock(), busy_seconds=0)
    yield database
    await database.close()


async def test_a_full_disk_is_said_so(on_sqlite: Database, post: FlaggedPost) -> None:
    """The operator reads what to do; nothing of the change is kept, and the desk works on when there is space."""
    desk = Desk(on_sqlite)
    await desk.flag(post)
    size = await one_row(on_sqlite, "PRAGMA page_count")
    await one_row(on_sqlite, f"PRAGMA max_page_count = {size[0]}")
    big = replace(post, ref=replace(post.ref, message="1"), text="x" * 100_000)
    with pytest.raises(StoreUnavailable, match="full") as caught:
        await desk.flag(big)
    assert "Free space" in caught.value.remedy
    assert "xxx" not in _all_said(caught.value)
    assert len(await desk.cases()) == 1
    await one_row(on_sqlite, "PRAGMA max_page_count = 100000")
    assert (await desk.flag(big)).state is CaseState.QUEUED


async def test_a_read_only_database_is_said_so(on_sqlite: Database, post: FlaggedPost) -> None:
    """A wrong owner of the file is a common mistake of the first day; it gets its own remedy."""
    await execute(on_sqlite, "PRAGMA query_only = ON")
    with pytest.raises(StoreUnavailable, match="readonly") as caught:
        await Desk(on_sqlite).flag(post)
    assert "write the database file" in caught.value.remedy


async def test_a_held_database_is_said_so(on_sqlite: Database, tmp_path: Path, post: FlaggedPost) -> None:
    """Another program that keeps the database locked is named as the cause."""
    holder = sqlite3.connect(tmp_path / "antiphon.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(StoreUnavailable, match="locked") as caught:
            await Desk(on_sqlite).flag(post)
        assert "Another program" in caught.value.remedy
    finally:
        holder.close()


async def test_a_missing_folder_and_a_wrong_file_are_said_so(tmp_path: Path) -> None:
    """A wrong path in the settings is refused at start-up, with what to do."""
    with pytest.raises(StoreUnavailable, match="unable to open") as caught:
        await Database.open(tmp_path / "missing" / "antiphon.sqlite", secret=SECRET)
    assert "folder" in caught.value.remedy
    (tmp_path / "notes.txt").write_text("This is not a database. " * 100)
    with pytest.raises(StoreUnavailable, match="not a database") as caught:
        await Database.open(tmp_path / "notes.txt", secret=SECRET)
    assert "restore a backup" in caught.value.remedy


async def test_a_cancelled_call_leaves_the_database_free(database: Database, post: FlaggedPost) -> None:
    """A page that is closed half-way must neither cut a transaction short nor keep the lock from everybody else."""
    desk = Desk(database)
    for turns in range(0, 40, 3):
        task = asyncio.create_task(desk.flag(replace(post, ref=replace(post.ref, message=f"{turns}"))))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        await desk.flag(replace(post, ref=replace(post.ref, message=f"after {turns}")))
    cases = await desk.cases()
    assert len([case for case in cases if case.post.ref.message.startswith("after")]) == 14
    assert {case.state for case in cases} == {CaseState.QUEUED}


async def test_a_transaction_is_never_cut_short(desk: Desk, in_review: Case, database: Database) -> None:
    """A cancelled approval is either made or not; the cancellation comes through when it is over, however often."""
    started, go_on = asyncio.Event(), asyncio.Event()

    async def work(session: Session) -> None:
        started.set()
        await go_on.wait()
        await session.execute(text("UPDATE cases SET author = 'somebody_else'"))

    task = asyncio.create_task(database.run("hold", work))
    await started.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await desk.case(in_review.id)).post.author == "somebody_else"


async def test_everything_survives_a_restart(
    desk: Desk, in_review: Case, database: Database, place: Path | URL
) -> None:
    """What was decided before a stop is there after it, times with their zone."""
    await approve(desk, in_review)
    history = await desk.history(in_review.id)
    await database.close()
    again = await Database.open(place, secret=SECRET)
    try:
        other = Desk(again)
        assert (await other.case(in_review.id)).state is CaseState.APPROVED
        assert await other.history(in_review.id) == history
        assert {entry.at.tzinfo for entry in history} == {UTC}
    finally:
        await again.close()


async def test_times_are_stored_as_utc(database: Database, clock: FakeClock, post: FlaggedPost) -> None:
    """A clock of another zone gives the same moment."""
    noon = datetime(2026, 3, 2, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    clock.now = noon
    case = await Desk(database).flag(post)
    stored = (await Desk(database).case(case.id)).created_at
    assert (stored, stored.utcoffset()) == (noon, timedelta())


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
    await desk.flag(replace(post, ref=replace(post.ref, message="1"), text=CANARY, author=CANARY))
    await approve(desk, in_review, reply=CANARY)
    assert CANARY not in caplog.text
