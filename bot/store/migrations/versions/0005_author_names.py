"""A case keeps the name by which the community knew the author, as long as it keeps the post's words.

An author's newest cases in a community are found without reading the others.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column and widen the index; the names of earlier cases are not known."""
    op.add_column("cases", sa.Column("author_name", sa.Text(), nullable=False, server_default=""))
    op.drop_index("cases_by_author", "cases")
    op.create_index("cases_by_author", "cases", ["author", "community_id", "created_at"], unique=False)
