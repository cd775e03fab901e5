"""Finds the weights of the embedded language model on this machine, on the hub, or in packages.

Owns the order of the sources and the checks that every file passes before it is loaded: that it is a GGUF file,
that its hash is the expected one, and that there is memory for it. Must never load a model, and never leaves a file
that failed its check where it would be found again. Blocking: call it before the event loop starts, or in a thread.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from core.errors import ModelUnavailable
from core.llm.backends.weight_files import (
    PACKAGED,
    Progress,
    WeightParts,
    as_unavailable,
    has_hash,
    join_parts,
    require_disk,
)

logger = logging.getLogger(__name__)

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
        path = _configured(wanted.path)
    else:
        with as_unavailable(cache_folder):
            path = _found(wanted, cache_folder / "models", progress, parts)
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


def _configured(path: Path) -> Path:
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


def _found(wanted: WeightsWanted, folder: Path, progress: Progress | None, parts: WeightParts) -> Path:
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
    try:
        hub = importlib.import_module("huggingface_hub")
    except ImportError:
        logger.info("huggingface_hub is not installed; its cache is not searched.")
        return None
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
