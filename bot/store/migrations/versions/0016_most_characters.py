"""What a platform took in one reply when a post was flagged there, for processes that only draft.

Revision ID: 0016
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Of the cases so far nobody knows it."""
    op.add_column("cases", sa.Column("most_characters", sa.Integer(), server_default="0", nullable=False))
