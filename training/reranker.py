"""Training of the reranker: InfoNCE over hard negatives, by sentence-transformers' cross-encoder.

F2RL gives 5 epochs and a rate of 1e-5; it does not give the number of negatives and the temperature.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from datasets import Dataset
from sentence_transformers.cross_encoder import CrossEncoder
from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator
from sentence_transformers.cross_encoder.losses import MultipleNegativesRankingLoss
from sentence_transformers.cross_encoder.trainer import CrossEncoderTrainer
from sentence_transformers.cross_encoder.training_args import CrossEncoderTrainingArguments

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.bank import load_cards
from core.engine.ports import Embedder
from kb.starter.facts import STARTER_FACTS, Fact, load_facts
from training.corpus import DATA, rows_of
from training.runs.callbacks import Note, Notes, last_checkpoint, shared_arguments
from training.runs.run import folder_of_base


@dataclass(frozen=True, slots=True)
class Question:
    """A claim or a post, the facts that answer it, and the stereotype that it is about."""

    text: str
    stereotype: str
    answers: frozenset[str]


@dataclass(frozen=True, slots=True)
class RankedTexts:
    """A question with its texts: one that answers, and ones that do not, the hardest first."""

    question: str
    positive: str
    negatives: tuple[str, ...]


def questions(*, posts_each: int = 8, seed: int = 0, data: Path = DATA) -> list[Question]:
    """The arguments of the cards, and posts that were written for their stereotypes; English.

    Args:
        posts_each: posts for each stereotype, at most.
        seed: which posts.
    """
    chance = random.Random(seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    rests_on, questions = defaultdict[str, set[str]](set), list[Question]()
    cards = [card for card in load_cards("en") if card.fact and not card.stereotype.is_general]
    for card in cards:
        rests_on[card.stereotype.id].add(card.fact or "")
    questions += [Question(card.argument, card.stereotype.id, frozenset({card.fact or ""})) for card in cards]
    wordings = defaultdict[str, list[str]](list)
    for row in rows_of(data / "routing"):
        if row.get("language") == "en" and row.get("id") in rests_on:
            wordings[row["id"]].append(row["text"])
    for stereotype, texts in sorted(wordings.items()):
        for text in chance.sample(texts, min(posts_each, len(texts))):
            questions.append(Question(text, stereotype, frozenset(rests_on[stereotype])))
    return questions


def split_by_stereotype(every: Sequence[Question], *, one_in: int = 5) -> tuple[list[Question], list[Question]]:
    """Questions to learn from and others to measure on: no stereotype is on both sides."""
    names = sorted({question.stereotype for question in every})
    held_out = set(names[::one_in])
    return [q for q in every if q.stereotype not in held_out], [q for q in every if q.stereotype in held_out]


def ranked(
    every: Iterable[Question], embedder: Embedder, *, negatives: int, facts: Sequence[Fact] | None = None
) -> list[RankedTexts]:
    """Each question with each of its answers, and the nearest facts of the group that are no answer.

    Args:
        negatives: hard negatives for each, at most.
        facts: those that are searched; the starter facts where none are given.
    """
    facts_by_id = {fact.id: fact for fact in facts or load_facts(STARTER_FACTS)}
    listed = list(every)
    if not listed:
        return []
    near = embedder.encode([q.text for q in listed]) @ embedder.encode([fact.text for fact in facts_by_id.values()]).T
    ids = list(facts_by_id)
    rows = []
    for question, closeness in zip(listed, near, strict=True):
        answers = [facts_by_id[fact] for fact in sorted(question.answers) if fact in facts_by_id]
        groups = {fact.target_group for fact in answers}
        order = [ids[at] for at in np.argsort(-closeness)]
        hard = [fact for fact in order if fact not in question.answers and facts_by_id[fact].target_group in groups]
        hardest = tuple(facts_by_id[fact].text for fact in hard[:negatives])
        rows += [RankedTexts(question.text, fact.text, hardest) for fact in answers]
    return rows


def columns(rows: Sequence[RankedTexts], negatives: int) -> Mapping[str, list[str]]:
    """As sentence-transformers reads them: anchor, positive, and so many negatives; rows with fewer are left out."""
    whole = [row for row in rows if len(row.negatives) >= negatives]
    texts: dict[str, list[str]] = {
        "anchor": [row.question for row in whole],
        "positive": [row.positive for row in whole],
    }
    for at in range(negatives):
        texts[f"negative_{at + 1}"] = [row.negatives[at] for row in whole]
    return texts


_AGAINST: Final = 9
"""Hard negatives among which an answer is looked for when it is measured."""


def texts(hard_negatives: int) -> tuple[list[RankedTexts], list[RankedTexts]]:
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
    learnt: Sequence[RankedTexts],
    held_out: Sequence[RankedTexts],
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


def scores(model: CrossEncoder, rows: Sequence[RankedTexts]) -> dict[str, float]:
    """How far up the answers stand among their hard negatives; each in [0, 1]."""
    samples: list[dict[str, Any]] = [
        {"query": row.question, "positive": [row.positive], "negative": list(row.negatives)} for row in rows
    ]
    if not samples:
        return {}
    evaluator = CrossEncoderRerankingEvaluator(samples, at_k=3, write_csv=False)
    return {name.strip("_"): float(value) for name, value in evaluator(model).items()}
