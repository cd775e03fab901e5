"""The filter's score of each find, what moderators said of it, and how much the filter looked at.

A community no longer sets a score but how often the filter may be wrong. What was set in scores of the earlier filter
means nothing to this one, so it is dropped; everything else that a community set is kept.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

from bot.store.schema.base import UtcDateTime

revision = "0002"
down_revision = "0001"

COMMUNITIES = sa.table("communities", sa.column("id", sa.Text()), sa.column("policy", sa.JSON()))


def upgrade() -> None:
    """Add the columns and the table, and take the old setting out."""
    op.add_column("cases", sa.Column("score", sa.Double(), nullable=True))
    op.add_column("cases", sa.Column("is_hateful", sa.Boolean(), nullable=True))
    op.add_column("cases", sa.Column("labelled_at", UtcDateTime(), nullable=True))
    op.create_index("cases_by_label", "cases", ["community_id", "labelled_at"], unique=False)
    op.create_table(
        "watch_days",
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("looked_at", sa.Integer(), nullable=False),
        sa.Column("first_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"]),
        sa.PrimaryKeyConstraint("community_id", "day"),
    )
    _drop_thresholds()


def _drop_thresholds() -> None:
    connection = op.get_bind()
    for identity, policy in connection.execute(sa.select(COMMUNITIES.c.id, COMMUNITIES.c.policy)).all():
        if "threshold" in policy:
            kept = {name: value for name, value in policy.items() if name != "threshold"}
            connection.execute(sa.update(COMMUNITIES).where(COMMUNITIES.c.id == identity).values(policy=kept))
