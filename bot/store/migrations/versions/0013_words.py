"""A flagged post's words are kept by what they are and who wrote them: its poll, title, quotes, and so on.

Revision ID: 0013
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the column; the posts that are there are plain messages."""
    op.add_column("cases", sa.Column("words", sa.JSON(), nullable=False, server_default="{}"))
