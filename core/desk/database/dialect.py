"""What SQLAlchemy writes differently for SQLite and PostgreSQL: inserting new rows, spans of time, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from sqlalchemy import JSON, ColumnElement, Float, cast, extract, func, inspect, literal
from sqlalchemy.dialects import postgresql, sqlite

from core.desk.database.connection import Session
from core.desk.schema import Base
from core.errors import Conflict
from core.i18n.sentences import sentence

_T = TypeVar("_T")


async def insert_new(session: Session, table: type[Base], values: dict[str, Any], *unique: str) -> bool:
    """Insert a row, unless one with the same ``unique`` columns is there; returns whether it was inserted.

    On PostgreSQL it waits for a transaction that is inserting the same row.
    """
    is_postgresql = session.get_bind().dialect.name == "postgresql"
    insert = postgresql.insert(table) if is_postgresql else sqlite.insert(table)
    statement = insert.values(**values).on_conflict_do_nothing(index_elements=list(unique))
    return (await session.execute(statement.returning(*inspect(table).primary_key))).first() is not None


async def insert_all_new(session: Session, table: type[Base], rows: Sequence[dict[str, Any]], *unique: str) -> None:
    """Insert those rows whose ``unique`` columns are not there yet; in one fixed order, against deadlocks."""
    if rows:
        is_postgresql = session.get_bind().dialect.name == "postgresql"
        insert = postgresql.insert(table) if is_postgresql else sqlite.insert(table)
        ordered = sorted(rows, key=lambda row: [str(row[name]) for name in unique])
        await session.execute(insert.on_conflict_do_nothing(index_elements=list(unique)), ordered)


async def insert_or_add(
    session: Session, table: type[Base], rows: Sequence[dict[str, Any]], counter: str, *unique: str
) -> None:
    """Insert rows; where one with the same ``unique`` columns is there, its ``counter`` grows instead."""
    if rows:
        is_postgresql = session.get_bind().dialect.name == "postgresql"
        insert = postgresql.insert(table) if is_postgresql else sqlite.insert(table)
        more = {counter: table.__table__.c[counter] + insert.excluded[counter]}
        await session.execute(insert.on_conflict_do_update(index_elements=list(unique), set_=more), rows)


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
