"""The connection to the database: one code path over SQLite and PostgreSQL.

A commit is on the disk when it returns, and the vendors' errors become the project's. A transaction must never stay
open across a network call; the callers see to that. What SQLAlchemy writes differently for the two is here, too:
inserting new rows, spans of time, JSON.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import JSON, URL, ColumnElement, Float, cast, event, exc, extract, func, inspect, literal
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker
from sqlalchemy.orm import ORMExecuteState
from sqlalchemy.orm import Session as SyncSession

from core.desk.database import postgresql, sqlite
from core.desk.database.revisions import check_revision, may_use, newest, revision, upgrade
from core.desk.runtime.faults import reach
from core.desk.schema import Base
from core.errors import AntiphonError, BadInput, Conflict, NotAllowed, StoreUnavailable
from core.i18n.sentences import sentence


class Turns:
    """The turns of one process at one file.

    Args:
        patience_seconds: how long a transaction waits at the file for another program. A transaction that has already
            waited this long for its turn, behind one that was refused there, is refused too instead of waiting as long
            again.
    """

    def __init__(self, patience_seconds: float) -> None:
        self._patience_seconds = patience_seconds
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[Any] | None = None
        self._is_refused = False

    @property
    def is_mine(self) -> bool:
        """Whether the running task has its turn now; if it asked for another, it would wait for itself."""
        return self._holder is not None and self._holder is asyncio.current_task()

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for the transactions of this process that asked earlier, however long they take.

        Raises:
            sqlite3.OperationalError: another program held the file all the time.
        """
        began, has_waited = time.monotonic(), self._lock.locked()
        async with self._lock:
            if has_waited and self._is_refused and time.monotonic() - began >= self._patience_seconds:
                raise sqlite3.OperationalError("database is locked")
            self._holder, self._is_refused = asyncio.current_task(), False
            try:
                yield
            except OperationalError as err:
                self._is_refused = "locked" in str(err.orig)
                raise
            finally:
                self._holder = None


_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

# At DEBUG the drivers log every statement with its parameters, which hold post text.
for _driver in ("aiosqlite", "asyncpg"):
    logging.getLogger(_driver).setLevel(logging.INFO)

_REMEDIES: Final = {
    "database or disk is full": "Free space on the disk that holds the database; nothing of this change was kept.",
    "readonly database": "Let the user that runs Antiphon write the database file and its folder.",
    "locked": "Another program holds the database; close it, or try again in a moment.",
    "unable to open database file": "Check that the folder of the database exists and can be written.",
    "not a database": "The file is not a SQLite database; restore a backup, or give another path.",
    "malformed": "The database file is damaged; stop Antiphon and restore a backup.",
    "no such table": "The database was made by another version; run: antiphon db upgrade.",
    "disk i/o error": "The disk failed or went away; check it, then start Antiphon again.",
    "no connection was free": "Try again in a moment; if it goes on, run fewer tasks over one database.",
    "rejected ssl upgrade": "The PostgreSQL server does not encrypt: set ssl = on there, or write sslmode=disable.",
    "certificate verify failed": "Name the file with the server's authority as sslrootcert of the database's address.",
}
_ELSEWHERE: Final = "Check the database, the disk or the network between, then start Antiphon again."


class _SyncSession(SyncSession):
    """What SQLAlchemy works with behind a ``Session``."""


@event.listens_for(_SyncSession, "do_orm_execute")
def _fetch(state: ORMExecuteState) -> None:
    """Bring the rows that a session holds up to date with each change of the database, unless it says otherwise."""
    if (state.is_update or state.is_delete) and "synchronize_session" not in state.execution_options:
        state.update_execution_options(synchronize_session="fetch")


class Session(AsyncSession):
    """One transaction. ``moment`` is its time, by the database's clock if it has one; ``secret`` hashes ids."""

    sync_session_class = _SyncSession
    moment: datetime
    secret: bytes


Work = Callable[[Session], Awaitable[_T]]


