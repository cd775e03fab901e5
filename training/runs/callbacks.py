"""What every stage shares that a trainer of transformers runs: its checkpoints, its log, where it computes.

A run that was killed goes on from its newest checkpoint, with chance as it stood there.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

Note = Callable[[dict[str, float]], None]


def shared_arguments(folder: Path, *, seed: int, save_steps: int) -> dict[str, Any]:
    """The arguments of a trainer that do not depend on what is learnt.

    Args:
        folder: of the stage; its checkpoints stand below.
        seed: of the weights and of the data's order.
        save_steps: after how many steps a checkpoint is written; the last two are kept.
    """
    return {
        "output_dir": str(_checkpoints(folder)),
        "use_cpu": not torch.cuda.is_available(),
        "logging_steps": 1,
        "save_steps": save_steps,
        "save_total_limit": 2,
        "report_to": "none",
        "seed": seed,
        "data_seed": seed,
        "dataloader_pin_memory": False,
    }


def is_bf16(model: Any) -> bool:
    """Whether a model's weights are bfloat16, and so its training is."""
    return next(model.parameters()).dtype is torch.bfloat16


def last_checkpoint(folder: Path) -> str | None:
    """Where the newest checkpoint of a stage stands; ``None`` before the first."""
    checkpoints = sorted(_checkpoints(folder).glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    return str(checkpoints[-1]) if checkpoints else None


def _checkpoints(folder: Path) -> Path:
    return folder / "checkpoints"


class Notes(TrainerCallback):
    """Passes each line of a trainer's log on, with its step."""

    def __init__(self, note: Note) -> None:
        self._note = note

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        if logs:
            numbers = {name: float(value) for name, value in logs.items() if _is_number(value)}
            self._note({"step": state.global_step, **numbers})


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False
