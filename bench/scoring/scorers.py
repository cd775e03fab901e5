"""Measures every scorer on rows with a known class that it was not trained on.

The classes are constructed, not rated: a human reply opposes its post, another hateful post does not; a passage
supports its own sentence, but not the same sentence with another number. So a figure says how well a scorer tells these
apart.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.measuring.calibration import Labelled
from bench.measuring.samples import Sample
from bench.replies.systems import brief_of, post_of
from core.engine import Engine
from core.llm.budget import Budget, MeteredModel
from core.llm.profiles import PAPER
from core.llm.prompting import load_prompt
from core.models import Action, Brief, Evidence, Intent, Reading, Verdict
from core.scoring.readers.readers import Readers
from core.scoring.receipts import verify
from core.scoring.rewards import argument_quality
from core.wording.text import sentences, words
from kb.starter.facts import Fact

AGREEMENTS = (
    "You have a point.", "I agree.", "That is true:", "Sadly,", "It is a fact that", "Nobody can deny it.",
    "Well said.", "I understand your worries.", "You are right to say so.", "Unfortunately this is so.", "Yes,",
    "Exactly.",
)  # fmt: skip
"""Words before a post that agree with it."""
TOPIC = "stance: own reply or one to another group's post"
_DIGITS = re.compile(r"\d+")
Triple = tuple[str, str, int, str]
"""A post or passage, a text, the class of the text, and the post that the row belongs to."""


def stance_rows(samples: Sequence[Sample], pool: Sequence[Sample], chance: random.Random) -> dict[str, list[Triple]]:
    """Each post with its reply (1) and with a text that does not answer it (0), by the kind of text.

    The first two do not oppose. A reply to another group's post opposes hate too, so telling it apart measures whether
    the scorer sees the topic, which stance alone need not.
    """
    own = [(sample.post, sample.human_reply, 1, sample.id) for sample in samples]
    mates = {sample.id: _other(sample, pool, chance, same_group=True) for sample in samples}
    strangers = {sample.id: _other(sample, pool, chance, same_group=False) for sample in samples}
    agreed = [(s.post, f"{chance.choice(AGREEMENTS)} {s.post}", 0, s.id) for s in samples]
    other = [(s.post, mate.post, 0, s.id) for s in samples if (mate := mates[s.id])]
    shuffled = [(s.post, stranger.human_reply, 0, s.id) for s in samples if (stranger := strangers[s.id])]
    return {
        "stance: own reply or the post agreed to": own + agreed,
        "stance: own reply or another hateful post": own + other,
        TOPIC: own + shuffled,
    }


def stance(readers: Readers, samples: Sequence[Sample], pool: Sequence[Sample], seed: int) -> list[Labelled]:
    """The reader of drafts on ``stance_rows``. Blocking."""
    chance = random.Random(seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    found = [
        _labelled(name, rows, [readers.drafts.read(post, [text])[0].opposes for post, text, _, _ in rows])
        for name, rows in stance_rows(samples, pool, chance).items()
    ]
    return [replace(one, is_probability_of_label=one.name != TOPIC) for one in found]


def hate(readers: Readers, samples: Sequence[Sample]) -> Labelled:
    """The reader of posts on posts (1) and the replies to them (0). Blocking."""
    rows = [(s.post, s.post, 1, s.id) for s in samples] + [(s.post, s.human_reply, 0, s.id) for s in samples]
    return _labelled(
        "hate: posts or human replies", rows, [float(p) for p in readers.posts.hateful([row[1] for row in rows])]
    )


def intents(readers: Readers, rows: Sequence[Mapping[str, Any]]) -> list[Labelled]:
    """The intents that the reader of drafts gives labelled replies: one intent against the others. Blocking."""
    labels = [Intent(str(row["intent"])) for row in rows]
    posts = [str(row["post"]) for row in rows]
    read = readers.drafts.read
    shares = [read(post, [str(row["reply"])])[0].intents for post, row in zip(posts, rows, strict=True)]
    return [
        Labelled(f"intent: {intent}", [one[intent] for one in shares], [int(own == intent) for own in labels], posts)
        for intent in sorted(set(labels))
    ]


def quality_rows(samples: Sequence[Sample], pool: Sequence[Sample], chance: random.Random) -> dict[str, list[Triple]]:
    """Each post with its reply (1), and with a hateful post of the pool or the reply's words in disorder (0)."""
    own = [(sample.post, sample.human_reply, 1, sample.id) for sample in samples]
    mates = {sample.id: _other(sample, pool, chance, same_group=True) for sample in samples}
    other = [(s.post, mate.post, 0, s.id) for s in samples if (mate := mates[s.id])]
    disorder = [(s.post, _disordered(s.human_reply, chance), 0, s.id) for s in samples]
    return {
        "quality: own reply or another hateful post": own + other,
        "quality: own reply or its words in disorder": own + disorder,
    }


