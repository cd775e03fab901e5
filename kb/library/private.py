"""Who may read a library: its owner alone, since it holds documents that people did not publish.

Owns the rights of its folder. Must never change those of what lies in it and is not the library's.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

_OTHERS: Final = stat.S_IRWXO
_OWN: Final = frozenset({"files", "index", "local"})
"""The folders of a library, beside its database."""


def make_private(folder: Path) -> None:
    """Make a folder and the parents that it lacks, for their owner alone. Raises ``OSError``."""
    for missing in [one for one in reversed(folder.parents) if not one.exists()]:
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def close_to_others(folder: Path, database: str) -> None:
    """Make the database in a folder, and take the rights of others from a library that an older Antiphon made.

    The folder itself is closed where nothing else lies in it. What another user owns is left, and so are rights that
    somebody gave to a group and to nobody else. Raises ``OSError``.
    """
    with suppress(FileExistsError):  # one that is there is not opened: to close it would end SQLite's locks on it
        os.close(os.open(folder / database, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o600))
    found = list(folder.iterdir())
    own = [one for one in found if one.name in _OWN or one.name.startswith(database)]
    has_strangers = any(one not in own and not one.name.startswith(".") for one in found)
    for place in own if has_strangers else [*own, folder]:
        about = place.lstat()
        if about.st_mode & _OTHERS and about.st_uid == os.getuid() and not stat.S_ISLNK(about.st_mode):
            place.chmod(stat.S_IMODE(about.st_mode) & stat.S_IRWXU)
