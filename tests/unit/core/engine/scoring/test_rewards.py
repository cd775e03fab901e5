"""The reward is made of what could be computed; what could not is named, never guessed."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.engine.llm.budget import LIVE
from core.engine.ports import Entailment
from core.engine.readers.networks import DraftSigns
from core.engine.scoring.rewards import (
    BUILT_IN,
    WEIGHTS,
    FaithfulnessScorer,
    InferredStanceScorer,
    ReaderScorer,
    Scorers,
    argument_quality,
    embedded_scorers,
    evaluate,
    in_words,
    with_total,
)
from core.errors import ScorerUnavailable
from core.models import Brief, Scores
from tests.fakes.engine.brief import CLAIM, HARBOUR, POST, brief_of, metered, passage
from tests.fakes.engine.embedder import DIMENSION, FakeEmbedder
from tests.fakes.engine.inference import FakeInference
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying

TEXTS = ("We bake bread.", "They sing songs.", "You walk dogs.")


class _Constant:
    """A scorer that gives every text the same."""

    def __init__(self, name: str, value: float | None) -> None:
        self.name, self.value = name, value

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        return [self.value] * len(texts)


class _Own(_Constant):
    def __init__(self, name: str, values: Sequence[float]) -> None:
        super().__init__(name, None)
        self.values = values

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        return [*self.values]


READERS = readers_saying(opposing=0.75)
NUMBERS = tuple(field.name for field in fields(Scores) if field.name != "parts")


def all_at(value: float, **others: float) -> Scores:
    """Every reward that counts at one value, but for those that are named."""
    scores: dict[str, Any] = dict.fromkeys(WEIGHTS, value) | others
    return Scores(**scores)


def test_the_weights_are_a_whole() -> None:
    """Each weight is a share, named after a score that a draft has."""
    assert sum(WEIGHTS.values()) == pytest.approx(1)
    assert all(hasattr(Scores(), name) for name in WEIGHTS)


def test_a_fact_that_nobody_asked_for_is_not_rewarded() -> None:
    """Closeness to the evidence is shown and counts for nothing; whether a reader would post a draft counts most."""
    assert "faithfulness_evidence" not in WEIGHTS
    assert max(WEIGHTS, key=lambda name: WEIGHTS[name]) == "fit"
    assert with_total(Scores(stance=0.5, faithfulness_evidence=1.0)).total == 5


def test_every_reward_has_words() -> None:
    """A moderator reads no name of a field."""
    assert [name for name in (*WEIGHTS, "faithfulness_evidence") if "_" in in_words(name)] == []


def test_full_scores_give_the_weighted_sum() -> None:
    """All at 1 is 10, all at 0 is 0, and each part counts by its weight."""
    assert with_total(all_at(1.0)).total == 10
    assert with_total(all_at(0.0)).total == 0
    for name, weight in WEIGHTS.items():
        alone = with_total(all_at(0.0, **{name: 1.0}))
        assert alone.total == pytest.approx(10 * weight)


async def test_other_weights_weigh_otherwise() -> None:
    """What has none does not count, in the rewards of the loop either."""
    scores = Scores(stance=1.0, non_toxicity=0.5)
    assert with_total(scores, {"non_toxicity": 1.0}).total == 5
    scorers = [_Constant("stance", 1.0), _Constant("non_toxicity", 0.5)]
    rows, _ = await evaluate(brief_of(), TEXTS, scorers, {"stance": 0.2, "non_toxicity": 0.8})
    assert {row.total for row in rows} == {6.0}


def test_missing_parts_are_left_out_of_the_sum() -> None:
    """The weights of what is known are scaled up: a part that nobody computed is neither 0 nor 1."""
    scores = with_total(Scores(non_toxicity=1.0, factuality=0.5))
    one, other = WEIGHTS["non_toxicity"], WEIGHTS["factuality"]
    assert scores.total == pytest.approx(10 * (one * 1.0 + other * 0.5) / (one + other), abs=0.001)
    assert (scores.stance, scores.argument_quality, scores.parts) == (None, None, 2)
    assert with_total(Scores(factuality=0.5)).total == 5


def test_without_any_part_there_is_no_sum() -> None:
    """An old sum does not outlive its parts either; the judge is no part of it."""
    assert with_total(Scores(total=9.0, judge=8.0, parts=3)) == Scores(total=None, judge=8.0, parts=0)


async def test_evaluate_gives_each_text_its_own_scores() -> None:
    """Scores stay with their text, one is not made of another, and factuality is left to the receipts."""
    own = [_Own("stance", (0.25, 0.5, 0.75)), _Own("non_toxicity", (1.0, 0.75, 0.5))]
    rows, _ = await evaluate(brief_of(), TEXTS, own)
    assert [row.stance for row in rows] == [0.25, 0.5, 0.75]
    assert [row.non_toxicity for row in rows] == [1.0, 0.75, 0.5]
    assert all(row.faithfulness_post is row.factuality is row.argument_quality is None for row in rows)
    one, other = WEIGHTS["stance"], WEIGHTS["non_toxicity"]
    assert rows[0].total == pytest.approx(10 * (one * 0.25 + other * 1.0) / (one + other))


async def test_the_reader_of_drafts_gives_four_rewards() -> None:
    """How likely a draft opposes the post, insults nobody, would be posted, and is about this very post."""
    rows, _ = await evaluate(brief_of(), TEXTS, embedded_scorers(READERS))
    assert [row.stance for row in rows] == [0.75] * 3
    assert [row.non_toxicity for row in rows] == [0.99] * 3
    assert [row.fit for row in rows] == [0.75] * 3
    assert [row.faithfulness_post for row in rows] == [0.99] * 3


async def test_the_reader_reads_a_text_once_for_all_rewards(monkeypatch: pytest.MonkeyPatch) -> None:
    """People wait for it; other texts, or another post, are read anew."""
    readers, asked = readers_saying(), list[tuple[str, Sequence[str]]]()
    read = readers.drafts.read

    def seen(post: str, drafts: Sequence[str], language: str | None = None) -> list[DraftSigns]:
        asked.append((post, drafts))
        return read(post, drafts, language)

    monkeypatch.setattr(readers.drafts, "read", seen)
    scorers = embedded_scorers(readers)
    for brief, texts in ((brief_of(), TEXTS), (brief_of(), TEXTS[:1]), (brief_of(text="Go away."), TEXTS[:1])):
        await evaluate(brief, texts, scorers)
    assert asked == [(POST, TEXTS), (POST, TEXTS[:1]), ("Go away.", TEXTS[:1])]


async def test_a_scorer_that_cannot_tell_adds_nothing() -> None:
    """A ``None`` stays one, beside others that could tell."""
    rows, _ = await evaluate(brief_of(), TEXTS, [_Constant("stance", None), _Constant("argument_quality", 0.5)])
    assert [(row.stance, row.faithfulness_post, row.total) for row in rows] == [(None, None, 5.0)] * 3


class _Broken:
    """A scorer whose model is gone."""

    name = "non_toxicity"

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        raise ScorerUnavailable("the model failed: MemoryError")


async def test_a_scorer_that_fails_is_named_and_the_others_stand() -> None:
    """Its score is unknown, not bad, and the moderator reads why."""
    rows, failed = await evaluate(brief_of(), TEXTS, [_Broken(), _Constant("stance", 0.5)])
    assert [(row.non_toxicity, row.stance) for row in rows] == [(None, 0.5)] * 3
    said = "rewards: some drafts have no score for non-toxicity (the model failed: MemoryError)"
    assert failed == {"non_toxicity": said}


async def test_inferred_stance_takes_the_post_as_topic_and_the_reply_as_sentence() -> None:
    """The reply is the premise: what it contradicts or repeats is the post, not the other way round."""
    answers = {
        (TEXTS[0], POST): Entailment(entailment=0.0, contradiction=1.0),
        (TEXTS[1], POST): Entailment(entailment=1.0, contradiction=0.0),
        (POST, TEXTS[2]): Entailment(entailment=0.0, contradiction=1.0),
    }
    inference = FakeInference(answers)
    assert await InferredStanceScorer(inference).score(brief_of(), TEXTS) == [1.0, 0.0, 0.5]
    assert inference.asked == [(text, POST) for text in TEXTS]


async def test_inferred_stance_in_an_unknown_language_is_unknown() -> None:
    """The model is not asked what it cannot read."""
    inference = FakeInference()
    assert await InferredStanceScorer(inference).score(brief_of(language="eu"), TEXTS) == [None] * 3
    assert inference.asked == []


async def test_configured_scorers_replace_the_built_in_ones() -> None:
    """Each score comes from one scorer only; what is not configured stays."""
    built_in = {scorer.name: type(scorer) for scorer in BUILT_IN.over(READERS, "en")}
    chosen = Scorers(_Constant("non_toxicity", 0.5), _Constant("argument_quality", 0.25), FakeInference())
    found = chosen.over(READERS, "en")
    assert sorted(scorer.name for scorer in found) == sorted([*built_in, "argument_quality"])
    types = {scorer.name: type(scorer) for scorer in found}
    assert types["non_toxicity"] is types["argument_quality"] is _Constant
    assert types["faithfulness_claim"] is built_in["faithfulness_claim"]


@pytest.mark.parametrize(
    ("inference", "language", "stance"),
    [
        (None, "en", ReaderScorer),
        (None, "es", None),
        (FakeInference(languages=["es"]), "es", InferredStanceScorer),
        (FakeInference(languages=["es"]), "en", ReaderScorer),
        (FakeInference(languages=["en"]), "en", ReaderScorer),
        (FakeInference(languages=["es"]), None, None),
    ],
)
def test_stance_is_told_by_whoever_reads_the_post(
    inference: FakeInference | None, language: str | None, stance: type | None
) -> None:
    """By the head where it knows the language: it was trained on replies. Where nobody knows it there is no stance."""
    found = {scorer.name: type(scorer) for scorer in Scorers(inference=inference).over(READERS, language)}
    assert found.get("stance") is stance


@pytest.mark.parametrize("language", ["es", "eu", "fi", None])
async def test_an_unknown_language_has_no_score_of_the_reader(language: str | None) -> None:
    """The readers would give a number for any text; outside English it means nothing."""
    brief = brief_of(passage(), language=language)
    scorers = embedded_scorers(READERS)
    assert await evaluate(brief, TEXTS, scorers) == ([Scores()] * 3, {})


async def test_argument_quality_is_the_share_of_yes() -> None:
    """Read from one token; without a readable answer it is unknown, not bad."""
    for shares, quality in (({"yes": 0.75, "no": 0.25}, 0.75), (None, None)):
        model = metered(FakeModel(shares={"quality": shares}))
        assert await argument_quality(brief_of(), TEXTS[0], model) == quality
        assert model.budget.model_calls == 1


async def test_argument_quality_ends_with_the_budget() -> None:
    """What was not asked in time is unknown, not bad."""
    model = metered(FakeModel(), replace(LIVE, max_model_calls=1))
    assert [await argument_quality(brief_of(), text, model) for text in TEXTS] == [0.5, None, None]


async def test_faithfulness_takes_the_best_passage() -> None:
    """A fact that one of two passages carries is not punished for the other."""
    far = passage("Dogs bark.", "other-001")
    scorer = FaithfulnessScorer(FakeEmbedder(), "faithfulness_evidence")
    alone = await scorer.score(brief_of(passage()), [HARBOUR, "Zebras gallop."])
    assert await scorer.score(brief_of(far, passage()), [HARBOUR, "Zebras gallop."]) == alone
    assert alone == [pytest.approx(1, abs=1e-6), 0]


async def test_faithfulness_is_never_negative() -> None:
    """A cosine below 0 is as far from the claim as one can be."""

    class _Opposite(FakeEmbedder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
            vectors[:, 0] = [-1 if text == CLAIM else 1 for text in texts]
            return vectors

    assert await FaithfulnessScorer(_Opposite(), "faithfulness_claim").score(brief_of(), TEXTS) == [0, 0, 0]


@pytest.mark.parametrize("name", ["faithfulness_claim", "faithfulness_evidence"])
async def test_faithfulness_to_nothing_is_unknown(name: str) -> None:
    """Without claim or evidence there is nothing to be faithful to."""
    assert await FaithfulnessScorer(FakeEmbedder(), name).score(brief_of(claim=""), TEXTS) == [None] * 3
