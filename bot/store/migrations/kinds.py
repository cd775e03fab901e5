"""What the steps share: columns with listed values, and tables that only grow."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op


def stored(values: Sequence[str], name: str) -> sa.Enum:
    """A text column with a CHECK constraint that lists ``values``."""
    return sa.Enum(*values, name=name, native_enum=False, create_constraint=True, length=32)


def refuse_changes(table: str) -> None:
    """Make the database refuse to change or delete a row of ``table``."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"CREATE OR REPLACE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION 'the {table} log is append-only'; END $$"
        )
        op.execute(
            f"CREATE TRIGGER {table}_refuses_changes BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_is_append_only()"
        )
        return
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER {table}_refuses_{verb.lower()} BEFORE {verb} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, 'the {table} log is append-only'); END"
        )
