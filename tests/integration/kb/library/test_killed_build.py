"""A build that is killed again and again ends in the same library and the same index, and serves what it had before."""

import os
import random
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from kb.library.library import Library
from kb.library.store import FILE
from kb.shelf.local import LocalShelf
from tests.fakes.documents.killed_build import EXACT_UP_TO
from tests.fakes.engine.embedder import FakeEmbedder

KILLS = int(os.environ.get("ANTIPHON_KILLS", "6"))
"""How often to kill; 50 take some minutes."""
QUERY = "paragraph 3 of report 17"


def run(preloaded: Sequence[str], folder: Path, lines: int | None) -> tuple[bool, list[str]]:
    """A build, killed after it printed so many lines; whether it ended by itself, and what it printed."""
    command = [*preloaded, "-m", "tests.fakes.documents.killed_build", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = list[str]()
        for line in process.stdout:
            seen.append(line.strip())
            if lines is not None and len(seen) >= lines:
                process.kill()  # what it stands for is killed with it
                break
        process.stdout.read()  # to the end, which comes once the build itself has ended
    return process.returncode == 0, seen


def library_of(folder: Path) -> list[str]:
    """All that the library holds, without how SQLite arranges the index of the words."""
    with closing(sqlite3.connect(folder / FILE)) as database:
        dumped = [line for line in database.iterdump() if '"words_' not in line and '"shelf"' not in line]
    return [line for line in dumped if not line.startswith(("BEGIN", "COMMIT"))]


def answers(folder: Path) -> tuple[object, ...]:
    """What is found by words and by vectors, and what is damaged."""
    library = Library(folder)
    shelf = LocalShelf(library, FakeEmbedder(), exact_up_to=EXACT_UP_TO)
    vector = FakeEmbedder().encode([QUERY])[0]
    found = sorted(shelf.bm25(QUERY, 500)), sorted(row for row, _ in shelf.dense(vector, 500)), shelf.faults()
    library.close()
    return found


def test_a_build_that_is_killed_ends_as_one_that_is_not(preloaded: Sequence[str], tmp_path: Path) -> None:
    """Protects from double, lost and half documents, wherever the power goes: in the words, vectors or their file."""
    ended, steps = run(preloaded, tmp_path / "whole", None)
    assert ended
    wanted = answers(tmp_path / "whole")
    assert wanted[2] == []
    places = [
        next(at for at, line in enumerate(steps, 1) if line == said)
        for said in ("_index begins", "_embed begins", "_write begins", "write_index is done", "_write is done")
    ]
    chance = random.Random(20260504)
    places += [chance.randrange(1, len(steps)) for _ in range(KILLS)]
    for number, place in enumerate(places):
        folder = tmp_path / f"killed-{number // 3}"
        run(preloaded, folder, place)
        if number % 3 == 2 or number == len(places) - 1:
            assert run(preloaded, folder, None)[0]
            assert library_of(folder) == library_of(tmp_path / "whole")
            assert answers(folder) == wanted
            assert len(list(folder.glob(f"{FILE}-neighbours-*"))) == 1


def lose_vectors(folder: Path) -> None:
    """Take every other vector away, so that a build makes them and their file again."""
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        database.execute("DELETE FROM vectors WHERE row % 2 = 0")
        database.execute("UPDATE neighbours SET vectors = 1")


def test_a_killed_build_leaves_the_old_one_served(preloaded: Sequence[str], tmp_path: Path) -> None:
    """Protects searches: what was found before a build is found wherever the build is killed."""
    assert run(preloaded, tmp_path, None)[0]
    before = answers(tmp_path)
    lose_vectors(tmp_path)
    left = answers(tmp_path)[1]
    steps = run(preloaded, tmp_path, None)[1]
    for said in ("_embed begins", "_write begins", "write_index is done", "_write is done"):
        lose_vectors(tmp_path)
        assert not run(preloaded, tmp_path, 1 + steps.index(said))[0]
        words, vectors, faults = answers(tmp_path)
        assert (words, faults) == (before[0], [])
        assert set(left) <= set(vectors) <= set(before[1])  # type: ignore[call-overload]
