"""Which people were called to a case, or told of it, so that nobody is told twice; and who flagged what and is to be told.

Revision ID: 0007
"""

import sqlalchemy as sa
from alembic import op

from bot.store.schema.base import UtcDateTime

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "notices",
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("begun_at", UtcDateTime(), nullable=False),
        sa.Column("said_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["case_id"], ["cases.id"]),
        sa.PrimaryKeyConstraint("case_id", "kind", "about"),
    )
    op.create_table(
        "flaggers",
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("flagged_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["case_id"], ["cases.id"]),
        sa.PrimaryKeyConstraint("case_id", "person_id"),
    )
    op.create_table(
        "member_flags",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("community", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.Column("flagged_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "community", "channel", "message", "person_id"),
    )
    op.create_index("member_flags_by_person", "member_flags", ["person_id"], unique=False)
