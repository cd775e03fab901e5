"""The online stage put together: our posts as prompts, our readers as rewards, and the method that was chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from core.engine.backends.classifiers import NliCrossEncoder, QualityCrossEncoder
from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.bank import cards_on
from core.engine.readers.networks import DraftReader, Readers
from core.engine.scoring.check import context_for
from core.engine.scoring.gates import fault_of
from core.errors import BadInput
from core.models import Evidence, Intent
from training.corpus import DATA, posts, rows_of
from training.online import groups
from training.online.rewards import Choice, Rewards, parts_of
from training.runs.callbacks import Note
from training.writer.examples import passages, reply_prompt


def rows(values: Choice) -> list[dict[str, Any]]:
    """A prompt for each intent under each hateful English post that is learnt, with what the rewards need to know.

    Informative replies get the claim and the fact of a card, where a reader named the post's stereotype and a card
    against it rests on a fact. F2RL's reward learns from these alone.

    Raises:
        BadInput: there is no such reward, or a part of it cannot be known.
    """
    parts_of(values)
    rests_on = _claims_and_facts()
    rows = list[dict[str, Any]]()
    for row in posts():
        if row.split != "train" or row.language != "en" or not row.meant.startswith("h"):
            continue
        for intent in Intent:
            claim, fact = rests_on.get(row.id, ("", None)) if intent is Intent.INFORMATIVE else ("", None)
            prompt = reply_prompt(row.text, intent, "en", claim, fact)
            rows.append(
                {
                    "prompt": [{"role": m.role, "content": m.content} for m in prompt],
                    "post": row.text,
                    "language": "en",
                    "intent": intent.value,
                    "claim": claim,
                    "evidence": [fact.text] if fact else [],
                }
            )
    return [row for row in rows if row["evidence"]] if values.reward == "f2rl" else rows


def refuse_few(prompts: Sequence[Mapping[str, Any]], wanted: int) -> None:
    """Refuse fewer prompts than a step takes, of which TRL would make no step.

    Raises:
        BadInput: it says how many are wanted.
    """
    if len(prompts) < wanted:
        raise BadInput(
            f"There are {len(prompts)} prompts, and a step takes {wanted}.",
            remedy=f"Take {wanted} or more (--most), or fewer a step (--set prompts_a_step={max(len(prompts), 1)}).",
        )


def _claims_and_facts() -> dict[str, tuple[str, Evidence]]:
    """For posts, by their ids, the claim of a card against their stereotype, and the fact that it rests on."""
    facts = passages()
    answers = dict[str, tuple[str, Evidence]]()
    for row in rows_of(DATA / "routing"):
        for stereotype in row["labels"][0][:1] if "post" in row else ():
            cards = [card for card in cards_on(stereotype, "en") if card.fact in facts]
            if cards:
                answers[row["post"]] = cards[0].claim, facts[cards[0].fact or ""]
    return answers


def learn(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Mapping[str, Any]],
    run: Path,
    values: groups.Values,
    note: Note,
    *,
    save_steps: int = 10,
) -> None:
    """Train the adapter.

    Raises:
        BadInput: a part of the reward that was chosen cannot be known.
        ScorerUnavailable: a model that was named for a reward cannot be loaded.
    """

    def keep(entry: dict[str, float]) -> None:
        note({name: value for name, value in entry.items() if math.isfinite(value)})

    rewards = _rewards(values).functions()
    groups.train(model, tokenizer, prompts, rewards, run, values, note=keep, save_steps=save_steps)


def ends(log: Iterable[Mapping[str, Any]]) -> tuple[dict[str, float], dict[str, float]]:
    """The mean of each reward in the first tenth of the steps of a run, over all its starts, and in the last."""
    rewards = [{name: value for name, value in entry.items() if name.startswith("reward")} for entry in log]
    rewards = [entry for entry in rewards if entry]
    tenth = max(len(rewards) // 10, 1)
    return _means(rewards[:tenth]), _means(rewards[-tenth:])


def _rewards(values: Choice) -> Rewards:
    """The readers and models, each loaded once."""
    quality = QualityCrossEncoder(values.quality) if values.quality else None
    inference = NliCrossEncoder(values.inference) if values.inference else None
    for name in (quality, inference):
        if name is not None:
            name.load()
    return Rewards(reader_of_drafts(), readers().embedder, values, quality, inference)


def refuses(text: str, post: str, language: str) -> str | None:
    """Why the application would not show a reply, by its rules alone; ``None`` if it may."""
    return fault_of(text, context_for(post, language))


def _means(entries: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for entry in entries for name in entry)
    return {name: sum(e[name] for e in entries if name in e) / sum(name in e for e in entries) for name in names}


@cache
def readers() -> Readers:
    """The ones that ship, loaded once."""
    return Readers.load(SentenceEmbedder())


def reader_of_drafts() -> DraftReader:
    return readers().drafts
