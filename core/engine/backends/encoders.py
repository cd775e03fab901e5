"""Small encoders that classify one text or a pair of texts on one processor core: a ``TextClassifier``.

An encoder is all-MiniLM-L6-v2 (Apache-2.0) whose layers and word vectors learnt further, or multilingual-e5-small
(MIT), of whose eight layers the upper four did. The file holds the difference between these weights and those of the
model, which are shared, in four bits: the differences are so small that no more bits are needed. The layers over the
model have eight bits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import erf, sqrt
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends import e5, minilm
from core.engine.backends.blocks import SCALES, floats_of, unpacked
from core.engine.backends.minilm import Form, Layers, count_of_words, shared_words

ABOUT: Final = "about"
WORD_VECTORS: Final = "encoder.embeddings.word_embeddings.weight"
ROWS: Final = "rows"
ENCODER: Final = "encoder."


class SmallEncoder:
    """A classifier with several outputs; safe to share between threads. Nothing is loaded before it is used.

    Args:
        weights: the file that ``training.heads.network.pack`` wrote.
    """

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._loading = Lock()

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """What the training kept beside the weights: outputs, calibration, thresholds, languages."""
        from safetensors import safe_open

        with safe_open(self._weights, framework="np") as file:
            about: Mapping[str, Any] = json.loads(file.metadata()[ABOUT])
        return about

    def logits(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """The outputs, shape (n, outputs), for n single texts or pairs. Blocking: call it in a thread.

        Each is read alone, which costs one core no more than a batch with its padding.
        """
        if not texts:
            return np.empty((0, len(self.about["outputs"])), dtype=np.float32)
        with self._loading:
            network = self._network
        return np.stack([network.logits(text) for text in texts])

    @cached_property
    def _network(self) -> _Network:
        from safetensors.numpy import load_file

        return _Network(load_file(self._weights))


class _Network:
    """Layers with outputs over the mean of the last text's vectors and the whole input's mean."""

    def __init__(self, packed: Mapping[str, NDArray[Any]]) -> None:
        if WORD_VECTORS in packed:
            self._layers, self._tokenizer = Layers(layers_of(packed), Form.MINILM), minilm.tokenizer()
            self._words: Callable[[NDArray[np.int64]], NDArray[np.float32]] = _ChangedWords(packed)
        else:
            self._layers, self._tokenizer = Layers(layers_of(packed), Form.E5), e5.tokenizer()
            self._words = e5.words
        self._dense, self._dense_bias = unpacked(packed, "dense.weight"), unpacked(packed, "dense.bias")
        self._outputs, self._bias = unpacked(packed, "outputs.weight"), unpacked(packed, "outputs.bias")

    def logits(self, text: tuple[str, ...]) -> NDArray[np.float32]:
        pieces = self._tokenizer.encode(text[0], text[1] if len(text) > 1 else None)
        kinds = np.array(pieces.type_ids, dtype=np.int64)
        vectors = self._layers.read(self._words(np.array(pieces.ids)), kinds)
        last = vectors[kinds == kinds.max()]
        pooled = np.concatenate([vectors[0], last.mean(0), vectors.mean(0)])
        hidden = self._dense @ pooled + self._dense_bias
        bent = np.array([x * (1 + erf(x / sqrt(2))) / 2 for x in hidden.tolist()], dtype=np.float32)
        return self._outputs @ bent + self._bias


class _ChangedWords:
    """The word vectors of all-MiniLM-L6-v2, and what some of them differ by."""

    def __init__(self, packed: Mapping[str, NDArray[Any]]) -> None:
        self._own, self._scales = packed[WORD_VECTORS], packed[WORD_VECTORS + SCALES]
        self._places = np.full(count_of_words(), -1, dtype=np.int32)
        self._places[packed[ROWS]] = np.arange(len(self._own), dtype=np.int32)

    def __call__(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        words = shared_words(ids)
        places = self._places[ids]
        is_own = places >= 0
        own = places[is_own]
        if len(own):
            words[is_own] += floats_of(self._own[own], self._scales[own])
        return words


def layers_of(packed: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float16]]:
    """The weights of a network's layers by the names of BERT: those that are shared, as far as it has no others."""
    weights = dict[str, NDArray[np.float16]]()
    for name, shared in (minilm.layers() if WORD_VECTORS in packed else e5.layers()).items():
        own = ENCODER + name
        if own + SCALES in packed:
            weights[name] = (shared + unpacked(packed, own)).astype(np.float16)
        else:
            weights[name] = packed.get(own, shared).astype(np.float16)
    return weights
