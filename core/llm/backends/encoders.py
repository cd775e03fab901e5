"""Small encoders that classify one text or a pair of texts on one processor core, behind ``core.ports.TextClassifier``.

Owns the form of the shipped weights and how a classifier is built from them. An encoder is all-MiniLM-L6-v2
(Apache-2.0) with six layers of its own. Of the table of word vectors the shipped file holds the rows that the training
changed; the others are those of the installed package. A weight has eight bits in the file, and in use where the
processor multiplies such numbers fast.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from core.llm.backends.embeddings import not_installed, packaged_folder
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
_PIECE = 1024
_PROCESSORS = Path("/proc/cpuinfo")
_EIGHT_BIT_FLAGS = frozenset({"avx512_vnni", "avx_vnni", "amx_int8"})
_TOKENIZING = Lock()
_REMEDY = sentence('Install Antiphon again, with its extra "server" or "embedded".')


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

        Each is read alone, which costs one core no more than a batch with its padding.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        if not texts:
            return np.empty((0, len(self.about["outputs"])), dtype=np.float32)
        torch = _torch()
        found = np.empty((len(texts), len(self.about["outputs"])), dtype=np.float32)
        with self._lock, torch.inference_mode():
            network = self._network
            for row, text in enumerate(texts):
                found[row] = network(network.tokenized([text]))[0].numpy()
        return found

    @cached_property
    def _network(self) -> Any:
        from safetensors.torch import load_file

        try:
            with quiet():
                return _unpacked(load_file(self._weights), len(self.about["outputs"]))
        except IndexUnavailable:
            raise
        except ModuleNotFoundError as err:
            raise not_installed(err) from err
        except Exception as err:  # safetensors and tokenizers raise errors of no narrower kind for a damaged file
            raise IndexUnavailable(
                sentence("The weights of a reader cannot be read ({kind}).", kind=type(err).__name__), remedy=_REMEDY
            ) from err


def _torch() -> Any:
    """The library, loaded at the first use. Raises ``IndexUnavailable`` where it is not installed."""
    try:
        import torch
    except ModuleNotFoundError as err:
        raise not_installed(err) from err
    return torch


def new_network(outputs: int, *, is_empty: bool = False) -> Any:
    """all-MiniLM-L6-v2 with fresh outputs over the mean of the last text's vectors and the whole input's mean.

    Args:
        is_empty: leave the weights out, which somebody else fills in.

    Returns:
        A ``torch.nn.Module`` that takes what its ``tokenized`` gives and returns logits of shape (n, outputs).
    """
    import torch
    from transformers import AutoConfig, AutoModel

    class Network(torch.nn.Module):
        encoder: BertModel

        def __init__(self) -> None:
            super().__init__()
            folder = str(packaged_folder())
            if is_empty:
                self.encoder = AutoModel.from_config(  # type: ignore[no-untyped-call]
                    AutoConfig.from_pretrained(folder, local_files_only=True),  # nosec B615 # a folder on this machine
                    add_pooling_layer=False,
                )
            else:
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
            with _TOKENIZING:
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
        if name == _WORD_VECTORS:
            rows = (tensor != new_network(1).state_dict()[name]).any(dim=1).nonzero().squeeze(1)
            packed[_ROWS], matrix = rows.to(torch.int32), tensor[rows]
        if matrix.ndim == 2:
            packed[name], packed[name + _SCALE] = _eight_bits(matrix)
        else:
            packed[name] = matrix.half().contiguous()
    save_file(packed, file, metadata={_ABOUT: json.dumps(about, sort_keys=True)})


def _eight_bits(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A matrix in eight bits, and the scale of each row."""
    import torch

    scale = matrix.abs().amax(dim=1).clamp(min=1e-8) / 127
    return torch.round(matrix / scale.unsqueeze(1)).to(torch.int8), scale