async def quality(engine: Engine, samples: Sequence[Sample], pool: Sequence[Sample], seed: int) -> list[Labelled]:
    """Argument quality by the language model on ``quality_rows``; rows without an answer are left out."""
    chance, found = random.Random(seed), list[Labelled]()  # nosec B311 # noqa: S311 - repeatable, no secret
    sample_of = {sample.id: sample for sample in samples}
    model, said = MeteredModel(engine.model, Budget(PAPER)), dict[tuple[str, str], float | None]()
    for name, rows in quality_rows(samples, pool, chance).items():
        for post, text, _, id_ in rows:
            if (post, text) not in said:
                said[post, text] = await argument_quality(brief_of(sample_of[id_]), text, model)
        found.append(_labelled(name, rows, [said[post, text] for post, text, _, _ in rows]))
    return found


def entailment_rows(facts: Sequence[Fact], pool: Sequence[Fact], chance: random.Random) -> dict[str, list[Triple]]:
    """Each passage with a sentence of its own (1), and with another's of its group or with one number altered (0)."""
    parts = {fact.id: chance.choice(sentences(fact.text)) for fact in (*facts, *pool)}
    own = [(fact.text, parts[fact.id], 1, fact.id) for fact in facts]
    other, altered = list[Triple](), list[Triple]()
    for fact in facts:
        mates = [mate for mate in pool if mate.target_group is fact.target_group and mate.id != fact.id]
        if mates:
            other.append((fact.text, parts[chance.choice(mates).id], 0, fact.id))
        changed = alter_number(parts[fact.id], chance)
        if changed:
            altered.append((fact.text, changed, 0, fact.id))
    return {"own sentence or another passage's": own + other, "own sentence or one with another number": own + altered}


async def entailment(engine: Engine, facts: Sequence[Fact], pool: Sequence[Fact], seed: int) -> list[Labelled]:
    """Entailment by one token of the model alone, and as the receipts use it: with quotation and numbers checked."""
    chance, found = random.Random(seed), list[Labelled]()  # nosec B311 # noqa: S311 - repeatable, no secret
    fact_of = {fact.id: fact for fact in facts}
    model = MeteredModel(engine.model, Budget(PAPER))
    for name, rows in entailment_rows(facts, pool, chance).items():
        alone = [await _entails(passage, text, model) for passage, text, _, _ in rows]
        checked = [await _carried(fact_of[id_], text, model, engine.readers) for _, text, _, id_ in rows]
        found += [_labelled(f"entailment alone: {name}", rows, alone), _labelled(f"receipts: {name}", rows, checked)]
    return found


def alter_number(text: str, chance: random.Random) -> str | None:
    """The text with one of its numbers changed by a digit; ``None`` where it has none."""
    places = list(_DIGITS.finditer(text))
    if not places:
        return None
    place = chance.choice(places)
    digits = place.group()
    at = chance.randrange(len(digits))
    digit = chance.choice([other for other in "123456789" if other != digits[at]])
    return text[: place.start()] + digits[:at] + digit + digits[at + 1 :] + text[place.end() :]


async def _entails(passage: str, sentence: str, model: MeteredModel) -> float | None:
    shares = await model.choose(load_prompt("entailment").fill(evidence=passage, sentence=sentence), ("yes", "no"))
    return None if shares is None else shares["yes"]


async def _carried(fact: Fact, sentence: str, model: MeteredModel, readers: Readers) -> float | None:
    """The receipt's probability; ``None`` where the sentence does not count as a statement of fact."""
    reading = Reading("en", fact.target_group, None, None, None, None, None, None, None, Action.REPLY, "benchmark")
    evidence = Evidence(fact.id, fact.text, fact.text, fact.source)
    brief = Brief(post_of(Sample(fact.id, "A post.")), reading, "", (evidence,))
    receipts, _ = await verify(sentence, brief, frozenset(), model, readers.embedder)
    known = [receipt.probability or 0.0 for receipt in receipts if receipt.verdict is not Verdict.UNVERIFIED]
    return min(known) if known else None


def _other(sample: Sample, samples: Sequence[Sample], chance: random.Random, *, same_group: bool) -> Sample | None:
    found = [
        other
        for other in samples
        if other.id != sample.id and (other.target_group == sample.target_group) is same_group
    ]
    return chance.choice(found) if found else None


def _disordered(text: str, chance: random.Random) -> str:
    own = words(text)
    return f"{' '.join(chance.sample(own, len(own)))}."


def _labelled(name: str, rows: Sequence[Triple], chances: Sequence[float | None]) -> Labelled:
    known = [(chance, row) for chance, row in zip(chances, rows, strict=True) if chance is not None]
    return Labelled(name, [chance for chance, _ in known], [row[2] for _, row in known], [row[3] for _, row in known])


async def every_scorer(
    engine: Engine, pool: Sequence[Sample], replies: Sequence[Mapping[str, Any]], facts: Sequence[Fact], limit: int,
    seed: int,
) -> list[Labelled]:  # fmt: skip
    """All of the above on at most ``limit`` posts and facts; the intents only where labelled replies are given.

    The texts to compare a post or a fact with are drawn from all of them.
    """
    answered = [sample for sample in pool if sample.human_reply]
    samples, some = answered[:limit], facts[:: -(-len(facts) // limit)]
    found = await asyncio.to_thread(stance, engine.readers, samples, answered, seed)
    found.append(await asyncio.to_thread(hate, engine.readers, samples))
    found += await asyncio.to_thread(intents, engine.readers, replies) if replies else []
    found += await quality(engine, samples, answered, seed)
    return found + await entailment(engine, some, facts, seed)
