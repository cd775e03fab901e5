"""A linear classifier over sentence vectors that other models make, behind ``core.ports.TextClassifier``.

Owns the form of its small file. The vectors of each model are centred and brought to length 1 before they are joined.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence

Vectors = Callable[[Sequence[str]], NDArray[np.float32]]
"""Sentence vectors of shape (n, dimension)."""
SCALE: Final = 8.0
_ABOUT: Final = "about"
_REMEDY: Final = sentence('Install Antiphon again, with its extra "server" or "embedded".')


class LinearClassifier:
    """A matrix over joined vectors; safe to share between threads. Nothing is loaded before it is used.

    Args:
        weights: the file that ``pack_linear`` wrote.
        sources: what makes the vectors, in the order of the training.

    Raises:
        IndexUnavailable: at the first use, if the file is missing or damaged.
    """

    def __init__(self, weights: Path, sources: Sequence[Vectors]) -> None:
        self._weights = weights
        self._sources = tuple(sources)

    @property
    def about(self) -> Mapping[str, Any]:
        """What the training kept beside the weights."""
        return self._loaded[0]

    def logits(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """The outputs, shape (n, outputs), for n single texts. Blocking: call it in a thread.

        Raises:
            IndexUnavailable: the weights, or those of a model that makes the vectors, are missing or damaged.
        """
        _, kept = self._loaded
        plain = [text for (text,) in texts]
        joined = joined_vectors([source(plain) for source in self._sources], kept["centre"])
        found: NDArray[np.float32] = (joined @ kept["matrix"].astype(np.float32)) * kept["scale"] + kept["offset"]
        return found

    @cached_property
    def _loaded(self) -> tuple[Mapping[str, Any], dict[str, NDArray[Any]]]:
        from safetensors import safe_open

        try:
            with safe_open(self._weights, framework="np") as file:
                about: Mapping[str, Any] = json.loads(file.metadata()[_ABOUT])
                return about, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        except Exception as err:  # safetensors raises errors of no narrower kind for a damaged file
            raise IndexUnavailable(
                sentence("The weights of the router cannot be read ({kind}).", kind=type(err).__name__), remedy=_REMEDY
            ) from err


def joined_vectors(parts: Sequence[NDArray[np.float32]], centre: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors of several models side by side, shape (n, sum of dimensions), each part centred and of length 1."""
    found, start = [], 0
    for part in parts:
        moved = part - centre[start : start + part.shape[1]]
        found.append(moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9))
        start += part.shape[1]
    return np.asarray(SCALE * np.concatenate(found, axis=1), dtype=np.float32)


def pack_linear(
    matrix: NDArray[np.float32],
    offset: NDArray[np.float32],
    centre: NDArray[np.float32],
    about: Mapping[str, Any],
    file: Path,
) -> None:
    """Write a matrix of shape (dimensions, outputs) in eight bits for each output's scale, and the rest as it is."""
    from safetensors.numpy import save_file

    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-8) / 127
    packed = {
        "matrix": np.round(matrix / scale).astype(np.int8),
        "scale": scale.astype(np.float32),
        "offset": offset.astype(np.float32),
        "centre": centre.astype(np.float32),
    }
    save_file(packed, file, metadata={_ABOUT: json.dumps(about, sort_keys=True)})
