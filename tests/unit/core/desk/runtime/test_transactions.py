"""One place commits, and each transaction has a name: so each can be broken by a test at a point that is its own.

That the points are passed is shown in ``tests/integration/core/desk/runtime/test_fault_points.py``.
"""

import ast
import re
from collections import Counter
from pathlib import Path

DESK = Path(__file__).parents[5] / "core" / "desk"
COMMITTERS = {
    "database/connection.py",  # every transaction about a case
    "database/revisions.py",  # an upgrade, whole or not at all: tests/integration/core/desk/store/test_migrations.py
    "upkeep/backups.py",  # copies, and reads what it copied
    "upkeep/scrub.py",  # VACUUM: rewrites the file, changes no row
    "database/sqlite.py",  # folds the log into the file
}


def test_only_the_database_commits() -> None:
    """Every transaction about a case goes through ``Database.run``."""
    found = {
        file.relative_to(DESK).as_posix()
        for file in DESK.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("commit", "begin", "connect")
    }
    assert found == COMMITTERS


def test_every_transaction_has_a_name_of_its_own() -> None:
    """A crash is named after it; two that share a name could not be told apart."""
    source = "".join(file.read_text() for file in DESK.rglob("*.py"))
    names = Counter(re.findall(r"database\.run\(\s*\"([^\"]+)\"", source))
    assert len(names) > 60
    assert [name for name, count in names.items() if count > 1] == []
