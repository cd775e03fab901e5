"""A reply may stand below some words of the post: kept with what a person was shown, and with what they approved.

Revision ID: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the columns; what was shown and approved before has no quote."""
    for table in ("proposals", "approvals"):
        op.add_column(table, sa.Column("quote", sa.Text(), nullable=False, server_default=""))
