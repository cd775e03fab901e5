"""More moves: a decision that closed a case can be undone, and a case that waits for drafts can be closed.

Only the list of declared moves in the audit log changes; its lines are kept as they are.

Revision ID: 0006
"""

from alembic import op

from bot.store.migrations.kinds import refuse_changes

revision = "0006"
down_revision = "0005"

DECLARED = """(from_state IS NULL AND (to_state IS NULL OR to_state = 'captured'))
 OR (from_state = 'captured' AND to_state IN ('expired', 'folded', 'queued', 'withdrawn'))
 OR (from_state = 'queued' AND to_state IN ('drafting', 'expired', 'no_reply', 'withdrawn'))
 OR (from_state = 'drafting' AND to_state IN ('in_review', 'needs_person', 'no_reply', 'queued', 'withdrawn'))
 OR (from_state = 'in_review' AND to_state IN ('approved', 'declined', 'expired', 'needs_person', 'no_reply', 'queued', 'withdrawn'))
 OR (from_state = 'approved' AND to_state IN ('expired', 'in_review', 'needs_person', 'sending', 'shadowed', 'withdrawn'))
 OR (from_state = 'sending' AND to_state IN ('approved', 'failed', 'posted', 'unknown'))
 OR (from_state = 'posted' AND to_state IN ('retracted'))
 OR (from_state = 'declined' AND to_state IN ('in_review', 'needs_person'))
 OR (from_state = 'no_reply' AND to_state IN ('failed', 'in_review', 'needs_person', 'queued'))
 OR (from_state = 'withdrawn' AND to_state IN ('failed', 'folded', 'in_review', 'needs_person', 'queued'))
 OR (from_state = 'needs_person' AND to_state IN ('declined', 'expired', 'failed', 'in_review', 'no_reply', 'posted', 'queued', 'withdrawn'))
 OR (from_state = 'unknown' AND to_state IN ('failed', 'needs_person', 'posted', 'sending'))
 OR (from_state = 'failed' AND to_state IN ('expired', 'in_review', 'needs_person', 'no_reply', 'withdrawn'))
 OR (from_state = 'folded' AND to_state IN ('declined', 'expired', 'no_reply', 'queued', 'withdrawn'))"""


def upgrade() -> None:
    """Put the new list in the place of the old one."""
    with op.batch_alter_table("audit", table_kwargs={"sqlite_autoincrement": True}) as table:
        table.drop_constraint("declared_move", type_="check")
        table.create_check_constraint("declared_move", DECLARED)
    if op.get_bind().dialect.name == "sqlite":  # which makes the table again, without what refuses changes of it
        refuse_changes("audit")
