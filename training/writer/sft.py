"""Supervised fine-tuning of the writer: cross-entropy on the answers (CoARL, phases 1 and 2), with LoRA.

``transformers.Trainer`` runs the loop over packed trees. A run that is killed goes on from its last checkpoint to the
same result.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

from training.runs.callbacks import Note, Notes, is_bf16, last_checkpoint, shared_arguments
from training.writer.sequences import Tree, collate, fill, learnt


@dataclass(frozen=True, slots=True)
class Values:
    """How the answers are learnt. The learning rate falls as a cosine after ``warmup`` of the steps.

    ``is_phased``: explanations and claims are learnt before the replies, as in CoARL, and not among them.
    """

    epochs: int = 2
    learning_rate: float = 5e-4
    sequence_tokens: int = 768
    sequences_a_step: int = 4
    warmup: float = 0.05
    weight_decay: float = 0.0
    is_phased: bool = False
    seed: int = 20261126


class PackedSequences(Dataset[dict[str, torch.Tensor]]):
    """Sequences of trees. Their order is fixed, so that a run that goes on sees what it would have seen."""

    def __init__(self, sequences: Sequence[Sequence[Tree]]) -> None:
        self._sequences: Final = sequences

    def __len__(self) -> int:
        return len(self._sequences)

    def __getitem__(self, at: int) -> dict[str, torch.Tensor]:
        return collate(self._sequences[at])


def epochs_of(trees: Sequence[Tree], values: Values) -> list[list[Tree]]:
    """The sequences of all epochs, one after the other, each epoch in another order."""
    chance = random.Random(values.seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    return [
        sequence
        for _ in range(values.epochs)
        for sequence in fill(chance.sample(trees, len(trees)), values.sequence_tokens)
    ]


class AnswerTrainer(Trainer):
    """A trainer whose loss is the mean over the answers' tokens; logits are made for those alone."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.model_accepts_loss_kwargs = False

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, torch.Tensor | Any],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> Any:
        loss = answer_loss(model, inputs)
        return (loss, {"loss": loss}) if return_outputs else loss

    def prediction_step(self, model: Any, inputs: Any, *_: Any, **__: Any) -> Any:
        with torch.no_grad(), self.compute_loss_context_manager():
            return answer_loss(model, self._prepare_inputs(inputs)).detach(), None, None


def answer_loss(model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The mean negative log-likelihood of a batch's answers."""
    places, answers = learnt(batch)
    logits = model(
        input_ids=batch["input_ids"],
        attention_mask=batch["attention_mask"],
        position_ids=batch["position_ids"],
        logits_to_keep=places,
        use_cache=False,
    ).logits[0]
    return torch.nn.functional.cross_entropy(logits.float(), answers)


def mean_loss(model: Any, sequences: Iterable[Sequence[Tree]]) -> float:
    """The mean negative log-likelihood of all answers, in nats a token."""
    total, count = 0.0, 0
    model.eval()
    for trees in sequences:
        batch = {name: value.to(model.device) for name, value in collate(trees).items()}
        number = len(learnt(batch)[1])
        with torch.no_grad(), _precision(model):
            total += answer_loss(model, batch).item() * number
        count += number
    return total / max(count, 1)


def _precision(model: Any) -> Any:
    """bfloat16 for a model in it, as in training."""
    return torch.autocast("cuda" if torch.cuda.is_available() else "cpu", torch.bfloat16, enabled=is_bf16(model))


def train(
    model: Any,
    trees: Sequence[Tree],
    held_out: Sequence[Sequence[Tree]],
    folder: Path,
    values: Values,
    *,
    note: Note = lambda _: None,
    save_steps: int = 20,
) -> list[dict[str, float]]:
    """Train the adapter of a PEFT model and leave it in ``folder/adapter``; the newest checkpoint there is taken up.

    Args:
        held_out: sequences on which the loss is measured on the way.

    Returns:
        the log: steps with loss and learning rate.
    """
    sequences = epochs_of(trees, values)
    arguments = TrainingArguments(
        **shared_arguments(folder, seed=values.seed, save_steps=save_steps),
        num_train_epochs=1,
        per_device_train_batch_size=1,
        per_device_eval_batch_size=1,
        gradient_accumulation_steps=values.sequences_a_step,
        learning_rate=values.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=math.ceil(values.warmup * len(sequences) / values.sequences_a_step),
        weight_decay=values.weight_decay,
        max_grad_norm=1.0,
        bf16=is_bf16(model),
        eval_strategy="steps",
        eval_steps=save_steps,
        remove_unused_columns=False,
        label_names=["labels"],
        train_sampling_strategy="sequential",
    )
    trainer = AnswerTrainer(
        model=model,
        args=arguments,
        train_dataset=PackedSequences(sequences),
        eval_dataset=PackedSequences(held_out),
        data_collator=lambda items: items[0],
        callbacks=[Notes(note)],
    )
    trainer.train(resume_from_checkpoint=last_checkpoint(folder))
    model.save_pretrained(folder / "adapter")
    return [dict(entry) for entry in trainer.state.log_history]
