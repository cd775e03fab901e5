"""The first schema, as version 0.1.0 made it without keeping revisions.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

from bot.store.migrations.kinds import refuse_changes, stored
from bot.store.schema.base import UtcDateTime

revision = "0001"
down_revision = None
released_in = "0.1.0"

STATES = "captured queued drafting in_review approved sending posted declined no_reply expired withdrawn needs_person unknown failed".split()


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "cases",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("community", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("flagged_by", sa.Text(), nullable=False),
        sa.Column("flagged_how", sa.Text(), nullable=False),
        sa.Column("thread", sa.JSON(), nullable=False),
        sa.Column("state", stored(STATES, "case_state"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("platform", "community", "channel", "message", name="one_case_per_post"),
    )
    op.create_index("cases_by_state", "cases", ["state", "created_at"], unique=False)
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("from_state", stored(STATES, "audit_from_state"), nullable=True),
        sa.Column("to_state", stored(STATES, "audit_to_state"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["cases.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("case_id", "version", name="one_audit_line_per_version"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "claim_choices",
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["cases.id"],
        ),
        sa.PrimaryKeyConstraint("case_id", "version"),
    )
    op.create_table(
        "suggestions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["cases.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("suggestions_by_case", "suggestions", ["case_id", "created_at"], unique=False)
    op.create_table(
        "approvals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("suggestion_id", sa.Text(), nullable=True),
        sa.Column("draft_rank", sa.Integer(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("moderator", sa.Text(), nullable=False),
        sa.Column("approved_at", UtcDateTime(), nullable=False),
        sa.Column("edited", sa.Boolean(), nullable=False),
        sa.Column("target_sha256", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["cases.id"],
        ),
        sa.ForeignKeyConstraint(
            ["suggestion_id"],
            ["suggestions.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("approvals_by_case", "approvals", ["case_id"], unique=False)
    op.create_table(
        "outbox",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column(
            "state",
            stored(["queued", "sending", "posted", "unknown", "failed", "cancelled"], "outbox_state"),
            nullable=False,
        ),
        sa.Column("not_before", UtcDateTime(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("remote_message", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["approval_id"],
            ["approvals.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("approval_id"),
    )
    op.create_index("outbox_by_state", "outbox", ["state", "not_before"], unique=False)
    refuse_changes("audit")
