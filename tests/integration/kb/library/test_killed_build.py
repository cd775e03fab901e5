"""A build that is killed again and again ends in the same library and the same index, byte for byte."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from kb.library.schema import FILE

KILLS = int(os.environ.get("ANTIPHON_KILLS", "6"))
"""How often to kill; 50 take some minutes."""


def run(folder: Path, lines: int | None) -> tuple[bool, int]:
    """A build, killed after it printed so many lines; whether it ended by itself, and how many lines it printed."""
    command = [sys.executable, "-m", "tests.fakes.documents.killed_build", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = 0
        for _ in process.stdout:
            seen += 1
            if lines is not None and seen >= lines:
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.read()
    return process.returncode == 0, seen


def index_of(folder: Path) -> dict[str, str]:
    """The hash of every file of the current version."""
    current = (folder / "index" / "current").read_text().strip()
    version = folder / "index" / "versions" / current
    assert version.is_dir()
    return {
        path.relative_to(version).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(version.rglob("*"))
        if path.is_file()
    } | {"current": current}


def library_of(folder: Path) -> list[str]:
    with sqlite3.connect(folder / FILE) as database:
        return list(database.iterdump())


def test_a_build_that_is_killed_ends_as_one_that_is_not(tmp_path: Path) -> None:
    """Protects from double, lost and half documents, wherever the power goes."""
    ended, steps = run(tmp_path / "whole", None)
    assert ended
    chance = random.Random(20260504)
    kills = builds = 0
    while kills < KILLS:
        ended, _ = run(tmp_path / f"killed-{builds}", chance.randrange(1, steps))
        kills += not ended
        builds += ended or kills % 5 == 0  # then another one begins; what is left of this one is done below
    for folder in sorted(tmp_path.glob("killed-*")):
        assert run(folder, None)[0]
        assert library_of(folder) == library_of(tmp_path / "whole")
        assert index_of(folder) == index_of(tmp_path / "whole")
