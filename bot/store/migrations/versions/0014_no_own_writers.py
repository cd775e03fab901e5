"""No community has a writer of its own any more: the setting that named it leaves what communities set.

Revision ID: 0014
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

COMMUNITIES = sa.table("communities", sa.column("id", sa.Text()), sa.column("policy", sa.JSON()))


def upgrade() -> None:
    """Take the setting out, where it was set."""
    connection = op.get_bind()
    for identity, policy in connection.execute(sa.select(COMMUNITIES.c.id, COMMUNITIES.c.policy)).all():
        if "writer" in policy:
            kept = {name: value for name, value in policy.items() if name != "writer"}
            connection.execute(sa.update(COMMUNITIES).where(COMMUNITIES.c.id == identity).values(policy=kept))
