"""The first tables: communities and roles, cases, jobs under leases, campaigns, approvals, the chained audit log.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

from bot.store.migrations.kinds import refuse_changes, stored
from bot.store.schema.base import UtcDateTime

revision = "0001"
down_revision = None

STATES = "captured queued drafting in_review approved sending posted declined no_reply expired withdrawn needs_person unknown failed folded shadowed retracted".split()
CHANGES = "shadow posting stopped resumed rules setting deleted".split()
GROUPS = (
    "women", "people of colour", "persons with disabilities", "migrants", "Muslims", "Jews", "LGBT persons", "other",
)  # fmt: skip
INTENTS = "informative empathetic questioning denouncing positive".split()
DECLARED = """(from_state IS NULL AND (to_state IS NULL OR to_state = 'captured'))
 OR (from_state = 'captured' AND to_state IN ('expired', 'folded', 'queued', 'withdrawn'))
 OR (from_state = 'queued' AND to_state IN ('drafting', 'expired', 'withdrawn'))
 OR (from_state = 'drafting' AND to_state IN ('in_review', 'needs_person', 'queued', 'withdrawn'))
 OR (from_state = 'in_review' AND to_state IN ('approved', 'declined', 'expired', 'needs_person', 'no_reply', 'queued', 'withdrawn'))
 OR (from_state = 'approved' AND to_state IN ('expired', 'in_review', 'needs_person', 'sending', 'shadowed', 'withdrawn'))
 OR (from_state = 'sending' AND to_state IN ('approved', 'failed', 'posted', 'unknown'))
 OR (from_state = 'posted' AND to_state IN ('retracted'))
 OR (from_state = 'needs_person' AND to_state IN ('declined', 'expired', 'failed', 'in_review', 'no_reply', 'posted', 'queued', 'withdrawn'))
 OR (from_state = 'unknown' AND to_state IN ('failed', 'needs_person', 'posted', 'sending'))
 OR (from_state = 'failed' AND to_state IN ('expired', 'in_review', 'needs_person', 'withdrawn'))
 OR (from_state = 'folded' AND to_state IN ('declined', 'expired', 'no_reply', 'queued', 'withdrawn'))"""


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("from_state", stored(STATES, "audit_from_state"), nullable=True),
        sa.Column("to_state", stored(STATES, "audit_to_state"), nullable=True),
        sa.Column("change", stored(CHANGES, "audit_change"), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("note_sha256", sa.Text(), nullable=True),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.CheckConstraint(DECLARED, name="declared_move"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("stream", "seq", name="one_audit_line_per_version"),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_by_time", "audit", ["at"], unique=False)
    op.create_table(
        "communities",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("rules_version", sa.Integer(), nullable=False),
        sa.Column("is_posting", sa.Boolean(), nullable=False),
        sa.Column("discloses", sa.Boolean(), nullable=False),
        sa.Column("policy", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "prepared_replies",
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("target_group", stored(GROUPS, "prepared_target_group"), nullable=True),
        sa.Column("theme", sa.Text(), nullable=True),
        sa.Column("intent", stored(INTENTS, "prepared_intent"), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("is_hidden", sa.Boolean(), nullable=False),
        sa.Column("reviewed_by", sa.Text(), nullable=True),
        sa.Column("reviewer", sa.Text(), nullable=True),
        sa.Column("reviewed_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"]),
        sa.PrimaryKeyConstraint("community_id", "id"),
    )
    op.create_table(
        "digests",
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("streams", sa.Integer(), nullable=False),
        sa.Column("last_line", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("slot"),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Text(), nullable=True),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("state", stored(["ready", "running", "done", "dead", "cancelled"], "job_state"), nullable=False),
        sa.Column("run_at", UtcDateTime(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("excused", sa.Integer(), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("lease_until", UtcDateTime(), nullable=True),
        sa.Column("progress", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("jobs_by_case", "jobs", ["case_id"], unique=False)
    op.create_index("jobs_by_end", "jobs", ["state", "kind", "updated_at"], unique=False)
    op.create_index("jobs_due", "jobs", ["state", "kind", "priority", "community_id", "run_at", "id"], unique=False)
    op.create_table(
        "leaderships",
        sa.Column("office", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("until", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("office"),
    )
    op.create_table(
        "notes",
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("stream", "seq"),
    )
    op.create_table(
        "pauses",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("paused_by", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope"),
    )
    op.create_table(
        "persons",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("lookup", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("lookup"),
    )
    op.create_table(
        "platforms",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("state", stored(["connecting", "connected", "waiting", "refused"], "platform_state"), nullable=False),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("message", sa.JSON(), nullable=False),
        sa.Column("remedy", sa.JSON(), nullable=False),
        sa.Column("again_at", UtcDateTime(), nullable=True),
        sa.Column("until", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "owner"),
    )
    op.create_table(
        "turns",
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("served_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("community_id"),
    )
    op.create_table(
        "cases",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("community", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("target_sha256", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("is_from_elsewhere", sa.Boolean(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("flagged_by", sa.Text(), nullable=False),
        sa.Column("flagged_how", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("thread", sa.JSON(), nullable=False),
        sa.Column("wish", sa.JSON(), nullable=False),
        sa.Column("original", stored(["unchanged", "edited", "deleted"], "original"), nullable=False),
        sa.Column("state", stored(STATES, "case_state"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Text(), nullable=True),
        sa.Column("held_by", sa.Text(), nullable=True),
        sa.Column("held_until", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("erased_at", UtcDateTime(), nullable=True),
        sa.Column("unshown", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"],
            ["communities.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("platform", "community", "channel", "message", name="one_case_per_post"),
    )
    op.create_index("cases_by_author", "cases", ["author"], unique=False)
    op.create_index("cases_by_campaign", "cases", ["campaign_id"], unique=False)
    op.create_index("cases_by_community", "cases", ["community_id", "state", "updated_at"], unique=False)
    op.create_index("cases_by_flagger", "cases", ["flagged_by", "created_at"], unique=False)
    op.create_index("cases_by_conversation", "cases", ["community_id", "channel", "root"], unique=False)
    op.create_index("cases_by_state", "cases", ["state", "updated_at"], unique=False)
    op.create_index("cases_unshown", "cases", ["community_id", "unshown"], unique=False)
    op.create_index("cases_held", "cases", ["held_until"], unique=False)
    op.create_table(
        "memberships",
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.Column("role", stored(["volunteer", "moderator", "manager", "auditor", "admin"], "role"), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("is_native", sa.Boolean(), nullable=False),
        sa.Column("granted_by", sa.Text(), nullable=False),
        sa.Column("granted_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"],
            ["communities.id"],
        ),
        sa.PrimaryKeyConstraint("community_id", "person_id", "role", "is_native"),
    )
    op.create_index("memberships_by_person", "memberships", ["person_id"], unique=False)
    op.create_table(
        "campaigns",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("lead_case_id", sa.Text(), nullable=False),
        sa.Column("posts", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"],
            ["communities.id"],
        ),
        sa.ForeignKeyConstraint(
            ["lead_case_id"],
            ["cases.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("campaigns_by_lead", "campaigns", ["lead_case_id"], unique=False)
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
        "first_approvals",
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("moderator", sa.Text(), nullable=False),
        sa.Column("policy_version", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["cases.id"],
        ),
        sa.PrimaryKeyConstraint("case_id", "version", "sha256", "moderator"),
    )
    op.create_table(
        "outcomes",
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("after_hours", sa.Integer(), nullable=False),
        sa.Column("reply_stands", sa.Boolean(), nullable=True),
        sa.Column("original_stands", sa.Boolean(), nullable=True),
        sa.Column("author_flagged_again", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["cases.id"],
        ),
        sa.PrimaryKeyConstraint("case_id", "after_hours"),
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
        "previews",
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["case_id"], ["cases.id"]),
        sa.PrimaryKeyConstraint("case_id"),
    )
    op.create_table(
        "proposals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("suggestion_id", sa.Text(), nullable=True),
        sa.Column("draft_rank", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["case_id"], ["cases.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("proposals_by_case", "proposals", ["case_id"], unique=False)
    op.create_table(
        "review_cards",
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("shown_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["case_id"], ["cases.id"]),
        sa.PrimaryKeyConstraint("case_id"),
    )
    op.create_table(
        "board_troubles",
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("message", sa.JSON(), nullable=False),
        sa.Column("remedy", sa.JSON(), nullable=False),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"]),
        sa.PrimaryKeyConstraint("community_id", "channel"),
    )
    op.create_table(
        "approvals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("suggestion_id", sa.Text(), nullable=True),
        sa.Column("draft_rank", sa.Integer(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("footer", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("moderator", sa.Text(), nullable=False),
        sa.Column("seconded_by", sa.Text(), nullable=True),
        sa.Column("approved_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("policy_version", sa.Integer(), nullable=False),
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
        "campaign_bands",
        sa.Column("community_id", sa.Text(), nullable=False),
        sa.Column("band", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.Text(), nullable=False),
        sa.Column("begun_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["campaigns.id"],
        ),
        sa.ForeignKeyConstraint(
            ["community_id"],
            ["communities.id"],
        ),
        sa.PrimaryKeyConstraint("community_id", "band", "campaign_id"),
    )
    op.create_index("bands_by_campaign", "campaign_bands", ["campaign_id"], unique=False)
    op.create_index("bands_by_time", "campaign_bands", ["begun_at"], unique=False)
    op.create_table(
        "outbox",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column(
            "state",
            stored(
                ["queued", "sending", "posted", "unknown", "failed", "cancelled", "shadowed", "retracted"],
                "outbox_state",
            ),
            nullable=False,
        ),
        sa.Column("not_before", UtcDateTime(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("first_sent_at", UtcDateTime(), nullable=True),
        sa.Column("lease_until", UtcDateTime(), nullable=True),
        sa.Column("remote_message", sa.Text(), nullable=True),
        sa.Column("posted_at", UtcDateTime(), nullable=True),
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
    op.create_index("outbox_by_time", "outbox", ["state", "first_sent_at"], unique=False)
    op.create_index("outbox_by_message", "outbox", ["remote_message"], unique=False)
    refuse_changes("audit")
