"""multilingual-e5-small as far as our networks share it: its word pieces, its word vectors and its four lower layers.

Owns where they lie and how four bits become floats. Over the shared layers each network has four of its own, so that
eight read a text. ``training.heads.e5`` cut all of it out of the package that carries the model in four bits; what is
kept is as exact as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.llm.backends.minilm import FOLDER, tokenizer_in

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NAME: Final = "multilingual-e5-small"
SHIPPED: Final = FOLDER / "e5.safetensors"
TOKENIZER: Final = FOLDER / "e5.json"
LAYERS: Final = 8
SHARED_LAYERS: Final = 4
WORDS: Final = "embeddings.word_embeddings.weight"
SCALES: Final = ".scales"
BLOCK: Final = 32
"""So many weights of a row have one scale."""
_ZERO: Final = 8


def floats_of(bits: NDArray[np.uint8], scales: NDArray[np.float16]) -> NDArray[np.float32]:
    """Weights in four bits as floats, shape (rows, columns).

    Args:
        bits: two weights a byte, shape (rows, columns / 2): of each block of 32 the first 16 in the lower halves.
        scales: one for each block, shape (rows, columns / 32).
    """
    blocks = bits.reshape(*scales.shape, BLOCK // 2)
    each = np.concatenate([blocks & 15, blocks >> 4], axis=-1).astype(np.float32) - _ZERO
    return (each * scales.astype(np.float32)[..., None]).reshape(len(bits), -1)


@cache
def _shipped() -> Mapping[str, NDArray[Any]]:
    from safetensors.numpy import load_file

    weights: Mapping[str, NDArray[Any]] = load_file(SHIPPED)
    return weights


def words(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The word vectors of pieces, shape (ids, 384)."""
    return floats_of(_shipped()[WORDS][ids], _shipped()[WORDS + SCALES][ids])


def shared_layers() -> dict[str, NDArray[Any]]:
    """The weights that all networks share, by the names of BERT, in sixteen bits; without the word vectors."""
    found = dict[str, NDArray[Any]]()
    for name, array in _shipped().items():
        if name == WORDS or name.endswith(SCALES):
            continue
        packed = name + SCALES in _shipped()
        found[name] = floats_of(array, _shipped()[name + SCALES]).astype(np.float16) if packed else array
    return found


@cache
def tokenizer() -> Tokenizer:
    """The model's tokenizer with the pieces that are kept."""
    return tokenizer_in(TOKENIZER)
