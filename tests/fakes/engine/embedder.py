"""Sentence vectors without a model: texts that share words are near each other."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.engine.wording.text import content_stems, words

DIMENSION = 256


class FakeEmbedder:
    """An ``Embedder`` that hashes each word of meaning to a place; the same text always has the same vector."""

    name: str = "fake"

    def __init__(self, languages: Iterable[str] = ("en",)) -> None:
        self._languages = frozenset(languages)
        self.asked: list[str] = []

    @property
    def languages(self) -> frozenset[str]:
        return self._languages

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in content_stems(text) or words(text) or [text]:
                vectors[row, int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % DIMENSION] += 1
        lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= lengths
        return vectors
