"""Argument cards that a community wrote, each with who proposed it and what a second person said of it.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

from bot.store.migrations.kinds import stored
from bot.store.schema.base import UtcDateTime

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "own_cards",
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("proposed_by", sa.Text(), nullable=True),
        sa.Column("proposer", sa.Text(), nullable=True),
        sa.Column("proposed_at", UtcDateTime(), nullable=False),
        sa.Column("verdict", stored(["accepted", "declined"], "card_verdict"), nullable=True),
        sa.Column("reviewed_by", sa.Text(), nullable=True),
        sa.Column("reviewer", sa.Text(), nullable=True),
        sa.Column("reviewed_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"]),
        sa.PrimaryKeyConstraint("community_id", "id"),
    )
