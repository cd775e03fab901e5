"""Training of the reranker: InfoNCE over hard negatives, by sentence-transformers' cross-encoder.

Owns the values (F2RL: 5 epochs, a rate of 1e-5; number of negatives and temperature are not published) and the scores
before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from datasets import Dataset
from sentence_transformers.cross_encoder import CrossEncoder
from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator
from sentence_transformers.cross_encoder.losses import MultipleNegativesRankingLoss
from sentence_transformers.cross_encoder.trainer import CrossEncoderTrainer
from sentence_transformers.cross_encoder.training_args import CrossEncoderTrainingArguments

from core.llm.backends.embeddings import SentenceEmbedder
from training.reranker.examples import Ranked, columns, questions, ranked, split_by_stereotype
from training.runs.base import folder_of_base
from training.runs.following import Note, Notes, last_checkpoint, shared_arguments

_AGAINST: Final = 9
"""Hard negatives among which an answer is looked for when it is measured."""


def texts(hard_negatives: int) -> tuple[list[Ranked], list[Ranked]]:
    """What is learnt, and what is measured on: other stereotypes."""
    learnt, held_out = split_by_stereotype(questions())
    embedder = SentenceEmbedder()
    return ranked(learnt, embedder, negatives=hard_negatives), ranked(held_out, embedder, negatives=_AGAINST)


def open_base(base: str) -> CrossEncoder:
    """A cross-encoder with one output, from a folder or ``name@commit``; an encoder gets a fresh output.

    Raises:
        BadInput: the model cannot be fetched.
    """
    model: CrossEncoder = CrossEncoder(str(folder_of_base(base)), num_labels=1, local_files_only=True)
    return model


@dataclass(frozen=True, slots=True)
class Values:
    """How the reranker learns. The loss divides by a temperature of 1 / ``scale``."""

    epochs: int = 5
    learning_rate: float = 1e-5
    batch: int = 16
    hard_negatives: int = 3
    others: int = 4
    scale: float = 10.0
    warmup: float = 0.1
    seed: int = 20261126


def train(
    model: CrossEncoder,
    learnt: Sequence[Ranked],
    held_out: Sequence[Ranked],
    folder: Path,
    values: Values,
    note: Note,
    *,
    save_steps: int = 50,
) -> tuple[dict[str, float], dict[str, float]]:
    """Train a cross-encoder with one output and leave it in ``folder/model``.

    Returns:
        the mean average precision, reciprocal rank and gain on ``held_out``, before and after.
    """
    before = scores(model, held_out)
    arguments = CrossEncoderTrainingArguments(
        **shared_arguments(folder, seed=values.seed, save_steps=save_steps),
        num_train_epochs=values.epochs,
        learning_rate=values.learning_rate,
        per_device_train_batch_size=values.batch,
        warmup_steps=values.warmup,
    )
    trainer = CrossEncoderTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_dict(dict(columns(learnt, values.hard_negatives))),
        loss=MultipleNegativesRankingLoss(model, num_negatives=values.others, scale=values.scale),  # type: ignore[arg-type]
        callbacks=[Notes(note)],
    )
    trainer.train(resume_from_checkpoint=last_checkpoint(folder))
    model.save_pretrained(str(folder / "model"))
    return before, scores(model, held_out)


def scores(model: CrossEncoder, rows: Sequence[Ranked]) -> dict[str, float]:
    """How far up the answers stand among their hard negatives; each in [0, 1]."""
    samples: list[dict[str, Any]] = [
        {"query": row.question, "positive": [row.positive], "negative": list(row.negatives)} for row in rows
    ]
    if not samples:
        return {}
    evaluator = CrossEncoderRerankingEvaluator(samples, at_k=3, write_csv=False)
    return {name.strip("_"): float(value) for name, value in evaluator(model).items()}
