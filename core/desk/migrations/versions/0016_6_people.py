"""The platform of each person with a role, where it is not their community's.

An addition: the version before gives roles to people of the community's own platform alone, for whom it stays empty.

Revision ID: 0016.6
"""

from alembic import op

revision = "0016.6"
down_revision = "0016.5"


def upgrade() -> None:
    """Add the column."""
    op.execute("ALTER TABLE memberships ADD COLUMN platform TEXT NOT NULL DEFAULT ''")
