"""A conversation is looked for in every channel, so the channel goes out of its index.

Revision ID: 0012
"""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the index again without the channel."""
    op.drop_index("cases_by_conversation", "cases")
    op.create_index("cases_by_conversation", "cases", ["community_id", "root"])
