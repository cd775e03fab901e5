"""A later version of Antiphon, which has one step more than this one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest

from bot.store.engine import migrate

REVISION: Final = "9000"

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


def become_later(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let this process know the steps of a later version, kept in ``folder``."""
    steps = folder / "steps"
    step = _STEP.format(newest=migrate.newest())
    shutil.copytree(migrate._MIGRATIONS, steps, ignore=shutil.ignore_patterns("__pycache__"))
    (steps / "versions" / f"{REVISION}_later.py").write_text(step, encoding="utf-8")
    monkeypatch.setattr(migrate, "_MIGRATIONS", steps)
