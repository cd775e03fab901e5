"""Direct preference optimisation of the writer (Rafailov and others 2023), by TRL's trainer.

Beta is that of ``HWU-NLP/GBVCounterspeech``, which trained a small writer of counterspeech; the rate of learning is
lower, since the adapter has learnt the replies before. The reference is the adapter as it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasets import Dataset
from trl.trainer.dpo_config import DPOConfig
from trl.trainer.dpo_trainer import DPOTrainer

from training.runs.callbacks import Note, Notes, is_bf16, last_checkpoint, shared_arguments
from training.writer.preferences import Pair


@dataclass(frozen=True, slots=True)
class Values:
    """How preferences are learnt. ``beta`` holds the writer near the reference: higher is nearer.

    ``pairs_at_once``: how many of a step's pairs the machine computes together; 8 or more on a GPU.
    """

    epochs: int = 1
    learning_rate: float = 2e-5
    beta: float = 0.1
    pairs_a_step: int = 8
    pairs_at_once: int = 1
    most_tokens: int = 320
    seed: int = 20261126


def train(
    model: Any,
    tokenizer: Any,
    pairs: Sequence[Pair],
    folder: Path,
    values: Values,
    *,
    note: Note = lambda _: None,
    save_steps: int = 20,
) -> list[dict[str, float]]:
    """Train the adapter of a PEFT model on pairs and leave it in ``folder/adapter``.

    Returns:
        the log: steps with loss, margin of the rewards, and the share of pairs that are ranked right.
    """
    arguments = DPOConfig(
        **shared_arguments(folder, seed=values.seed, save_steps=save_steps),
        num_train_epochs=values.epochs,
        learning_rate=values.learning_rate,
        lr_scheduler_type="cosine",
        beta=values.beta,
        per_device_train_batch_size=values.pairs_at_once,
        gradient_accumulation_steps=max(values.pairs_a_step // values.pairs_at_once, 1),
        max_length=values.most_tokens,
        bf16=is_bf16(model),
        gradient_checkpointing=False,
    )
    trainer = DPOTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list([pair.row() for pair in pairs]),
        processing_class=tokenizer,
        callbacks=[Notes(note)],
    )
    trainer.train(resume_from_checkpoint=last_checkpoint(folder))
    model.save_pretrained(folder / "adapter", selected_adapters=["default"])
    return [dict(entry) for entry in trainer.state.log_history]
