"""A later version of Antiphon, which has one step more than this one."""

import shutil
from pathlib import Path
from typing import Final

import pytest

from core.desk.database import revisions

REVISION: Final = "9000"

EXPANDED: Final = f"{revisions.newest().partition('.')[0]}.1000"
"""The revision of a version whose step only adds: this one may go on."""

# On SQLite the table is made again, while cases refer to it.
_STEP: Final = f'''
import sqlalchemy as sa
from alembic import op

revision = "{REVISION}"
down_revision = "{{newest}}"


def upgrade():
    with op.batch_alter_table("communities") as table:
        table.alter_column("name", existing_type=sa.Text(), type_=sa.Text(), existing_nullable=False)
    op.execute("UPDATE communities SET name = 'of a later version'")
'''

ADDING: Final = f'''
import sqlalchemy as sa
from alembic import op

revision = "{EXPANDED}"
down_revision = "{{newest}}"


def upgrade():
    op.create_table("of_a_later_version", sa.Column("id", sa.Text(), primary_key=True))
    with op.batch_alter_table("jobs") as table:
        table.add_column(sa.Column("hint", sa.Text(), nullable=True))
        table.add_column(sa.Column("weight", sa.Integer(), nullable=False, server_default="1"))
    op.create_index("jobs_by_weight", "jobs", ["weight"])
'''
"""A step that only adds; on SQLite, too, no table is made again."""


def become_later(monkeypatch: pytest.MonkeyPatch, folder: Path, *, revision: str = REVISION, step: str = _STEP) -> None:
    """Let this process know the steps of a later version, kept in ``folder``."""
    steps = folder / "steps"
    text = step.format(newest=revisions.newest())
    shutil.copytree(revisions._MIGRATIONS, steps, ignore=shutil.ignore_patterns("__pycache__"))
    (steps / "versions" / f"{revision}_later.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(revisions, "_MIGRATIONS", steps)
