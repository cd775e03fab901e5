"""What a person keeps out of their own queue, quiet pages, and the group of each post beside what was said of it.

Additions, which the version before does not miss: a case that it writes meanwhile is hidden from nobody.

Revision ID: 0016.5
"""

from alembic import op

revision = "0016.5"
down_revision = "0016.4"

_OF_POSTGRESQL = "json_extract_path_text(CAST(NULLIF(document, '') AS JSON), 'reading', 'target_group')"
_OF_SQLITE = "json_extract(NULLIF(document, ''), '$.reading.target_group')"


def upgrade() -> None:
    """Add the columns, the group as the documents say it, and an index from which it is read."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    op.execute("ALTER TABLE accounts ADD COLUMN is_quiet BOOLEAN NOT NULL DEFAULT FALSE")
    op.execute("ALTER TABLE accounts ADD COLUMN hides TEXT NOT NULL DEFAULT ''")
    op.execute("ALTER TABLE suggestions ADD COLUMN target_group TEXT")
    op.execute(f"UPDATE suggestions SET target_group = {_OF_POSTGRESQL if is_postgresql else _OF_SQLITE}")  # noqa: S608  # nosec B608 - our own words
    op.execute("CREATE INDEX suggestions_by_group ON suggestions (case_id, is_outdated, created_at, target_group)")
