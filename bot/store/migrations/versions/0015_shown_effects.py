"""What a person was shown beside a text, posts taken in anew, cases opened again, and names that outlive a role.

Revision ID: 0015
"""

import sqlalchemy as sa
from alembic import op

from bot.store.migrations.kinds import refuse_changes
from bot.store.schema.base import UtcDateTime

revision = "0015"
down_revision = "0014"

DECLARED = """(from_state IS NULL AND (to_state IS NULL OR to_state = 'captured'))
 OR (from_state = 'captured' AND to_state IN ('expired', 'folded', 'queued', 'withdrawn'))
 OR (from_state = 'queued' AND to_state IN ('drafting', 'expired', 'no_reply', 'withdrawn'))
 OR (from_state = 'drafting' AND to_state IN ('in_review', 'needs_person', 'no_reply', 'queued', 'withdrawn'))
 OR (from_state = 'in_review' AND to_state IN ('approved', 'declined', 'expired', 'needs_person', 'no_reply', 'queued', 'withdrawn'))
 OR (from_state = 'approved' AND to_state IN ('expired', 'in_review', 'needs_person', 'queued', 'sending', 'shadowed', 'withdrawn'))
 OR (from_state = 'sending' AND to_state IN ('approved', 'failed', 'posted', 'unknown'))
 OR (from_state = 'posted' AND to_state IN ('retracted'))
 OR (from_state = 'declined' AND to_state IN ('in_review', 'needs_person', 'queued'))
 OR (from_state = 'expired' AND to_state IN ('in_review', 'queued'))
 OR (from_state = 'shadowed' AND to_state IN ('in_review', 'queued'))
 OR (from_state = 'no_reply' AND to_state IN ('failed', 'in_review', 'needs_person', 'queued'))
 OR (from_state = 'withdrawn' AND to_state IN ('failed', 'folded', 'in_review', 'needs_person', 'queued'))
 OR (from_state = 'needs_person' AND to_state IN ('declined', 'expired', 'failed', 'in_review', 'no_reply', 'posted', 'queued', 'withdrawn'))
 OR (from_state = 'unknown' AND to_state IN ('failed', 'needs_person', 'posted', 'sending'))
 OR (from_state = 'failed' AND to_state IN ('expired', 'in_review', 'needs_person', 'no_reply', 'queued', 'withdrawn'))
 OR (from_state = 'folded' AND to_state IN ('declined', 'expired', 'no_reply', 'queued', 'withdrawn'))"""


def upgrade() -> None:
    """Keep with each proposal whether it would have been posted, and under which rules; none so far can be approved."""
    op.add_column("proposals", sa.Column("is_posting", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("proposals", sa.Column("rules_version", sa.Integer(), server_default="0", nullable=False))
    op.add_column("suggestions", sa.Column("is_outdated", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("cases", sa.Column("edited_at", UtcDateTime(), nullable=True))
    op.create_table(
        "known_names",
        sa.Column("community_id", sa.Text(), sa.ForeignKey("communities.id"), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "person_id"),
    )
    op.execute(
        "INSERT INTO known_names (community_id, person_id, name) "
        "SELECT community_id, person_id, max(name) FROM memberships WHERE name <> '' GROUP BY community_id, person_id"
    )
    with op.batch_alter_table("audit", table_kwargs={"sqlite_autoincrement": True}) as table:
        table.drop_constraint("declared_move", type_="check")
        table.create_check_constraint("declared_move", DECLARED)
    if op.get_bind().dialect.name == "sqlite":  # which makes the table again, without what refuses changes of it
        refuse_changes("audit")
