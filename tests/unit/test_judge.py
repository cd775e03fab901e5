"""A comparison that no place can win, and a ranking in which what nobody checked comes last."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest

from core.drafting import Candidate
from core.judge import best_of_each_intent, judge, ranked, seeded, verdict
from core.models import Intent, Receipt, Scores, Verdict
from core.ports import Message
from core.profiles import QUICK
from tests.fakes.brief import PATIENT, brief_of, metered
from tests.fakes.model import FakeModel, Shares

UNSUPPORTED = (Receipt("x", None, Verdict.UNSUPPORTED, None),)
BRIEF = brief_of()


def _candidate(
    text: str,
    total: float | None = 5.0,
    intent: Intent = Intent.POSITIVE,
    judge: float | None = None,
    receipts: tuple[Receipt, ...] = (),
) -> Candidate:
    return Candidate(text, intent, is_vetted=False, scores=Scores(total=total, judge=judge), receipts=receipts)


MERIT = {"good": 3.0, "fair": 2.0, "poor": 1.0, "bad": 0.6, "worse": 0.4, "worst": 0.2}
THREE = [_candidate(text) for text in ("good", "fair", "poor")]
SIX = [_candidate(text) for text in MERIT]


def _replies(messages: Sequence[Message]) -> tuple[str, str]:
    lines = messages[-1].content.splitlines()
    first, second = (line.removeprefix(f"Reply {letter}: ") for letter, line in zip("AB", lines[1:], strict=False))
    return first, second


def _by_merit(messages: Sequence[Message], _: object) -> Shares:
    """A judge that knows good from fair from poor, and leans to A a little."""
    first, second = (MERIT[reply] for reply in _replies(messages))
    share = 0.6 * (first / (first + second)) + 0.4
    return {"A": share, "B": 1 - share}


def _texts(candidates: Sequence[Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


async def test_a_verdict_is_about_what_is_read_first() -> None:
    """The share of A is the first reply's, and the call counts as the judge's."""
    fake = FakeModel(shares={"judge": {"A": 0.75, "B": 0.25}})
    model = metered(fake)
    assert await verdict(BRIEF, "left", "right", model) == pytest.approx(math.log(3))
    assert [_replies(messages) for _, messages, _ in fake.asked] == [("left", "right")]
    assert model.budget.judge_calls == 1


async def test_a_sure_verdict_is_finite() -> None:
    """A share of 1 would outweigh every other verdict for ever."""
    assert await verdict(BRIEF, "a", "b", metered(FakeModel(shares={"judge": {"A": 1.0, "B": 0.0}}))) == pytest.approx(
        math.log(999)
    )


@pytest.mark.parametrize("letter", ["A", "B"])
async def test_a_judge_that_only_knows_a_place_scores_everybody_equal(letter: str) -> None:
    """Small judges do; their verdict must not rank anything."""
    shares = {"A": 0.0, "B": 0.0} | {letter: 1.0}
    judged, degraded = await judge(THREE, BRIEF, metered(FakeModel(shares={"judge": shares})))
    assert [candidate.scores.judge for candidate in judged] == [5.0, 5.0, 5.0]
    assert degraded == []


async def test_the_better_reply_wins_whatever_its_place() -> None:
    """Entering last or first changes nothing, and what one gains the other loses."""
    for entrants in (THREE, THREE[::-1]):
        judged, _ = await judge(entrants, BRIEF, metered(FakeModel(shares={"judge": _by_merit})))
        scores = {candidate.text: candidate.scores.judge or 0.0 for candidate in judged}
        assert scores["good"] > scores["fair"] > scores["poor"]
        assert sum(scores.values()) == pytest.approx(15, abs=0.01)


async def test_a_round_robin_compares_every_pair_in_both_orders() -> None:
    """The published tournament: n (n - 1) calls, each ordered pair once."""
    fake = FakeModel(shares={"judge": _by_merit})
    await judge(SIX, BRIEF, metered(fake, replace(PATIENT, is_round_robin=True)))
    assert sorted(_replies(messages) for _, messages, _ in fake.asked) == sorted(permutations(MERIT, 2))


async def test_at_most_two_verdicts_for_each_candidate() -> None:
    """The reduced tournament asks for a fraction of the round robin, even of a judge that never decides."""
    model = metered(FakeModel(shares={"judge": {"A": 0.5, "B": 0.5}}), PATIENT)
    await judge(SIX, BRIEF, model)
    assert model.budget.judge_calls == 12


async def test_the_orders_disagreement_is_reported() -> None:
    """A judge that always says A contradicts itself completely; one that knows its mind does not."""
    torn, _ = await judge(THREE, BRIEF, metered(FakeModel(shares={"judge": {"A": 1.0, "B": 0.0}})))
    assert [candidate.scores.judge_spread for candidate in torn] == [pytest.approx(9.98)] * 3


async def test_the_judge_changes_nothing_but_its_score() -> None:
    """Rewards, receipts and warnings stay as they were computed."""
    full = [replace(candidate, receipts=UNSUPPORTED, warnings=("look",)) for candidate in THREE]
    judged, _ = await judge(full, BRIEF, metered(FakeModel(shares={"judge": _by_merit})))
    assert [replace(c, scores=replace(c.scores, judge=None, judge_spread=None)) for c in judged] == full


async def test_without_a_verdict_there_is_no_score() -> None:
    """A judge that gives no letter scores nobody, least of all with full marks, and the reason is given once."""
    judged, degraded = await judge(THREE, BRIEF, metered(FakeModel(shares={"judge": None})))
    assert judged == THREE
    assert degraded == ["judge: a pair got no readable verdict"]


async def test_an_unreadable_pair_is_left_out() -> None:
    """The other verdicts still rank, and that one is missing is told."""

    def silent(messages: Sequence[Message], options: object) -> Shares:
        return None if set(_replies(messages)) == {"good", "poor"} else _by_merit(messages, options)

    judged, degraded = await judge(THREE, BRIEF, metered(FakeModel(shares={"judge": silent})))
    assert _texts(sorted(judged, key=lambda c: -(c.scores.judge or 0))) == ["good", "fair", "poor"]
    assert degraded == ["judge: a pair got no readable verdict"]


async def test_a_spent_budget_scores_whom_a_verdict_is_about() -> None:
    """Who was never compared has no score, and the limit is named."""
    model = metered(FakeModel(shares={"judge": _by_merit}), replace(QUICK, max_model_calls=10))
    model.budget.model_calls = 9
    judged, degraded = await judge(THREE, BRIEF, model)
    assert sorted(candidate.scores.judge is None for candidate in judged) == [False, False, True]
    assert degraded == [
        "judge: stopped before the first places were settled (The model call limit of the quick profile is reached.)"
    ]


async def test_a_draft_alone_is_not_judged() -> None:
    """Nobody to compare with is no victory; that there is no score has its reason."""
    model = FakeModel()
    assert await judge(THREE[:1], BRIEF, metered(model)) == (
        THREE[:1],
        ["judge: one draft alone cannot be compared"],
    )
    assert await judge([], BRIEF, metered(model)) == ([], [])
    assert not model.asked


def test_the_order_is_the_mean_of_reward_and_judge() -> None:
    """Neither alone decides."""
    drafts = [_candidate("a", 9.0, judge=2.0), _candidate("b", 6.0, judge=6.0), _candidate("c", 4.0, judge=9.0)]
    assert _texts(ranked(drafts)) == ["c", "b", "a"]


def test_unsupported_drafts_come_last() -> None:
    """However well they are written: a wrong fact harms the people defended."""
    unverified = (Receipt("x", "migrants-001", Verdict.UNVERIFIED, None),)
    drafts = [
        _candidate("wrong", 10.0, judge=10.0, receipts=UNSUPPORTED),
        _candidate("unchecked", 9.0, judge=9.0, receipts=unverified),
        _candidate("carried", 1.0, judge=1.0, receipts=(Receipt("x", "m", Verdict.SUPPORTED, 0.9),)),
        _candidate("no facts", 2.0, judge=2.0),
    ]
    assert _texts(ranked(drafts)) == ["no facts", "carried", "wrong", "unchecked"]


def test_the_rewards_decide_where_not_all_were_judged() -> None:
    """A judge's marks lie around 5: a draft that it did not reach must not win by that."""
    drafts = [_candidate("unjudged", 7.0), _candidate("judged", 8.0, judge=5.5)]
    assert _texts(ranked(drafts)) == ["judged", "unjudged"]
    assert _texts(ranked([_candidate("unscored", None), _candidate("scored", 3.0)])) == ["scored", "unscored"]


def test_each_intent_sends_its_best_first() -> None:
    """A moderator gets a choice between manners, not four of a kind; evidence counts before the score."""
    drafts = [
        _candidate("positive 9", 9.0),
        _candidate("positive 8", 8.0),
        _candidate("positive 7", 7.0),
        _candidate("denouncing 6", 6.0, Intent.DENOUNCING, receipts=UNSUPPORTED),
        _candidate("denouncing 2", 2.0, Intent.DENOUNCING),
    ]
    assert set(_texts(best_of_each_intent(drafts))) == {"positive 9", "denouncing 2"}
    assert set(_texts(best_of_each_intent(drafts, 2))) == set(_texts(drafts)) - {"positive 7"}
    assert set(_texts(seeded(drafts, 2))) == {"positive 9", "denouncing 2"}
    assert _texts(seeded(drafts, 9))[2:] == ["positive 8", "positive 7", "denouncing 6"]
