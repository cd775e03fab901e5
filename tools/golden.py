"""Databases of released versions, kept as SQL, from which every later version must be able to upgrade.

    python -m tools.golden DATABASE

writes ``tests/data/databases/REVISION.sql`` from a SQLite database that the version to be released made, with a case in
every state. Then set ``released_in`` in the revision's step.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

from alembic.script import ScriptDirectory

from bot.store.engine import migrate

FOLDER: Final = Path(__file__).parents[1] / "tests" / "data" / "databases"


def released() -> dict[str, str]:
    """The revisions that versions were released with, and the first version of each."""
    steps = ScriptDirectory.from_config(migrate.config()).walk_revisions()
    versions = {step.revision: getattr(step.module, "released_in", None) for step in steps}
    return {revision: version for revision, version in versions.items() if version}


def dump(database: Path, folder: Path = FOLDER) -> Path:
    """Write a database as SQL, named after its revision; a golden database is never replaced.

    Raises:
        FileExistsError: that revision has one.
    """
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]
        target = folder / f"{revision}.sql"
        with target.open("x", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in connection.iterdump())
    return target


def main() -> None:
    """Dump one database."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path)
    sys.stdout.write(f"{dump(parser.parse_args().database)}\n")


if __name__ == "__main__":
    main()
