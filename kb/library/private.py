"""Who may read a library: its owner alone, since it holds documents that people did not publish.

Owns the rights of what is made there. Must never change those of what is there already.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder and the parents that it lacks, for their owner alone. Raises ``OSError``."""
    for missing in [one for one in reversed(folder.parents) if not one.exists()]:
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def touch_private(file: Path) -> None:
    """Make a file that is not there, for its owner alone. Raises ``OSError``."""
    with suppress(FileExistsError):  # one that is there is not opened: to close it would end SQLite's locks on it
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o600))
