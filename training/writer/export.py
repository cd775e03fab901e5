"""An adapter for the runtimes: PEFT's folder as it is for vLLM, and as GGUF for llama.cpp.

Owns the names of the tensors and what is refused. llama.cpp adds ``alpha / rank * B A x`` to what a weight gives, as
PEFT does; whatever changes more than that (rsLoRA, DoRA, weights of its own, another rank for some layer) would be lost
silently, so it is refused. Models whose weights llama.cpp permutes (Llama) are refused, too.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

import gguf
import numpy as np
from safetensors.numpy import load_file

from core.errors import BadInput
from core.llm.backends.trained import card_of
from core.llm.short_prompts import Task

_WEIGHT: Final = re.compile(r"base_model\.model\.(?P<module>.+)\.lora_(?P<half>[AB])\.weight")
_ARCHITECTURES: Final = {"qwen2": gguf.MODEL_ARCH.QWEN2, "qwen3": gguf.MODEL_ARCH.QWEN3}
_MUST_BE_OFF: Final = ("use_rslora", "use_dora", "modules_to_save", "rank_pattern", "alpha_pattern", "lora_bias")


def to_gguf(adapter: Path, file: Path, *, model_type: str = "qwen2", layers: int = 28) -> Path:
    """Write an adapter of PEFT as a GGUF file in float16, for ``--lora`` of llama.cpp.

    Args:
        adapter: the folder with ``adapter_config.json`` and ``adapter_model.safetensors``.
        file: where to write.
        model_type: the architecture of the base model, as transformers calls it.
        layers: how many the base model has.

    Raises:
        BadInput: the adapter has parts that llama.cpp would not load.
    """
    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    _refuse_what_is_lost(config, model_type)
    architecture = _ARCHITECTURES[model_type]
    names = gguf.get_tensor_name_map(architecture, layers)
    writer = gguf.GGUFWriter(str(file), gguf.MODEL_ARCH_NAMES[architecture])
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(config["lora_alpha"]))
    for key, tensor in sorted(load_file(adapter / "adapter_model.safetensors").items()):
        found = _WEIGHT.fullmatch(key)
        name = found and names.get_name(f"{found['module']}.weight", try_suffixes=(".weight",))
        if not found or not name:
            raise BadInput(f"llama.cpp knows no place for {key}.", remedy="Train without this part.")
        half = np.ascontiguousarray(tensor.astype(np.float16))
        writer.add_tensor(f"{name}.lora_{found['half'].lower()}", half)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def export_with_card(adapter: Path, file: Path, weights: Path, tasks: tuple[str, ...], **about: Any) -> Path:
    """Write an adapter as GGUF, and beside it the card that ``core.llm.backends.trained`` reads.

    Args:
        adapter: the folder of PEFT.
        file: where to write.
        weights: those that it was trained on.
        tasks: what it was trained for (``core.llm.short_prompts.Task``).
        about: more that the card should say.

    Returns:
        the card.

    Raises:
        BadInput: the adapter cannot be exported, adapter or weights are missing, or a task is not known.
    """
    known = [task.value for task in Task]
    if unknown := [task for task in tasks if task not in known]:
        raise BadInput(f"There is no task {unknown[0]}.", remedy=f"Choose from: {', '.join(known)}.")
    for place, what in ((adapter / "adapter_config.json", "adapter"), (weights, "file of weights")):
        if not place.is_file():
            raise BadInput(
                f"There is no {what} at {place}.", remedy="Name what the training wrote, and what it began with."
            )
    to_gguf(adapter, file)
    hashes = {}
    for name, one in (("sha256", file), ("base_sha256", weights)):
        with one.open("rb") as stored:
            hashes[name] = hashlib.file_digest(stored, "sha256").hexdigest()
    card = card_of(file)
    written = {"name": f"{file.stem}-{hashes['sha256'][:8]}", "tasks": list(tasks), **hashes, **about}
    card.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return card


def _refuse_what_is_lost(config: dict[str, Any], model_type: str) -> None:
    if config.get("peft_type") != "LORA":
        raise BadInput("Only LoRA adapters can be exported.", remedy="Train with LoRA.")
    for name in _MUST_BE_OFF:
        if config.get(name):
            raise BadInput(
                f"An adapter with {name} would be loaded wrongly by llama.cpp.", remedy=f"Train without {name}."
            )
    if model_type not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise BadInput(
            f"Adapters for {model_type} cannot be written as GGUF.",
            remedy=f"Known: {known}. vLLM takes the folder as it is.",
        )
