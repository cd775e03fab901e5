"""multilingual-e5-small as far as our networks share it: its word pieces, its word vectors and its eight lower layers.

The networks use the lower four layers as they are; each has learnt something else in the other four.
``training.heads.e5`` cut all of it out of the package that carries the model in four bits; what is kept is as exact as
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.blocks import SCALES, floats_of, unpacked
from core.engine.backends.minilm import FOLDER, tokenizer_in

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NAME: Final = "multilingual-e5-small"
SHIPPED: Final = FOLDER / "e5.safetensors"
TOKENIZER: Final = FOLDER / "e5.json"
LAYERS: Final = 8
SHARED_LAYERS: Final = 4
WORDS: Final = "embeddings.word_embeddings.weight"


@cache
def _weights() -> Mapping[str, NDArray[Any]]:
    from safetensors.numpy import load_file

    weights: Mapping[str, NDArray[Any]] = load_file(SHIPPED)
    return weights


def words(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The word vectors of pieces, shape (ids, 384)."""
    return floats_of(_weights()[WORDS][ids], _weights()[WORDS + SCALES][ids])


def layers() -> dict[str, NDArray[np.float32]]:
    """The weights of the layers, by the names of BERT; without the word vectors."""
    return {name: unpacked(_weights(), name) for name in _weights() if name != WORDS and not name.endswith(SCALES)}


@cache
def tokenizer() -> Tokenizer:
    """The model's tokenizer with the pieces that are kept."""
    return tokenizer_in(TOKENIZER)
