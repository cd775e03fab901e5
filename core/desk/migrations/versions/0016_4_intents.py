"""Prepared replies without a list of the intents that there are, so that a new one needs no step of the database.

The version before does not miss it: it writes the intents that it knows, as before.

Revision ID: 0016.4
"""

from alembic import op

revision = "0016.4"
down_revision = "0016.3"

# SQLite cannot drop a constraint: the table is made again. No other one refers to it.
_ANEW = """CREATE TABLE prepared_replies_anew (
    community_id TEXT NOT NULL,
    id TEXT NOT NULL,
    language TEXT,
    target_group VARCHAR(32),
    stereotype TEXT,
    intent VARCHAR(32),
    text TEXT,
    is_hidden BOOLEAN NOT NULL,
    reviewed_by TEXT,
    reviewer TEXT,
    reviewed_at DATETIME,
    PRIMARY KEY (community_id, id),
    FOREIGN KEY(community_id) REFERENCES communities (id),
    CONSTRAINT prepared_target_group CHECK (target_group IN ('women', 'people of colour', 'persons with disabilities', 'migrants', 'Muslims', 'Jews', 'LGBT persons', 'other'))
)"""
_COLUMNS = (
    "community_id, id, language, target_group, stereotype, intent, text, is_hidden, reviewed_by, reviewer, reviewed_at"
)


def upgrade() -> None:
    """Drop the list."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE prepared_replies DROP CONSTRAINT prepared_intent")
        return
    op.execute(_ANEW)
    op.execute(f"INSERT INTO prepared_replies_anew ({_COLUMNS}) SELECT {_COLUMNS} FROM prepared_replies")  # noqa: S608  # nosec B608 - our own words
    op.execute("DROP TABLE prepared_replies")
    op.execute("ALTER TABLE prepared_replies_anew RENAME TO prepared_replies")
