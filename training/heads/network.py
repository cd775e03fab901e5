"""The small encoder as torch trains it, and how its weights are packed for ``core.llm.backends.encoders``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.llm.backends.encoders import ABOUT, ROWS, SCALE, WORD_VECTORS
from core.llm.backends.minilm import MAX_TOKENS, packaged_folder
from core.llm.backends.quiet import quiet

if TYPE_CHECKING:
    import torch
    from transformers import BertModel, PreTrainedTokenizerBase


def new_network(outputs: int) -> Any:
    """all-MiniLM-L6-v2 with fresh outputs over the mean of the last text's vectors and the whole input's mean.

    Returns:
        A ``torch.nn.Module`` that takes what its ``tokenized`` gives and returns logits of shape (n, outputs).
    """
    import torch
    from transformers import AutoModel

    class Network(torch.nn.Module):
        encoder: BertModel

        def __init__(self) -> None:
            super().__init__()
            folder = str(packaged_folder())
            self.encoder = AutoModel.from_pretrained(  # nosec B615 # a folder on this machine
                folder, local_files_only=True, add_pooling_layer=False
            )
            width = self.encoder.config.hidden_size
            self.dense = torch.nn.Linear(3 * width, width)
            self.dropout = torch.nn.Dropout(0.1)
            self.outputs = torch.nn.Linear(width, outputs)

        def tokenized(self, texts: Sequence[tuple[str, ...]]) -> Mapping[str, torch.Tensor]:
            columns = list(zip(*texts, strict=True))
            how = {"padding": True, "truncation": True, "max_length": MAX_TOKENS, "return_tensors": "pt"}
            found: Mapping[str, torch.Tensor] = _tokenizer()(*map(list, columns), **how)
            return found

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


def pack(network: Any, about: Mapping[str, Any], file: Path) -> None:
    """Write what the training changed: matrices in eight bits for each row's scale, the rest in sixteen."""
    import torch
    from safetensors.torch import save_file

    packed = dict[str, torch.Tensor]()
    for name, tensor in network.state_dict().items():
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
    network = new_network(len(packed["outputs.bias"]))
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
def _tokenizer() -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(  # nosec B615 # a folder on this machine
        str(packaged_folder()), local_files_only=True
    )
