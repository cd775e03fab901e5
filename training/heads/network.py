"""The small encoder as torch trains it, and how its weights are packed for ``core.engine.backends.encoders``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from core.engine.backends import e5, minilm
from core.engine.backends.blocks import BLOCK, SCALES, ZERO
from core.engine.backends.blocks import unpacked as floats
from core.engine.backends.e5 import LAYERS, SHARED_LAYERS, WORDS
from core.engine.backends.encoders import ABOUT, ENCODER, ROWS, WORD_VECTORS, layers_of
from core.engine.backends.minilm import MAX_TOKENS, WIDTH, packaged_folder
from core.engine.backends.pretrained import quiet

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer
    from transformers import BertModel


_NOTICED: Final = 0.03
"""A word vector that changed by less, as a part of its length, ships as it was: rounding changes it by .01."""


class Base(StrEnum):
    """What a network begins with: six layers that all learn, or eight, of which the lower four are kept."""

    MINILM = "all-MiniLM-L6-v2"
    E5 = "multilingual-e5-small"


def new_network(outputs: int, base: Base = Base.MINILM) -> Any:
    """A small encoder with fresh outputs over the mean of the last text's vectors and the whole input's mean.

    Returns:
        A ``torch.nn.Module`` that takes what its ``tokenized`` gives and returns logits of shape (n, outputs). What
        stays as it is needs no gradient.
    """
    import torch

    class Network(torch.nn.Module):
        encoder: BertModel

        def __init__(self) -> None:
            super().__init__()
            self.encoder = _minilm() if base is Base.MINILM else _e5()
            width = self.encoder.config.hidden_size
            self.dense = torch.nn.Linear(3 * width, width)
            self.dropout = torch.nn.Dropout(0.1)
            self.outputs = torch.nn.Linear(width, outputs)

        def tokenized(self, texts: Sequence[tuple[str, ...]]) -> Mapping[str, torch.Tensor]:
            pieces = _tokenizer(base).encode_batch([text if len(text) > 1 else text[0] for text in texts])
            inputs = {
                "input_ids": [piece.ids for piece in pieces],
                "attention_mask": [piece.attention_mask for piece in pieces],
            }
            inputs["token_type_ids"] = [piece.type_ids for piece in pieces]
            return {name: torch.tensor(rows) for name, rows in inputs.items()}

        def forward(self, tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
            vectors = self.encoder(**tokens).last_hidden_state
            real = tokens["attention_mask"].unsqueeze(-1).to(vectors.dtype)
            last = tokens["token_type_ids"].unsqueeze(-1).to(vectors.dtype) * real
            own = torch.where(last.sum(1, keepdim=True) > 0, last, real)
            means = [(vectors * weight).sum(1) / weight.sum(1) for weight in (own, real)]
            hidden = torch.nn.functional.gelu(self.dense(torch.cat([vectors[:, 0], *means], dim=1)))
            logits: torch.Tensor = self.outputs(self.dropout(hidden))
            return logits

    with quiet():
        return Network().eval()


def _minilm() -> BertModel:
    from transformers import AutoModel

    model: BertModel = AutoModel.from_pretrained(  # nosec B615 # a folder on this machine
        str(packaged_folder()), local_files_only=True, add_pooling_layer=False
    )
    return model


def _e5() -> BertModel:
    import torch
    from transformers import BertConfig, BertModel

    from training.heads.e5 import INNER
    from training.heads.e5 import floats as of_package

    weights = {name: torch.tensor(array) for name, array in of_package(LAYERS).items()}
    shape = BertConfig(
        vocab_size=len(weights[WORDS]),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=12,
        intermediate_size=INNER,
        max_position_embeddings=MAX_TOKENS,
        pad_token_id=e5.tokenizer().token_to_id("<pad>"),
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertModel(shape, add_pooling_layer=False)
    model.load_state_dict(weights)
    for part in (model.embeddings, *model.encoder.layer[:SHARED_LAYERS]):
        part.requires_grad_(False)
    return model


def pack(network: Any, about: Mapping[str, Any], file: Path) -> None:
    """Write what the training changed: of the encoder's matrices the difference in four bits, others in eight.

    All else has sixteen bits. A word vector that hardly changed is left out.
    """
    learnt = {name for name, parameter in network.named_parameters() if parameter.requires_grad}
    shared = (minilm if WORD_VECTORS in learnt else e5).layers()
    packed = dict[str, NDArray[Any]]()
    for name, tensor in network.state_dict().items():
        if name not in learnt:
            continue
        matrix = tensor.float().numpy()
        if name == WORD_VECTORS:
            words = minilm.shared_words(np.arange(len(matrix)))
            differing = matrix - words
            rows = np.flatnonzero(_lengths(differing) >= _NOTICED * _lengths(words))
            packed[ROWS] = rows.astype(np.int32)
            packed[name], packed[name + SCALES] = in_four_bits(differing[rows])
        elif matrix.ndim < 2:
            packed[name] = matrix.astype(np.float16)
        elif name.startswith(ENCODER):
            differing = matrix - shared[name.removeprefix(ENCODER)]
            packed[name], packed[name + SCALES] = in_four_bits(differing)
        else:
            packed[name], packed[name + SCALES] = in_eight_bits(matrix)
    save_file(packed, file, metadata={ABOUT: json.dumps(about, sort_keys=True)})


def unpacked(file: Path) -> Any:
    """The network whose weights ``pack`` wrote, as far as their bits hold them."""
    import torch

    packed = load_file(file)
    network = new_network(len(packed["outputs.bias"]), Base.MINILM if WORD_VECTORS in packed else Base.E5)
    arrays: dict[str, NDArray[Any]] = {ENCODER + name: array for name, array in layers_of(packed).items()}
    arrays |= {name: floats(packed, name) for name in network.state_dict() if not name.startswith(ENCODER)}
    if WORD_VECTORS in packed:
        words = minilm.shared_words(np.arange(minilm.count_of_words()))
        words[packed[ROWS]] += floats(packed, WORD_VECTORS)
        arrays[WORD_VECTORS] = words
    tensors = {name: torch.tensor(array, dtype=torch.float32) for name, array in arrays.items()}
    network.load_state_dict(network.state_dict() | tensors)
    return network


def in_four_bits(matrix: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """A matrix as ``core.engine.backends.blocks.floats_of`` takes it, with a scale for each 32 weights of a row."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    farthest = np.take_along_axis(blocks, np.abs(blocks).argmax(-1)[..., None], -1)[..., 0]
    scales = (farthest / -ZERO).astype(np.float16)
    steps = np.rint(blocks / _divisors(scales)) + ZERO
    bits = steps.clip(0, 2 * ZERO - 1).astype(np.uint8)
    lower, upper = bits[..., : BLOCK // 2], bits[..., BLOCK // 2 :]
    return (lower | upper << 4).reshape(len(matrix), -1), scales


def in_eight_bits(matrix: NDArray[np.float32], block: int = BLOCK) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """The same in eight bits, with a scale for each ``block`` of weights."""
    blocks = matrix.reshape(len(matrix), -1, block)
    scales = (np.abs(blocks).max(-1) / 127).astype(np.float16)
    bits = np.rint(blocks / _divisors(scales)).clip(-127, 127).astype(np.int8)
    return bits.reshape(matrix.shape), scales


def _divisors(scales: NDArray[np.float16]) -> NDArray[np.float32]:
    """The scales of blocks, and 1 for those that hold nothing."""
    divisors = scales.astype(np.float32)[..., None]
    return np.where(divisors == 0, np.float32(1), divisors)


def _lengths(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(np.linalg.norm(rows, axis=1), dtype=np.float32)


@cache
def _tokenizer(base: Base) -> Tokenizer:
    """The one that the network is read with in use, and fills up a batch to its longest text."""
    from tokenizers import Tokenizer

    shared = minilm.tokenizer() if base is Base.MINILM else e5.tokenizer()
    tokenizer = Tokenizer.from_str(shared.to_str())
    pad = "[PAD]" if base is Base.MINILM else "<pad>"
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id(pad), pad_token=pad)
    return tokenizer
