"""What the reranker learns: for a claim or a post the fact that answers it, against facts that only look as if.

Owns how positives and hard negatives are found (F2RL, section 3.2: by thresholds, whose values are not published).
Positives are the facts that our cards rest on; negatives are the nearest of the other facts that are
about the same group and answer another stereotype.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.cards.bank import load_cards
from core.ports import Embedder
from kb.starter.facts import STARTER_FACTS, Fact, load_facts
from training.corpus import DATA, rows_of


@dataclass(frozen=True, slots=True)
class Question:
    """A claim or a post, the facts that answer it, and the stereotype that it is about."""

    text: str
    stereotype: str
    answers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question with its texts: one that answers, and ones that do not, the hardest first."""

    question: str
    positive: str
    negatives: tuple[str, ...]


def questions(*, posts_each: int = 8, seed: int = 0, data: Path = DATA) -> list[Question]:
    """The arguments of the cards, and posts that were written for their stereotypes; English.

    Args:
        posts_each: posts for each stereotype, at most.
        seed: which posts.
        data: the folder of the texts.
    """
    chance = random.Random(seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    rests_on, found = defaultdict[str, set[str]](set), list[Question]()
    cards = [card for card in load_cards("en") if card.fact and not card.stereotype.is_general]
    for card in cards:
        rests_on[card.stereotype.id].add(card.fact or "")
    found += [Question(card.argument, card.stereotype.id, frozenset({card.fact or ""})) for card in cards]
    wordings = defaultdict[str, list[str]](list)
    for row in rows_of(data / "routing"):
        if row.get("language") == "en" and row.get("id") in rests_on:
            wordings[row["id"]].append(row["text"])
    for stereotype, texts in sorted(wordings.items()):
        for text in chance.sample(texts, min(posts_each, len(texts))):
            found.append(Question(text, stereotype, frozenset(rests_on[stereotype])))
    return found


def split_by_stereotype(found: Sequence[Question], *, one_in: int = 5) -> tuple[list[Question], list[Question]]:
    """Questions to learn from and others to measure on: no stereotype is on both sides."""
    names = sorted({question.stereotype for question in found})
    held_out = set(names[::one_in])
    return [q for q in found if q.stereotype not in held_out], [q for q in found if q.stereotype in held_out]


def ranked(
    found: Iterable[Question], embedder: Embedder, *, negatives: int, facts: Sequence[Fact] | None = None
) -> list[Ranked]:
    """Each question with each of its answers, and the nearest facts of the group that are no answer.

    Args:
        found: the questions.
        embedder: what is near.
        negatives: hard negatives for each, at most.
        facts: those that are searched; the starter facts where none are given.
    """
    known = {fact.id: fact for fact in facts or load_facts(STARTER_FACTS)}
    asked = list(found)
    if not asked:
        return []
    near = embedder.encode([q.text for q in asked]) @ embedder.encode([fact.text for fact in known.values()]).T
    ids = list(known)
    rows = []
    for question, closeness in zip(asked, near, strict=True):
        answers = [known[one] for one in sorted(question.answers) if one in known]
        groups = {fact.target_group for fact in answers}
        order = [ids[at] for at in np.argsort(-closeness)]
        hard = [one for one in order if one not in question.answers and known[one].target_group in groups]
        hardest = tuple(known[one].text for one in hard[:negatives])
        rows += [Ranked(question.text, fact.text, hardest) for fact in answers]
    return rows


def columns(rows: Sequence[Ranked], negatives: int) -> Mapping[str, list[str]]:
    """As sentence-transformers reads them: anchor, positive, and so many negatives; rows with fewer are left out."""
    whole = [row for row in rows if len(row.negatives) >= negatives]
    texts: dict[str, list[str]] = {
        "anchor": [row.question for row in whole],
        "positive": [row.positive for row in whole],
    }
    for at in range(negatives):
        texts[f"negative_{at + 1}"] = [row.negatives[at] for row in whole]
    return texts
