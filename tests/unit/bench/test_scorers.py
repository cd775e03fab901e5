"""The rows that scorers are tested on: what is called true is true, what is called false is not; all invented."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bench.judging.matrices import MATRIX, record
from bench.measuring.samples import Log, Sample
from bench.replies.remembered import RememberedModel
from bench.scoring.scorers import alter_number, entailment, entailment_rows, hate, quality_rows, stance, stance_rows
from core.engine import Engine
from core.models import TargetGroup
from core.wording.text import words
from kb.starter.facts import STARTER_FACTS, load_facts
from tests.fakes.engine.brief import POST, passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.router import router_to

SAMPLES = [
    Sample("1", "They take our jobs.", "migrants", "Newcomers open shops."),
    Sample("2", "They live off us.", "migrants", "Newcomers pay rent."),
    Sample("3", "They cannot lead.", "women", "She runs the town well."),
]


def test_only_the_own_reply_counts_as_opposing() -> None:
    """Against the post agreed to, another post of the group, and a reply to a post about another group."""
    agreed, other, shuffled = stance_rows(SAMPLES, SAMPLES, random.Random(0)).values()
    for rows in (agreed, other, shuffled):
        assert [(post, text) for post, text, label, _ in rows if label] == [(s.post, s.human_reply) for s in SAMPLES]
    assert all(text.endswith(post) and text != post for post, text, label, _ in agreed if not label)
    assert [(id_, text) for _, text, label, id_ in other if not label] == [
        ("1", SAMPLES[1].post),
        ("2", SAMPLES[0].post),
    ]
    assert all(text == SAMPLES[2].human_reply for _, text, label, id_ in shuffled if not label and id_ != "3")


def test_disorder_keeps_the_words_of_a_reply() -> None:
    """So that only their order can tell the two apart."""
    rows = quality_rows(SAMPLES, SAMPLES, random.Random(1))["quality: own reply or its words in disorder"]
    replies = {id_: text for _, text, label, id_ in rows if label}
    for _, text, label, id_ in rows:
        assert sorted(words(text)) == sorted(words(replies[id_]))
        assert label or words(text) != words(replies[id_]) or len(words(text)) < 4


def test_one_digit_of_one_number_is_altered() -> None:
    """And nothing else; a text without a number stays out."""
    text = "In 2021 newcomers held 340 jobs."
    for seed in range(20):
        changed = alter_number(text, random.Random(seed))
        assert changed is not None
        assert sum(left != right for left, right in zip(text, changed, strict=True)) == 1
    assert alter_number("Newcomers work.", random.Random(0)) is None


def test_a_passage_carries_its_own_sentence_only() -> None:
    """Sentences of other passages are of the same group, so that the topic does not give them away."""
    facts = load_facts(STARTER_FACTS)[:40]
    group = {fact.text: fact.target_group for fact in facts}
    own_or_other, own_or_altered = entailment_rows(facts[:20], facts, random.Random(0)).values()
    for passage_text, text, label, _ in own_or_other:
        assert (text in passage_text) == bool(label)
        holder = next(fact for fact in facts if text in fact.text)
        assert holder.target_group is group[passage_text]
    assert all((text in passage_text) == bool(label) for passage_text, text, label, _ in own_or_altered)


async def test_receipts_see_an_altered_number_without_asking() -> None:
    """The model takes all for supported here; the check of numbers does not."""
    facts = load_facts(STARTER_FACTS)[:30]
    engine = Engine(FakeModel(shares={"entailment": {"yes": 0.9, "no": 0.1}}), FakeEvidence(), readers_saying())
    found = {one.name: one for one in await entailment(engine, facts, facts, seed=0)}
    alone = found["entailment alone: own sentence or one with another number"]
    checked = found["receipts: own sentence or one with another number"]
    assert set(alone.probabilities) == {0.9}
    assert {p for p, label in zip(checked.probabilities, checked.labels, strict=True) if label} == {1.0}
    assert {p for p, label in zip(checked.probabilities, checked.labels, strict=True) if not label} == {0.0}


def test_the_readers_are_asked_for_every_row() -> None:
    """With the classes beside what they said."""
    for found in (
        hate(readers_saying(hate=0.2), SAMPLES),
        *stance(readers_saying(opposing=0.9), SAMPLES, SAMPLES, seed=0),
    ):
        assert len(found.probabilities) == len(found.labels) == len(found.posts)
        assert set(found.labels) == {0, 1}
    assert hate(readers_saying(hate=0.2), SAMPLES).probabilities == pytest.approx([0.2] * 2 * len(SAMPLES))


async def test_matrices_hold_every_ordered_pair_and_no_text(tmp_path: Path) -> None:
    """Six drafts have thirty verdicts; a second run asks nothing; a post about nobody known is left out."""
    model = FakeModel(shares={"judge": {"A": 0.6, "B": 0.4}})
    engine = Engine(model, FakeEvidence([passage()]), readers_saying(), router=router_to())
    samples = [Sample("1", POST, TargetGroup.MIGRANTS), Sample("2", POST, "somebody else")]
    path = tmp_path / "matrices.jsonl"
    await record(engine, samples, 6, Log(path, {}))
    (row,) = Log(path, {}).of_kind(MATRIX)
    assert row.keys() == {"kind", "id", "seeds", "logits"}
    assert (len(row["seeds"]), len(row["logits"]), len(model.asked)) == (6, 30, 30)
    await record(engine, samples, 6, Log(path, {}))
    assert len(model.asked) == 30


async def test_a_choice_that_was_kept_is_not_asked_again(tmp_path: Path) -> None:
    """Not even by the next run; another prompt is, and no text stands in the log."""
    facts, path, calls = load_facts(STARTER_FACTS)[:6], tmp_path / "log.jsonl", []
    for _ in range(2):
        model = FakeModel(shares={"entailment": {"yes": 0.9, "no": 0.1}})
        remembering = RememberedModel(model, Log(path, {}))
        found = await entailment(Engine(remembering, FakeEvidence(), readers_saying()), facts, facts, seed=0)
        assert set(found[0].probabilities) == {0.9}
        calls.append(len(model.asked))
    assert calls[0] > 0 == calls[1]
    assert facts[0].text.split(".")[0] not in path.read_text(encoding="utf-8")
