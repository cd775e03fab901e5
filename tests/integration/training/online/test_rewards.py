"""Rewards as functions of text, against numbers that were written by hand."""

from collections.abc import Sequence
from typing import Any

import pytest

from core.engine.ports import Entailment
from core.engine.readers.networks import DraftSigns
from core.engine.readers.outputs import DraftFault
from core.errors import BadInput
from core.models import Brief, Intent
from tests.fakes.engine.embedder import FakeEmbedder
from tests.fakes.engine.inference import FakeInference
from training.online.rewards import REFUSED, Choice, Rewards
from training.online.run import refuses, rows

NO_FAULT = dict.fromkeys(DraftFault, 0.0)
GOOD, BAD = "Our street is better for them.", "See http://example.org for more."
HARBOUR = "In 2021, newcomers held 340 of the 900 jobs in the harbour."
COUNTED = "Newcomers held 340 of the 900 jobs."
SIGNS = {
    GOOD: DraftSigns(0.1, 0.9, {**NO_FAULT, DraftFault.GENERIC: 0.3}, dict.fromkeys(Intent, 0.2)),
    BAD: DraftSigns(0.8, 0.4, {**NO_FAULT, DraftFault.INSULTS: 0.7}, dict.fromkeys(Intent, 0.2)),
    COUNTED: DraftSigns(0.2, 0.8, NO_FAULT, dict.fromkeys(Intent, 0.2)),
    HARBOUR: DraftSigns(0.2, 0.6, NO_FAULT, dict.fromkeys(Intent, 0.2)),
}
COLUMNS = {"post": ["p", "p"], "language": ["en", "en"], "intent": ["positive", "denouncing"]}


class _Reader:
    """Says what was written above, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked = list[tuple[str, tuple[str, ...]]]()

    def read(self, post: str, drafts: Sequence[str], language: str | None = None) -> list[DraftSigns]:
        self.asked.append((post, tuple(drafts)))
        return [SIGNS[draft] for draft in drafts]


class _Quality:
    """Argument quality by hand."""

    name = "argument_quality"

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        return [{GOOD: 0.6, BAD: 0.2}[text] for text in texts]


def test_each_reward_by_hand_and_all_replies_to_a_post_read_once() -> None:
    reader = _Reader()
    functions = Rewards(reader, FakeEmbedder()).functions()
    found = {one.__name__: one([[{"role": "assistant", "content": GOOD}], BAD], **COLUMNS) for one in functions}
    assert found == {
        "stance": [0.9, 0.4],
        "non_toxicity": [1.0, pytest.approx(0.3)],
        "fit": [0.9, pytest.approx(0.2)],
        "faithfulness_post": [0.7, 1.0],
        "faithfulness_claim": [None, None],
        "intent": [0.2, 0.2],
        "gates": [0.0, REFUSED],
    }
    assert reader.asked == [("p", (GOOD, BAD))]


def test_replies_to_several_posts_keep_their_places() -> None:
    reader = _Reader()
    columns = {"post": ["p", "q", "p"], "language": ["en"] * 3}
    assert Rewards(reader, FakeEmbedder()).stance([GOOD, COUNTED, BAD], **columns) == [0.9, 0.8, 0.4]
    assert reader.asked == [("p", (GOOD, BAD)), ("q", (COUNTED,))]


def test_coarls_reward_is_its_three_parts() -> None:
    rewards = Rewards(_Reader(), FakeEmbedder(), Choice("coarl", quality="a regressor"), _Quality())
    found = {one.__name__: one([GOOD, BAD], **COLUMNS) for one in rewards.functions()}
    assert list(found) == ["stance", "argument_quality", "non_toxicity"]
    assert found["argument_quality"] == [0.6, 0.2]


def _with_evidence() -> tuple[Rewards, dict[str, Any]]:
    inference = FakeInference({(HARBOUR, COUNTED): Entailment(0.7, 0.1)})
    columns = {
        "post": ["p"] * 4,
        "language": ["en"] * 4,
        "intent": ["informative"] * 4,
        "claim": [COUNTED] * 3 + [""],
        "evidence": [[HARBOUR]] * 3 + [[]],
    }
    choice = Choice("f2rl", inference="a model")
    return Rewards(_Reader(), FakeEmbedder(), choice, inference=inference), columns


def test_facts_are_held_against_the_evidence_and_replies_against_claim_and_evidence() -> None:
    """The passage has all words of the counted fact and two more: harbour and the year, which count as the others."""
    rewards, columns = _with_evidence()
    texts = [COUNTED, HARBOUR, GOOD, COUNTED]
    assert rewards.factuality(texts, **columns) == [0.7, 1.0, None, None]
    vectors = FakeEmbedder().encode([COUNTED, HARBOUR, GOOD])
    near, far = float(vectors[0] @ vectors[1]), float(vectors[2] @ vectors[1])
    assert 0.5 < near < 1
    assert rewards.faithfulness_claim(texts[:2] + texts[3:], **{k: v[:2] + v[3:] for k, v in columns.items()}) == [
        pytest.approx(1.0),
        pytest.approx(near),
        None,
    ]
    assert rewards.faithfulness_evidence(texts, **columns) == [
        pytest.approx(near),
        pytest.approx(1.0),
        pytest.approx(far),
        None,
    ]


def test_a_figure_passes_the_gates_only_with_evidence() -> None:
    rewards, columns = _with_evidence()
    assert rewards.gates([COUNTED] * 4, **columns) == [0.0, 0.0, 0.0, REFUSED]


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("coarl", "needs a model for argument_quality"),
        ("f2rl", "needs a model for factuality"),
        ("kind", "There is no reward kind"),
    ],
)
def test_a_papers_reward_is_not_learnt_in_part(choice: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        rows(Choice(choice))


def test_prompts_with_evidence_carry_it_to_the_rewards() -> None:
    own, papers = rows(Choice()), rows(Choice("f2rl", inference="a model"))
    sourced = [row for row in own if row["evidence"]]
    assert papers == sourced
    assert len(own) == 5 * len({row["post"] for row in own})
    assert 0.3 * len(own) / 5 < len(sourced) < len(own) / 5
    for row in sourced[:50]:
        assert row["intent"] == "informative"
        assert row["claim"] in row["prompt"][-1]["content"]
        assert row["evidence"][0] in row["prompt"][-1]["content"]


def test_what_the_application_would_never_show_is_refused() -> None:
    post = "They should all go home."
    assert refuses("Our neighbours are home already, and the street is better for it.", post, "en") is None
    assert refuses("Nearly 83.2% of them work here, see http://example.org.", post, "en")
    assert refuses("", post, "en")