def _translated(err: Exception) -> AntiphonError:
    """The project's error for a vendor's, without the values of any row, which may be post text.

    SQLite's own messages hold no values; those of PostgreSQL and its driver are removed from the chain of causes too.
    """
    cause = next((link for link in _chain(err) if isinstance(link, postgresql.ERRORS)), None)
    if cause is not None:
        error = postgresql.translated(cause)
        for link in _chain(err):
            link.args = (f"{type(cause).__name__}: {error.message}",)
            if isinstance(link, postgresql.ERRORS):
                vars(link).update(detail=None, hint=None)
        return error
    message = "no connection was free in time" if isinstance(err, exc.TimeoutError) else str(getattr(err, "orig", err))
    if isinstance(err, exc.IntegrityError):
        return NotAllowed(
            sentence("The database refused the change: {reason}.", reason=message),
            remedy=sentence("Nothing was changed; reload and try again."),
        )
    remedy = next((cure for sign, cure in _REMEDIES.items() if sign in message.lower()), _ELSEWHERE)
    return StoreUnavailable(
        sentence("The database does not answer: {reason}.", reason=message or type(err).__name__), remedy=remedy
    )


def _chain(err: BaseException) -> Iterator[BaseException]:
    """An error, and all errors that caused it."""
    waiting: list[BaseException | None] = [err]
    ids = set[int]()
    while waiting:
        link = waiting.pop()
        if link is not None and id(link) not in ids:
            ids.add(id(link))
            yield link
            waiting += [getattr(link, "orig", None), link.__cause__, link.__context__]


@contextmanager
def translating() -> Iterator[None]:
    """Raise one of the project's errors for any error of a driver."""
    try:
        yield
    except (exc.DBAPIError, exc.TimeoutError, sqlite3.Error, *postgresql.ERRORS, OSError) as err:
        raise _translated(err) from err


async def whole(work: Coroutine[Any, Any, _T]) -> _T:
    """Finish ``work`` even if the caller is cancelled, and only then pass the cancellation on.

    A cancellation inside a call of the driver would leave a connection open, and with it the lock on the whole
    database.
    """
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as err:
            cancelled = err
    if cancelled is None:
        return task.result()
    if not task.cancelled() and (failure := task.exception()) is not None:
        _LOG.warning("a transaction failed while its caller was cancelled: %s", type(failure).__name__)
    raise cancelled


