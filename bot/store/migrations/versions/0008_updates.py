"""Updates that a platform sent and that are not dealt with yet, and which one is asked for next.

Revision ID: 0008
"""

import sqlalchemy as sa
from alembic import op

from bot.store.migrations.kinds import stored
from bot.store.schema.base import UtcDateTime

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "updates",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("state", stored(["waiting", "done", "failed", "unknown"], "update_state"), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("is_urgent", sa.Boolean(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=True),
        sa.Column("received_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "account", "number"),
    )
    waiting = ["platform", "account", "state", "is_urgent", "received_at", "number"]
    op.create_index("updates_waiting", "updates", waiting, unique=False)
    op.create_index("updates_by_age", "updates", ["received_at"], unique=False)
    op.create_table(
        "offsets",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("stored_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "account"),
    )
