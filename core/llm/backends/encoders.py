"""Small encoders that classify one text or a pair of texts on one processor core, behind ``core.ports.TextClassifier``.

Owns the form of the shipped weights and how a classifier is built from them. An encoder is all-MiniLM-L6-v2
(Apache-2.0) with six layers of its own. Of the table of word vectors the shipped file holds the rows that the training
changed; the others are those of the installed package. A weight has eight bits, in the file and in use.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from core.llm.backends.embeddings import packaged_folder
from core.llm.backends.quiet import quiet

if TYPE_CHECKING:
    import torch
    from transformers import BertModel, PreTrainedTokenizerBase

MAX_TOKENS = 256
"""The longest input in word pieces; a pair's texts share them, and the longer text is cut first."""
_ABOUT = "about"
_WORD_VECTORS = "encoder.embeddings.word_embeddings.weight"
_SCALE = ".scale"
_ROWS = "rows"
_REMEDY = sentence('Install Antiphon again, with its extra "embedded".')


class SmallEncoder:
    """A classifier with several outputs; safe to share between threads. Nothing is loaded before it is used.

    Args:
        weights: the file that ``pack`` wrote.

    Raises:
        IndexUnavailable: at the first use, if the weights or the package with the word vectors are missing or damaged.
    """

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._lock = Lock()

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """What the training kept beside the weights: outputs, calibration, thresholds, languages."""
        from safetensors import safe_open

        try:
            with safe_open(self._weights, framework="np") as file:
                about: Mapping[str, Any] = json.loads(file.metadata()[_ABOUT])
        except Exception as err:  # safetensors raises errors of no narrower kind for a damaged file
            raise IndexUnavailable(
                sentence("The weights of a reader cannot be read ({kind}).", kind=type(err).__name__), remedy=_REMEDY
            ) from err
        return about

    def logits(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """The outputs, shape (n, outputs), for n single texts or pairs. Blocking: call it in a thread.

        Each is read alone: in eight bits the texts of a batch would sway each other a little.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        import torch

        if not texts:
            return np.empty((0, len(self.about["outputs"])), dtype=np.float32)
        found = np.empty((len(texts), len(self.about["outputs"])), dtype=np.float32)
        with self._lock, torch.inference_mode():
            network = self._network
            for row, text in enumerate(texts):
                found[row] = network(network.tokenized([text]))[0].numpy()
        return found

    def encoder_weights(self) -> Mapping[str, torch.Tensor]:
        """The weights of the encoder below the outputs, in full precision: where another training may begin."""
        from safetensors.torch import load_file

        network = new_network(len(self.about["outputs"]))
        _unpack(load_file(self._weights), network)
        weights: Mapping[str, torch.Tensor] = network.encoder.state_dict()
        return weights

    @cached_property
    def _network(self) -> Any:
        from safetensors.torch import load_file

        try:
            with quiet():
                network = new_network(len(self.about["outputs"]))
                _unpack(load_file(self._weights), network)
            return _in_eight_bits(network)
        except IndexUnavailable:
            raise
        except Exception as err:  # safetensors and tokenizers raise errors of no narrower kind for a damaged file
            raise IndexUnavailable(
                sentence("The weights of a reader cannot be read ({kind}).", kind=type(err).__name__), remedy=_REMEDY
            ) from err


def new_network(outputs: int) -> Any:
    """all-MiniLM-L6-v2 with fresh outputs over the mean of the last text's vectors and the whole input's mean.

    Returns:
        A ``torch.nn.Module`` that takes what its ``tokenized`` gives and returns logits of shape (n, outputs).
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    class Network(torch.nn.Module):
        encoder: BertModel
        tokenizer: PreTrainedTokenizerBase

        def __init__(self) -> None:
            super().__init__()
            folder = str(packaged_folder())
            self.encoder = AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
            self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            width = self.encoder.config.hidden_size
            self.dense = torch.nn.Linear(3 * width, width)
            self.dropout = torch.nn.Dropout(0.1)
            self.outputs = torch.nn.Linear(width, outputs)

        def tokenized(self, texts: Sequence[tuple[str, ...]]) -> Mapping[str, torch.Tensor]:
            columns = list(zip(*texts, strict=True))
            how = {"padding": True, "truncation": True, "max_length": MAX_TOKENS, "return_tensors": "pt"}
            found: Mapping[str, torch.Tensor] = self.tokenizer(*map(list, columns), **how)
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

    return Network().eval()


def pack(network: Any, about: Mapping[str, Any], file: Path) -> None:
    """Write what the training changed: matrices in eight bits for each row's scale, the rest in sixteen."""
    import torch
    from safetensors.torch import save_file

    packed = dict[str, torch.Tensor]()
    for name, tensor in network.state_dict().items():
        matrix = tensor
        if name == _WORD_VECTORS:
            rows = (tensor != new_network(1).state_dict()[name]).any(dim=1).nonzero().squeeze(1)
            packed[_ROWS], matrix = rows.to(torch.int32), tensor[rows]
        if matrix.ndim == 2:
            scale = matrix.abs().amax(dim=1).clamp(min=1e-8) / 127
            packed[name] = torch.round(matrix / scale.unsqueeze(1)).to(torch.int8).contiguous()
            packed[name + _SCALE] = scale.half().float().contiguous()
        else:
            packed[name] = matrix.half().contiguous()
    save_file(packed, file, metadata={_ABOUT: json.dumps(about, sort_keys=True)})


def _unpack(packed: Mapping[str, torch.Tensor], network: Any) -> None:
    """Put the packed weights into a network that has the package's word vectors."""
    state = {
        name: tensor.float() * packed[name + _SCALE].unsqueeze(1) if name + _SCALE in packed else tensor.float()
        for name, tensor in packed.items()
        if not name.endswith(_SCALE) and name != _ROWS
    }
    changed = state.pop(_WORD_VECTORS)
    vectors = network.state_dict()[_WORD_VECTORS].clone()
    vectors[packed[_ROWS].long()] = changed
    network.load_state_dict({**state, _WORD_VECTORS: vectors})


def _in_eight_bits(network: Any) -> Any:
    """The network with matrices of eight bits, which take a third of the time on one core.

    torch is going to drop this in favour of a package of its own; a torch without it computes with all bits, slower.
    """
    import torch

    try:
        from torch.ao.quantization import (
            float_qparams_weight_only_qconfig,
            per_channel_dynamic_qconfig,
            quantize_dynamic,
        )
    except ImportError:
        return network
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*deprecated", category=UserWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        how = {torch.nn.Linear: per_channel_dynamic_qconfig, torch.nn.Embedding: float_qparams_weight_only_qconfig}
        return quantize_dynamic(network, how, inplace=True)  # type: ignore[no-untyped-call]
