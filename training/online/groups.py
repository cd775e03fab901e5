"""GRPO and RLOO for the writer, by TRL: rewards of several replies to one prompt, compared with each other.

See Shao and others 2024 and Ahmadian and others 2024. TRL's default has no price for the distance to the reference;
ours has one, since a writer without it learns the reader's habits and forgets the language. Several rewards are brought
to one scale before they are added (``normalize_then_sum``), which RLOO of this version cannot do. The papers learnt by
PPO, which TRL has no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from datasets import Dataset
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.rloo_config import RLOOConfig
from trl.trainer.rloo_trainer import RLOOTrainer

from core.errors import BadInput
from training.online.rewards import Choice
from training.runs.callbacks import Note, Notes, is_bf16, last_checkpoint, shared_arguments

METHODS: Final = ("grpo", "rloo")


@dataclass(frozen=True, slots=True)
class Values(Choice):
    """How groups are learnt from: ``group`` replies to each of ``prompts_a_step`` prompts. ``kl`` is TRL's beta."""

    method: str = "grpo"
    learning_rate: float = 1e-5
    kl: float = 0.04
    group: int = 8
    prompts_a_step: int = 4
    most_tokens: int = 110
    temperature: float = 1.0
    steps: int = 200
    seed: int = 20261126


def check(values: Values) -> None:
    """Refuse what cannot be learnt with.

    Raises:
        BadInput: the method is neither grpo nor rloo, or the distance costs nothing.
    """
    if values.method not in METHODS:
        raise BadInput(f"There is no method {values.method}.", remedy=f"Choose one of: {', '.join(METHODS)}.")
    if values.kl <= 0:
        raise BadInput("kl must be more than 0, or the writer leaves the language.", remedy="0.02 to 0.05 is usual.")


def train(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Mapping[str, Any]],
    rewards: Sequence[Callable[..., Any]],
    folder: Path,
    values: Values,
    *,
    note: Note = lambda _: None,
    save_steps: int = 20,
) -> list[dict[str, float]]:
    """Train a PEFT model's adapter on rewards and leave it in ``folder/adapter``.

    A run that was killed goes on from its newest checkpoint to the same result. The reference is the adapter as it is
    given, so a run must go on with the model that it began with.

    Args:
        model: the writer, with its adapter.
        tokenizer: its tokenizer.
        rows: ``prompt``, a conversation, and the columns that the rewards read.
        rewards: functions of prompts and completions (``training.online.rewards``).
        folder: of the run.
        values: how it learns.
        note: hears of each line of the log.
        save_steps: after how many steps a checkpoint is written.

    Returns:
        the log: steps with the mean of each reward, the distance to the reference and the loss.

    Raises:
        BadInput: the method is neither grpo nor rloo, or the distance costs nothing.
    """
    trainer = trainer_of(model, tokenizer, rows, rewards, folder, values, note=note, save_steps=save_steps)
    trainer.train(resume_from_checkpoint=last_checkpoint(folder))
    model.save_pretrained(folder / "adapter", selected_adapters=["default"])
    return [dict(entry) for entry in trainer.state.log_history]


def trainer_of(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Mapping[str, Any]],
    rewards: Sequence[Callable[..., Any]],
    folder: Path,
    values: Values,
    *,
    note: Note = lambda _: None,
    save_steps: int = 20,
) -> GRPOTrainer | RLOOTrainer:
    """TRL's trainer with our values, for ``train``, whose arguments and errors it has.

    With G replies to each of P prompts and rewards ``r``, GRPO's advantages [P * G] are, for each reward apart,
    ``(r - mean of the group) / (deviation of the group + 1e-4)``, added up, then brought to mean 0 and deviation 1 over
    the batch. RLOO's are the sum of the rewards, less ``kl`` times the log-ratio of the reply, less the mean of the
    other G - 1 (``GRPOTrainer`` and ``RLOOTrainer`` of TRL 1.16). Deviations are of samples, divided by G - 1.
    """
    check(values)
    common: dict[str, Any] = {
        **shared_arguments(folder, seed=values.seed, save_steps=save_steps),
        "learning_rate": values.learning_rate,
        "beta": values.kl,
        "num_generations": values.group,
        "per_device_train_batch_size": values.group,
        "gradient_accumulation_steps": values.prompts_a_step,
        "max_completion_length": values.most_tokens,
        "temperature": values.temperature,
        "max_steps": values.steps,
        "bf16": is_bf16(model),
    }
    options: dict[str, Any] = {
        "model": model,
        "reward_funcs": list(rewards),
        "train_dataset": Dataset.from_list([dict(row) for row in rows]),
        "processing_class": tokenizer,
        "callbacks": [Notes(note)],
    }
    if values.method == "rloo":
        return RLOOTrainer(args=RLOOConfig(**common), **options)
    return GRPOTrainer(args=GRPOConfig(**common, multi_objective_aggregation="normalize_then_sum"), **options)
