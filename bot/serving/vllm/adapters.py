"""LoRA adapters: their names, by the hash of what is in them, and their rank.

Owns what is read of an adapter's folder. A name is never used for other weights, because vLLM can answer from blocks of
its prefix cache that another adapter of the same name left (vLLM issue 42125). Must never load a pickled file, which
can run code.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.errors import BadSettings

CONFIG: Final = "adapter_config.json"
WEIGHTS: Final = "adapter_model.safetensors"
_PICKLED: Final = "adapter_model.bin"
_RANKS: Final = (8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM takes for ``--max-lora-rank``."""
_HASH_CHARACTERS: Final = 16
_CHUNK_BYTES: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter in the form of PEFT: the name that a server knows it by, its folder, and its rank."""

    name: str
    folder: Path
    rank: int


def read_adapter(folder: Path) -> Adapter:
    """The adapter in a folder.

    Raises:
        BadSettings: there is none, its files cannot be read, or its rank is larger than vLLM takes.
    """
    config, weights = folder / CONFIG, folder / WEIGHTS
    if (folder / _PICKLED).exists() and not weights.exists():
        raise BadSettings(
            f"The adapter in {folder} is a pickled file ({_PICKLED}), which can run code.",
            remedy=f"Save it as {WEIGHTS}: PEFT's save_pretrained does so with safe_serialization=True.",
        )
    try:
        rank = json.loads(config.read_text("utf-8"))["r"]
        content = _hash([config, weights])
    except (OSError, UnicodeDecodeError) as err:
        raise BadSettings(
            f"There is no adapter in {folder}: {err}.", remedy=f"Name a folder that holds {CONFIG} and {WEIGHTS}."
        ) from err
    except (ValueError, KeyError, TypeError) as err:
        raise BadSettings(
            f"{config} is no description of a LoRA adapter: it lacks a rank, r.",
            remedy="Name a folder that PEFT's save_pretrained has written.",
        ) from err
    if not isinstance(rank, int) or not 1 <= rank <= _RANKS[-1]:
        raise BadSettings(
            f"The adapter in {folder} has the rank {rank}.", remedy=f"vLLM takes ranks from 1 to {_RANKS[-1]}."
        )
    readable = re.sub(r"[^a-z0-9.-]+", "-", folder.resolve().name.lower()).strip("-.") or "adapter"
    return Adapter(f"{readable}-{content[:_HASH_CHARACTERS]}", folder.resolve(), rank)


def rank_option(adapters: Iterable[Adapter]) -> int:
    """The smallest value of ``--max-lora-rank`` that all of them fit into."""
    largest = max(adapter.rank for adapter in adapters)
    return next(rank for rank in _RANKS if rank >= largest)


def _hash(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    return digest.hexdigest()
