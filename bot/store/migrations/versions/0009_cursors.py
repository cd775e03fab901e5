"""What an account asks a platform for next is a text: on the fediverse ids are no numbers everywhere.

Revision ID: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Keep the number as a text."""
    op.add_column("offsets", sa.Column("cursor", sa.Text(), nullable=False, server_default=""))
    op.execute("UPDATE offsets SET cursor = CAST(number AS TEXT)")
    with op.batch_alter_table("offsets") as table:
        table.drop_column("number")
        table.alter_column("cursor", existing_type=sa.Text(), existing_nullable=False, server_default=None)
