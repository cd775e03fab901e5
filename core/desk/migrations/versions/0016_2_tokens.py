"""The tokens of the dashboard's API: an addition, which the version before does not miss.

Revision ID: 0016.2
"""

from alembic import op

revision = "0016.2"
down_revision = "0016.1"

TABLE = """CREATE TABLE api_tokens (
    id TEXT NOT NULL,
    secret TEXT NOT NULL,
    account TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at {moment} NOT NULL,
    expires_at {moment} NOT NULL,
    used_at {moment},
    PRIMARY KEY (id),
    FOREIGN KEY(account) REFERENCES accounts (name)
)"""


def upgrade() -> None:
    """Make the table and its index."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    op.execute(TABLE.format(moment="TIMESTAMP WITH TIME ZONE" if is_postgresql else "DATETIME"))
    op.execute("CREATE INDEX api_tokens_by_account ON api_tokens (account)")