class Database:
    """A database, opened. Made by ``Database.open``; give it back with ``close``."""

    def __init__(
        self, engine: AsyncEngine, secret: bytes, clock: Callable[[], datetime] | None, busy_seconds: float = 30.0
    ) -> None:
        self.engine = engine
        self.is_postgresql = engine.dialect.name == "postgresql"
        self._secret = secret
        self._clock = clock
        self._sessions = async_sessionmaker(engine, expire_on_commit=False, class_=Session)
        self._turns = Turns(busy_seconds)
        self._own_revision = newest()
        self._usable = self._own_revision
        """The last revision that was seen and can be used: while it stays the same, nothing is compared."""

    @classmethod
    async def open(
        cls,
        place: Path | URL,
        *,
        secret: bytes,
        clock: Callable[[], datetime] | None = None,
        busy_seconds: float = 30.0,
        lease_seconds: float | None = None,
        creates: bool = True,
    ) -> Database:
        """Connect, make the tables of an empty database, and check that commits will be durable.

        Args:
            place: a SQLite file, whose folder must exist, or the address of a PostgreSQL database.
            secret: the secret under which people's ids are hashed; kept apart from the database
                (``core.desk.database.secret``).
            clock: gives the time now, aware; by default PostgreSQL's own clock, and this machine's with SQLite.
            busy_seconds: how long a transaction waits for one of another program, and for a connection.
            lease_seconds: where this process works under leases, the shortest of them: PostgreSQL ends a transaction
                that takes longer, so that the locks of a process that froze or was cut off end with its leases.
            creates: whether a database that is missing or empty is made; its file is for its owner alone.

        Raises:
            BadInput: the database is missing or empty, and is not to be made.
            StoreUnavailable: the database cannot be opened, was made by another version, or cannot guarantee that a
                commit is durable.
        """
        if not creates:
            check_there(place)
        elif isinstance(place, Path):
            sqlite.keep_private(place)
        database = cls(connected(place, busy_seconds, lease_seconds), secret, clock, busy_seconds)
        try:
            await whole(database._prepare(place if not creates else None))
        except BaseException:
            await database.close()
            raise
        return database

    async def _prepare(self, expected_at: Path | URL | None) -> None:
        with translating():
            vendor = postgresql if self.is_postgresql else sqlite
            async with self.engine.begin() as connection:
                await vendor.check_durable(connection)
                current = await connection.run_sync(revision)
            if current is None and expected_at is not None:
                raise missing(expected_at)
            if current is None:
                await upgrade(self.engine)
            async with self.engine.begin() as connection:
                await connection.run_sync(check_revision)

    async def run(self, name: str, work: Work[_T]) -> _T:
        """Do ``work`` in one transaction: committed when it returns, rolled back completely on any error.

        A transaction is never cut short: a cancelled caller gets its ``CancelledError`` when it is over.

        Args:
            name: what is done, in a few words; it names the points of ``core.desk.runtime.faults`` around the commit.

        Transactions of this process over a SQLite file take turns, in the order of their calls.

        Raises:
            RuntimeError: ``work`` of another transaction calls this.
            StoreUnavailable: the database cannot be reached or written; nothing was kept, unless the connection broke
                in the very moment of the commit. Or a later version changed the tables meanwhile.
            Conflict: PostgreSQL rolled this transaction back, since it and another one waited for each other.
            NotAllowed: a constraint of the schema refused the change.
        """
        if self._turns.is_mine:
            raise RuntimeError(f"{name}: a transaction inside of another one would wait for itself")
        return await whole(self._transaction(name, work))

    async def _transaction(self, name: str, work: Work[_T]) -> _T:
        with translating():
            async with self._turn(), self._sessions.begin() as session:
                session.secret = self._secret
                session.moment = await self._begun(session)
                result = await work(session)
                await reach(f"{name}: before the commit")
        await reach(f"{name}: after the commit")
        return result

    def _turn(self) -> AbstractAsyncContextManager[None]:
        return nullcontext() if self.is_postgresql else self._turns.taken()

    async def _begun(self, session: Session) -> datetime:
        """The transaction's time, once it is certain that the tables are still those that this version can use."""
        moment, current = await (postgresql if self.is_postgresql else sqlite).time_and_revision(session)
        if current != self._usable:
            if not may_use(current, self._own_revision):
                raise StoreUnavailable(
                    sentence("The database was upgraded to revision {revision} meanwhile.", revision=current or "?"),
                    remedy=sentence("Start this process again with the version of Antiphon that upgraded it."),
                )
            self._usable = current or self._own_revision
        return moment if self._clock is None else self._clock()

    async def close(self) -> None:
        await whole(self.engine.dispose())


def missing(place: Path | URL) -> BadInput:
    """The error for a place where a database was expected, and is not; it names no password."""
    where = str(place) if isinstance(place, Path) else f"{place.host or 'localhost'}, in {place.database}"
    return BadInput(
        sentence("There is no database of Antiphon at {where}.", where=where),
        remedy=sentence(
            "Correct desk.database in config.toml, or name the right file with --config; a new one is made by: "
            "antiphon db upgrade."
        ),
    )


def check_there(place: Path | URL) -> None:
    """Raise ``missing`` for a file that is not there; an address is asked only when it is opened."""
    if isinstance(place, Path) and not place.exists():
        raise missing(place)


def check_no_folder(place: Path) -> None:
    """Raise ``BadInput`` for a folder in the place of a SQLite file."""
    if place.is_dir():
        raise BadInput(
            sentence("{where} is a folder, not a database.", where=str(place)),
            remedy=sentence(
                "Let desk.database in config.toml name a file in it, such as {example}.",
                example=str(place / "antiphon.db"),
            ),
        )


