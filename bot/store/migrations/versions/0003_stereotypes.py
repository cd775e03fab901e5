"""A community's own prepared reply names the stereotype that it answers, instead of a theme of the earlier bank.

The themes are gone, and none of their ids is a stereotype's. A reply that was for one theme answers any post about its
group from now on.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Put the new column in the place of the old one."""
    op.add_column("prepared_replies", sa.Column("stereotype", sa.Text(), nullable=True))
    with op.batch_alter_table("prepared_replies") as table:
        table.drop_column("theme")
