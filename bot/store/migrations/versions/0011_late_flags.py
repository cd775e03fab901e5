"""That a flag came late is a fact of its own, no longer the end of how the post was flagged.

Revision ID: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the column, and read it out of what was written until now."""
    op.add_column("cases", sa.Column("is_late", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute(
        "UPDATE cases SET is_late = true, flagged_how = replace(flagged_how, ', late', '') "
        "WHERE flagged_how LIKE '%, late'"
    )
