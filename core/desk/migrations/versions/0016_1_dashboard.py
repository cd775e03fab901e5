"""The accounts and sessions of the dashboard: additions, which the version before does not miss.

Revision ID: 0016.1
"""

from alembic import op

revision = "0016.1"
down_revision = "0016"

TABLES = (
    """CREATE TABLE accounts (
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    language TEXT NOT NULL,
    has_keys BOOLEAN NOT NULL,
    created_at {moment} NOT NULL,
    PRIMARY KEY (name)
)""",
    """CREATE TABLE account_people (
    account TEXT NOT NULL,
    platform TEXT NOT NULL,
    "user" TEXT NOT NULL,
    PRIMARY KEY (account, platform),
    FOREIGN KEY(account) REFERENCES accounts (name)
)""",
    """CREATE TABLE web_sessions (
    id TEXT NOT NULL,
    account TEXT NOT NULL,
    begun_at {moment} NOT NULL,
    seen_at {moment} NOT NULL,
    link_until {moment},
    said TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(account) REFERENCES accounts (name)
)""",
    "CREATE INDEX web_sessions_by_account ON web_sessions (account)",
    "CREATE INDEX web_sessions_by_time ON web_sessions (seen_at)",
)


def upgrade() -> None:
    """Make the three tables."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    moment = "TIMESTAMP WITH TIME ZONE" if is_postgresql else "DATETIME"
    for statement in TABLES:
        op.execute(statement.format(moment=moment))
