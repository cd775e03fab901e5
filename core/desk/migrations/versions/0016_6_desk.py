"""All tables of the first version, as ``desk.sql`` has them, and an audit log that only grows.

Revision ID: 0016.6
"""

from pathlib import Path

from alembic import op

revision = "0016.6"
down_revision = None

DESK = Path(__file__).parents[1] / "desk.sql"
SQLITE = {
    "moment": "DATETIME",
    "bytes": "BLOB",
    "share": "DOUBLE",
    "serial": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT",
}
POSTGRESQL = {
    "moment": "TIMESTAMP WITH TIME ZONE",
    "bytes": "BYTEA",
    "share": "DOUBLE PRECISION",
    "serial": "SERIAL NOT NULL PRIMARY KEY",
}


def upgrade() -> None:
    """Make the tables, and make the database refuse to change or delete a line of the audit log."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    text = DESK.read_text(encoding="utf-8").format_map(POSTGRESQL if is_postgresql else SQLITE)
    for statement in text.partition("\n")[2].split(";\n"):
        if statement.strip():
            op.execute(statement.strip())
    if is_postgresql:
        op.execute(
            "CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$"
        )
        op.execute(
            "CREATE TRIGGER audit_refuses_changes BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
            "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()"
        )
        return
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_refuses_{verb.lower()} BEFORE {verb} ON audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
        )
