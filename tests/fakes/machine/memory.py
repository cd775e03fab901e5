"""Where files of tests need no disk: what a power cut does is not under test there, and a commit waits for nothing."""

import shutil
from pathlib import Path
from typing import Final

_ROOM_BYTES: Final = 4 * 2**30


def memory() -> Path | None:
    """A folder in memory with room for a server's files, if this machine has one."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() and shutil.disk_usage(shared).free > _ROOM_BYTES else None
