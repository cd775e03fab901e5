"""The small encoder as torch trains it, and how its weights are packed for ``core.llm.backends.encoders``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.llm.backends.e5 import LAYERS, SHARED_LAYERS, WORDS
from core.llm.backends.e5 import tokenizer as tokenizer_of_e5
from core.llm.backends.encoders import ABOUT, ROWS, SCALE, WORD_VECTORS
from core.llm.backends.minilm import MAX_TOKENS, WIDTH, packaged_folder
from core.llm.backends.minilm import tokenizer as tokenizer_of_minilm
from core.llm.backends.quiet import quiet

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer
    from transformers import BertModel


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
            found = {"input_ids": [one.ids for one in pieces], "attention_mask": [one.attention_mask for one in pieces]}
            found["token_type_ids"] = [one.type_ids for one in pieces]
            return {name: torch.tensor(rows) for name, rows in found.items()}

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

    found: BertModel = AutoModel.from_pretrained(  # nosec B615 # a folder on this machine
        str(packaged_folder()), local_files_only=True, add_pooling_layer=False
    )
    return found


def _e5() -> BertModel:
    import torch
    from transformers import BertConfig, BertModel

    from training.heads.e5 import INNER, floats

    weights = {name: torch.tensor(array) for name, array in floats(LAYERS).items()}
    shape = BertConfig(
        vocab_size=len(weights[WORDS]),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=12,
        intermediate_size=INNER,
        max_position_embeddings=MAX_TOKENS,
        pad_token_id=tokenizer_of_e5().token_to_id("<pad>"),
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    found = BertModel(shape, add_pooling_layer=False)
    found.load_state_dict(weights)
    for kept in (found.embeddings, *found.encoder.layer[:SHARED_LAYERS]):
        kept.requires_grad_(False)
    return found


def pack(network: Any, about: Mapping[str, Any], file: Path) -> None:
    """Write what the training changed: matrices in eight bits for each row's scale, the rest in sixteen."""
    import torch
    from safetensors.torch import save_file

    learnt = {name for name, parameter in network.named_parameters() if parameter.requires_grad}
    packed = dict[str, torch.Tensor]()
    for name, tensor in network.state_dict().items():
        if name not in learnt:
            continue
        matrix = tensor
        if name == WORD_VECTORS:
            rows = (tensor != new_network(1).state_dict()[name]).any(dim=1).nonzero().squeeze(1)
            packed[ROWS], matrix = rows.to(torch.int32), tensor[rows]
        if matrix.ndim == 2:
            packed[name], packed[name + SCALE] = _eight_bits(matrix)
        else:
            packed[name] = matrix.half().contiguous()
    save_file(packed, file, metadata={ABOUT: json.dumps(about, sort_keys=True)})


def unpacked(file: Path) -> Any:
    """The network whose weights ``pack`` wrote, as far as eight and sixteen bits hold them."""
    from safetensors.torch import load_file

    packed = load_file(file)
    network = new_network(len(packed["outputs.bias"]), Base.MINILM if WORD_VECTORS in packed else Base.E5)
    weights = network.state_dict()
    for name in weights.keys() & packed.keys():
        given = packed[name].float()
        if name + SCALE in packed:
            given *= packed[name + SCALE].unsqueeze(1)
        rows = packed[ROWS].long() if name == WORD_VECTORS else slice(None)
        weights[name][rows] = given
    network.load_state_dict(weights)
    return network


def _eight_bits(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A matrix in eight bits, and the scale of each row."""
    import torch

    scale = matrix.abs().amax(dim=1).clamp(min=1e-8) / 127
    return torch.round(matrix / scale.unsqueeze(1)).to(torch.int8), scale


@cache
def _tokenizer(base: Base) -> Tokenizer:
    """The one that the network is read with in use, and fills up a batch to its longest text."""
    from tokenizers import Tokenizer

    shared = tokenizer_of_minilm() if base is Base.MINILM else tokenizer_of_e5()
    found = Tokenizer.from_str(shared.to_str())
    pad = "[PAD]" if base is Base.MINILM else "<pad>"
    found.enable_padding(pad_id=found.token_to_id(pad), pad_token=pad)
    return found
