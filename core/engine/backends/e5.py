"""multilingual-e5-small: its word pieces, as far as they ship, its word vectors and its twelve layers.

The networks use the lower four layers as they are; each has learnt something else in the next four. All twelve make
sentence vectors, which are near each other where texts of two languages say the same. ``training.heads.e5`` took all of
it out of the package that carries the model in four bits; what is kept is as exact as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.blocks import SCALES, floats_of, unpacked
from core.engine.backends.minilm import FOLDER, Form, Layers, tokenizer_in

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NAME: Final = "multilingual-e5-small"
SHIPPED: Final = FOLDER / "e5.safetensors"
TOKENIZER: Final = FOLDER / "e5.json"
ALL_LAYERS: Final = 12
LAYERS: Final = 8
"""Those of our networks."""
SHARED_LAYERS: Final = 4
_QUERY: Final = "query: "
"""What the model was trained to read before a text that is compared with others."""
WORDS: Final = "embeddings.word_embeddings.weight"


@cache
def _weights() -> Mapping[str, NDArray[Any]]:
    from safetensors.numpy import load_file

    weights: Mapping[str, NDArray[Any]] = load_file(SHIPPED)
    return weights


def words(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The word vectors of pieces, shape (ids, 384)."""
    return floats_of(_weights()[WORDS][ids], _weights()[WORDS + SCALES][ids])


def layers(count: int = LAYERS) -> dict[str, NDArray[np.float32]]:
    """The weights of the lower layers, by the names of BERT; without the word vectors."""
    names = (name for name in _weights() if name != WORDS and not name.endswith(SCALES) and layer_of(name) < count)
    return {name: unpacked(_weights(), name) for name in names}


def layer_of(name: str) -> int:
    """The layer that a weight belongs to; -1 outside of them."""
    return int(name.split(".")[2]) if name.startswith("encoder.") else -1


@cache
def _whole() -> Layers:
    arrays = {name: array.astype(np.float16) for name, array in layers(ALL_LAYERS).items()}
    return Layers(arrays, Form.WHOLE_E5)


def vector_of(text: str) -> NDArray[np.float32]:
    """The sentence vector of a text in any of its languages, of length 1, shape (384,). Blocking."""
    pieces = tokenizer().encode(_QUERY + text)
    mean = _whole().read(words(np.array(pieces.ids)), np.array(pieces.type_ids, dtype=np.int64)).mean(0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


@cache
def tokenizer() -> Tokenizer:
    """The model's tokenizer with the pieces that are kept."""
    return tokenizer_in(TOKENIZER)
