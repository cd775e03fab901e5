"""The model that an adapter is trained on: loaded once, frozen, with LoRA weights beside its own.

The numbers of the embedded model are the dequantised weights of the very file that the application serves, so that what
is learnt fits what is run; any folder or hub name of transformers will do as well.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from training.runs.run import folder_of_base

ALL_LINEAR: Final = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, slots=True)
class Lora:
    """The shape of an adapter; ``alpha / rank`` scales what it adds (CoARL trains q and v only, at rank 16)."""

    rank: int = 8
    alpha: int = 16
    dropout: float = 0.0
    targets: tuple[str, ...] = ALL_LINEAR


def load_base(source: str) -> tuple[Any, Any]:
    """A model in bfloat16, on the GPU where there is one, and its tokenizer.

    Args:
        source: a GGUF file, a folder of transformers, or ``name@commit`` of a model on the hub.

    Raises:
        BadInput: the model cannot be fetched.
    """
    load: dict[str, Any] = {"dtype": torch.bfloat16, "attn_implementation": "sdpa"}
    if source.endswith(".gguf"):
        file = Path(source)
        dequantised = GgufConfig(dequantize=True)
        model: Any = AutoModelForCausalLM.from_pretrained(  # nosec B615 # a file on this machine
            str(file.parent), gguf_file=file.name, quantization_config=dequantised, local_files_only=True, **load
        )
        tokenizer = AutoTokenizer.from_pretrained(  # nosec B615 # as above
            str(file.parent), gguf_file=file.name, local_files_only=True
        )
        return model.to(_device()), tokenizer
    folder = str(folder_of_base(source))
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, **load)  # nosec B615 # on this machine
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)  # nosec B615 # as above
    return model.to(_device()), tokenizer


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def with_adapter(model: Any, shape: Lora, seed: int) -> Any:
    """The model with a fresh adapter in float32: A random, B zero, so that nothing changes at first."""
    torch.manual_seed(seed)
    config = LoraConfig(
        r=shape.rank,
        lora_alpha=shape.alpha,
        lora_dropout=shape.dropout,
        target_modules=list(shape.targets),
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, config)
