"""How grave each post is, beside what was said of it, so that a long queue is ordered without reading every document.

An addition, which the version before does not miss: what it writes meanwhile is listed after the rest.

Revision ID: 0016.3
"""

from alembic import op

revision = "0016.3"
down_revision = "0016.2"

_OF_POSTGRESQL = "CAST(json_extract_path_text(CAST(NULLIF(document, '') AS JSON), 'reading', 'severity') AS INTEGER)"
_OF_SQLITE = "json_extract(NULLIF(document, ''), '$.reading.severity')"


def upgrade() -> None:
    """Add the column with what the documents say, and an index that has all that the order needs."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    op.execute("ALTER TABLE suggestions ADD COLUMN severity INTEGER")
    op.execute(f"UPDATE suggestions SET severity = {_OF_POSTGRESQL if is_postgresql else _OF_SQLITE}")  # noqa: S608  # nosec B608 - our own words
    op.execute("CREATE INDEX suggestions_by_severity ON suggestions (case_id, is_outdated, created_at, severity)")