def _unpacked(packed: dict[str, torch.Tensor], outputs: int) -> Any:
    """The network with its matrices in eight bits, as they lie in the file.

    Each vector that comes in has a scale of its own, so that texts of a batch do not sway each other. A processor
    without fast products in eight bits multiplies the same whole numbers as floats: it says the same.
    """
    import torch

    is_whole = multiplies_eight_bits_fast(_processor_flags())

    class Table(torch.nn.Module):
        def __init__(self, rows: torch.Tensor, scale: torch.Tensor) -> None:
            super().__init__()
            self.rows, self.scale = rows, scale.unsqueeze(1)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.rows[ids].float() * self.scale[ids]

    class Words(torch.nn.Module):
        """The package's word vectors, which all encoders share, with the changed ones before them."""

        def __init__(self, at: torch.Tensor, rows: torch.Tensor, scale: torch.Tensor) -> None:
            super().__init__()
            self.own, self.shared = Table(rows, scale), Table(*_packaged_vectors())
            self.places = torch.full((len(self.shared.rows),), -1, dtype=torch.int32)
            self.places[at] = torch.arange(len(at), dtype=torch.int32)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            places = self.places[ids]
            return torch.where((places < 0).unsqueeze(-1), self.shared(ids), self.own(places.clamp(min=0)))

    class Product(torch.nn.Module):
        def __init__(self, rows: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor) -> None:
            super().__init__()
            self.rows, self.scale, self.bias = rows if is_whole else rows.float(), scale, bias.float()

        def forward(self, vectors: torch.Tensor) -> torch.Tensor:
            whole, own = _eight_bits(vectors.flatten(0, -2))
            product = torch._int_mm(whole, self.rows.t()) if is_whole else whole.float() @ self.rows.t()
            scaled: torch.Tensor = product * own.unsqueeze(1) * self.scale + self.bias
            return scaled.reshape(*vectors.shape[:-1], -1)

    with torch.device("meta"):
        network = new_network(outputs, is_empty=True)
    changed = packed.pop(_ROWS).long()
    for name, module in list(network.named_modules()):
        if not isinstance(module, torch.nn.Embedding | torch.nn.Linear):
            continue
        rows, scale = packed.pop(f"{name}.weight"), packed.pop(f"{name}.weight{_SCALE}")
        lighter: torch.nn.Module
        if isinstance(module, torch.nn.Linear):
            lighter = Product(rows, scale, packed.pop(f"{name}.bias"))
        elif f"{name}.weight" != _WORD_VECTORS:
            lighter = Table(rows, scale)
        else:
            lighter = Words(changed, rows, scale) if len(changed) else Table(*_packaged_vectors())
        network.set_submodule(name, lighter)
    network.to_empty(device="cpu")
    network.load_state_dict({name: tensor.float() for name, tensor in packed.items()})
    network.encoder.embeddings.position_ids.copy_(torch.arange(network.encoder.config.max_position_embeddings))
    network.encoder.embeddings.token_type_ids.zero_()
    return network.eval()


def multiplies_eight_bits_fast(flags: str) -> bool:
    """Whether a processor with these flags multiplies whole numbers of eight bits faster than floats.

    With VNNI or AMX it takes a third of the time of floats; where it has AVX2 alone, ten times as long and more.

    Args:
        flags: as the line ``flags`` of ``/proc/cpuinfo`` has them, apart by blanks; "" where they are not known.
    """
    return not _EIGHT_BIT_FLAGS.isdisjoint(flags.split())


@cache
def _processor_flags() -> str:
    """The flags of the first processor; "" where the system does not tell them in a file, which only Linux does."""
    if not _PROCESSORS.exists():
        return ""
    lines = _PROCESSORS.read_text("utf-8", "replace").splitlines()
    return next((line.partition(":")[2] for line in lines if line.startswith("flags")), "")


@cache
def _tokenizer() -> PreTrainedTokenizerBase:
    """The package's tokenizer, which all encoders share; only one thread at a time may use it."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(  # nosec B615 # a folder on this machine
        str(packaged_folder()), local_files_only=True
    )


@cache
def _packaged_vectors() -> tuple[torch.Tensor, torch.Tensor]:
    """The package's word vectors in eight bits and the scale of each, read piece by piece, once for all encoders."""
    import torch
    from safetensors import safe_open

    with safe_open(packaged_folder() / "model.safetensors", framework="pt") as file:
        whole = file.get_slice("embeddings.word_embeddings.weight")
        count, width = whole.get_shape()
        rows, scales = torch.empty((count, width), dtype=torch.int8), torch.empty(count)
        for start in range(0, count, _PIECE):
            part = slice(start, start + _PIECE)
            rows[part], scales[part] = _eight_bits(whole[part].float())
    return rows, scales
