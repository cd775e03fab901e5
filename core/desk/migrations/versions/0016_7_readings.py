"""One index over what was read of a post, in place of two.

Revision ID: 0016.7
"""

from alembic import op

revision = "0016.7"
down_revision = "0016.6"


def upgrade() -> None:
    """An older version finds with the new index all that it found with the two."""
    op.create_index(
        "suggestions_by_reading", "suggestions", ["case_id", "is_outdated", "created_at", "severity", "target_group"]
    )
    op.drop_index("suggestions_by_severity", "suggestions")
    op.drop_index("suggestions_by_group", "suggestions")