def connected(place: Path | URL, busy_seconds: float = 30.0, lease_seconds: float | None = None) -> AsyncEngine:
    """An engine over a SQLite file or a PostgreSQL address; nothing is connected yet.

    Raises:
        BadInput: the file is a folder.
    """
    if isinstance(place, Path):
        check_no_folder(place)
        return sqlite.engine(place, busy_seconds)
    return postgresql.engine(place, busy_seconds, lease_seconds=lease_seconds)


def _insert(session: Session, table: type[Base]) -> Any:
    """The vendor's own ``INSERT``, which knows ``ON CONFLICT``."""
    return (insert_postgresql if session.get_bind().dialect.name == "postgresql" else insert_sqlite)(table)


async def insert_new(session: Session, table: type[Base], values: dict[str, Any], *unique: str) -> bool:
    """Insert a row, unless one with the same ``unique`` columns is there; returns whether it was inserted.

    On PostgreSQL it waits for a transaction that is inserting the same row.
    """
    statement = _insert(session, table).values(**values).on_conflict_do_nothing(index_elements=list(unique))
    return (await session.execute(statement.returning(*inspect(table).primary_key))).first() is not None


async def insert_all_new(session: Session, table: type[Base], rows: Sequence[dict[str, Any]], *unique: str) -> None:
    """Insert those rows whose ``unique`` columns are not there yet; in one fixed order, against deadlocks."""
    if rows:
        insert = _insert(session, table)
        ordered = sorted(rows, key=lambda row: [str(row[name]) for name in unique])
        await session.execute(insert.on_conflict_do_nothing(index_elements=list(unique)), ordered)


async def insert_or_add(
    session: Session, table: type[Base], rows: Sequence[dict[str, Any]], counter: str, *unique: str
) -> None:
    """Insert rows; where one with the same ``unique`` columns is there, its ``counter`` grows instead."""
    if rows:
        insert = _insert(session, table)
        more = {counter: table.__table__.c[counter] + insert.excluded[counter]}
        await session.execute(insert.on_conflict_do_update(index_elements=list(unique), set_=more), rows)


async def insert_or_set(
    session: Session, table: type[Base], key: dict[str, Any], values: dict[str, Any], **only_new: Any
) -> None:
    """Insert a row; one with the same ``key`` gets these values instead, without those that are for a new row only."""
    insert = _insert(session, table).values(**key, **values, **only_new)
    await session.execute(insert.on_conflict_do_update(index_elements=list(key), set_=values))


def seconds_between(session: Session, start: ColumnElement[Any], end: ColumnElement[Any]) -> ColumnElement[float]:
    """How many seconds lie between two moments, to the millisecond."""
    if session.get_bind().dialect.name == "postgresql":
        return cast(extract("epoch", end - start), Float)
    days: ColumnElement[float] = func.julianday(end) - func.julianday(start)
    return days * 86400.0


def json_text(session: Session, document: ColumnElement[str], *path: ColumnElement[str] | str) -> ColumnElement[str]:
    """The text at a place in a JSON document that is kept as text, NULL where there is none; "" is no document.

    Args:
        path: names of fields; a column holds the number of an element, from 0, as text.
    """
    whole = func.nullif(document, "")
    if session.get_bind().dialect.name == "postgresql":
        return func.json_extract_path_text(cast(whole, JSON), *path)
    place: ColumnElement[str] = literal("$")
    for part in path:
        place = place + "[" + part + "]" if isinstance(part, ColumnElement) else place + f'."{part}"'
    return func.json_extract(whole, place)


def committed_row(row: _T | None) -> _T:
    """The row that kept ``insert_new`` from inserting; ``Conflict`` if it has disappeared meanwhile."""
    if row is None:
        raise Conflict(sentence("Somebody else changed the same row at this moment."), remedy=sentence("Try again."))
    return row
