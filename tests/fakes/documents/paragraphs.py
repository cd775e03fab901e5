"""Paragraphs by number, a model that reads them in batches, and the bytes of the index that is made of them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.models import TargetGroup
from kb.shelf.index.library_index import ParagraphEntry
from tests.fakes.engine.embedder import FakeEmbedder

EXPIRED = date(2020, 1, 1)
_GROUPS = tuple(TargetGroup)
_VOCABULARY = [f"{one}{two}" for one in ("ka", "lo", "mi", "nu", "re", "sa", "to", "vu") for two in "bcdfgklmnprstvz"]
_PUBLISHERS = ("United Nations", "European Union", "Town library")


def text_of(row: int) -> str:
    """The paragraph of a row: its own word, and twenty of 120 that all share, the first ones most often."""
    chance = random.Random(row)
    words = [_VOCABULARY[int(len(_VOCABULARY) * chance.random() ** 2)] for _ in range(20)]
    return " ".join([f"own{row}x", *words])


def entry_of(row: int) -> ParagraphEntry:
    """The same entry for the same row, every time."""
    return ParagraphEntry(
        row=row,
        text=text_of(row),
        document=f"document {row // 10}",
        source=("un", "eurlex", "folder")[row % 3],
        publisher=_PUBLISHERS[row % 3],
        language="en",
        year=None if row % 7 == 0 else 2000 + row % 25,
        target_groups=frozenset({_GROUPS[row % 8]}) | ({_GROUPS[row // 8 % 8]} if row % 5 == 0 else frozenset()),
        expires=EXPIRED if row % 10 == 0 else None,
    )


def entries(rows: Iterable[int]) -> list[ParagraphEntry]:
    """The entries of rows."""
    return [entry_of(row) for row in rows]


def texts(rows: Sequence[int]) -> dict[int, str]:
    """What a library answers that holds every paragraph."""
    return {row: text_of(row) for row in rows}


class BatchEmbedder(FakeEmbedder):
    """As real models do, it gives a text another vector in other company: the last bits differ from batch to batch.

    Without ``noise`` they do not.
    """

    def __init__(self, name: str = "batch", noise: float = 1e-3) -> None:
        super().__init__()
        self.name, self._noise = name, noise

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of shape (len(texts), 256)."""
        company = hashlib.sha256(repr((self.name, *texts)).encode()).digest()
        vectors = super().encode(texts)
        vectors += np.random.default_rng(list(company)).normal(0, self._noise, vectors.shape).astype(np.float32)
        lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / lengths, dtype=np.float32)


def stored(folder: Path) -> dict[str, bytes]:
    """Every byte of the current version of an index, except the locks that tantivy leaves behind."""
    version = folder / "versions" / (folder / "current").read_text().strip()
    files = (path for path in version.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {path.relative_to(version).as_posix(): path.read_bytes() for path in files}
