"""An adapter for the runtimes: PEFT's folder as it is for vLLM, and as GGUF for llama.cpp.

llama.cpp adds ``alpha / rank * B A x`` to what a weight gives, as PEFT does; whatever changes more than that (rsLoRA,
DoRA, weights of its own, another rank for some layer) would be lost silently, so it is refused. Models whose weights
llama.cpp permutes (Llama) and an adapter whose halves do not fit the weights are refused, too.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gguf
import numpy as np
from safetensors.numpy import load_file

from core.errors import BadInput

_WEIGHT: Final = re.compile(r"base_model\.model\.(?P<module>.+)\.lora_(?P<half>[AB])\.weight")
_ARCHITECTURES: Final = {"qwen2": gguf.MODEL_ARCH.QWEN2, "qwen3": gguf.MODEL_ARCH.QWEN3}
_SIDES: Final = {"A": 0, "B": 1}
"""Which side of a weight a half of an adapter meets: A takes its inputs, B gives its outputs."""
_SIDE_NAMES: Final = ("inputs", "outputs")
_MUST_BE_OFF: Final = ("use_rslora", "use_dora", "modules_to_save", "rank_pattern", "alpha_pattern", "lora_bias")


@dataclass(frozen=True, slots=True)
class _Weights:
    """What a file of weights says of itself; ``shapes`` are (inputs, outputs) by the name of the tensor."""

    architecture: gguf.MODEL_ARCH
    layers: int
    shapes: Mapping[str, tuple[int, ...]]


def to_gguf(adapter: Path, file: Path, weights: Path) -> Path:
    """Write an adapter of PEFT as a GGUF file in float16, for ``--lora`` of llama.cpp.

    Args:
        adapter: the folder with ``adapter_config.json`` and ``adapter_model.safetensors``.
        file: where to write.
        weights: the GGUF file that it was trained on.

    Raises:
        BadInput: adapter or weights are missing, the adapter has parts that llama.cpp would not load, or it was trained
            on other weights.
    """
    _refuse_missing(adapter / "adapter_config.json", "adapter")
    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    _refuse_what_is_lost(config)
    of = _weights_in(weights)
    names = gguf.get_tensor_name_map(of.architecture, of.layers)
    halves = dict[str, np.ndarray[Any, Any]]()
    for key, tensor in sorted(load_file(adapter / "adapter_model.safetensors").items()):
        match = _WEIGHT.fullmatch(key)
        name = match and names.get_name(f"{match['module']}.weight", try_suffixes=(".weight",))
        if not match or not name:
            raise BadInput(f"llama.cpp knows no place for {key}.", remedy="Train without this part.")
        side = _SIDES[match["half"]]
        if (width := of.shapes.get(name, (0, 0))[side]) != tensor.shape[1 - side]:
            raise BadInput(
                f"{adapter} was trained on other weights than {weights}: {key} has {tensor.shape[1 - side]} "
                f"{_SIDE_NAMES[side]}, {name} has {width}.",
                remedy="Name the weights that it was trained on (values.json of its run).",
            )
        halves[f"{name}.lora_{match['half'].lower()}"] = np.ascontiguousarray(tensor.astype(np.float16))
    writer = gguf.GGUFWriter(str(file), gguf.MODEL_ARCH_NAMES[of.architecture])
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(config["lora_alpha"]))
    for name, half in halves.items():
        writer.add_tensor(name, half)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _refuse_missing(place: Path, what: str) -> None:
    if not place.is_file():
        raise BadInput(
            f"There is no {what} at {place}.", remedy="Name what the training wrote, and what it began with."
        )


def _refuse_what_is_lost(config: Mapping[str, Any]) -> None:
    if config.get("peft_type") != "LORA":
        raise BadInput("Only LoRA adapters can be exported.", remedy="Train with LoRA.")
    for name in _MUST_BE_OFF:
        if config.get(name):
            raise BadInput(
                f"An adapter with {name} would be loaded wrongly by llama.cpp.", remedy=f"Train without {name}."
            )


def _weights_in(file: Path) -> _Weights:
    """What the header of a GGUF file says.

    Raises:
        BadInput: it is no GGUF file, or of an architecture whose adapters llama.cpp would load wrongly.
    """
    _refuse_missing(file, "file of weights")
    try:
        reader = gguf.GGUFReader(file)
        model_type = reader.fields[gguf.Keys.General.ARCHITECTURE].contents()
        layers = reader.fields[gguf.Keys.LLM.BLOCK_COUNT.format(arch=model_type)].contents()
    except (ValueError, KeyError, IndexError) as err:
        raise BadInput(
            f"{file} holds no weights in GGUF.", remedy="Name the file that the writer was trained on."
        ) from err
    if model_type not in _ARCHITECTURES:
        names = ", ".join(_ARCHITECTURES)
        raise BadInput(
            f"Adapters for {model_type} cannot be written as GGUF.",
            remedy=f"Known: {names}. vLLM takes the folder as it is.",
        )
    shapes = {tensor.name: tuple(int(size) for size in tensor.shape) for tensor in reader.tensors}
    return _Weights(_ARCHITECTURES[model_type], layers, shapes)
