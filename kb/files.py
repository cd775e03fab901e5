"""Checksums of stored files, and writing that survives a power cut.

Owns how a file is shown to be what was written. It does not know what the files hold.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_THREADS = 4  # hashing does not hold Python's lock, so large files are read side by side


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal digits. Raises ``OSError``."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksums(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The sha256 of each named file of a folder. Raises ``OSError`` if one is missing."""
    wanted = list(names)
    with ThreadPoolExecutor(_THREADS) as pool:
        return dict(zip(wanted, pool.map(lambda name: sha256_of(folder / name), wanted), strict=True))


def faults(folder: Path, wanted: Mapping[str, tuple[int, str]]) -> list[str]:
    """What is wrong with the files of a folder, given the bytes and the sha256 of each: one sentence a file."""

    def fault(name: str) -> str | None:
        size, checksum = wanted[name]
        try:
            found = (folder / name).stat().st_size
            if found != size:
                return f"{name} has {found:,} bytes instead of {size:,}."
            return None if sha256_of(folder / name) == checksum else f"The checksum of {name} differs."
        except OSError as err:
            return f"{name} cannot be read: {err.strerror}."

    with ThreadPoolExecutor(_THREADS) as pool:
        return [found for found in pool.map(fault, wanted) if found]


def write_durably(path: Path, data: bytes) -> None:
    """Write the bytes so that a reader, or the next start, sees the old file or the new one, never a part."""
    beside = path.with_name(f".{path.name}.writing")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Force a file's bytes, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
