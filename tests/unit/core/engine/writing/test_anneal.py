"""The search prefers better drafts, keeps the best, and ends within its budget with what it has."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from core.engine.llm.budget import MeteredModel
from core.engine.llm.profiles import QUICK, Profile
from core.engine.outcomes import Search
from core.engine.review.assessment import Assessor
from core.engine.review.candidates import Candidate
from core.engine.writing.anneal import SAMPLED_WORDS, anneal, pick, vocabulary
from core.models import Intent, Scores
from tests.fakes.engine.arguments import card_of
from tests.fakes.engine.brief import POST, brief_of, metered, passage
from tests.fakes.engine.model import FakeModel

PROFILE = replace(QUICK, deadline_seconds=3600, rounds=3, proposals=2, samples=1, max_model_calls=100)
CARD = card_of(
    replies=dict.fromkeys(Intent, ("Neighbours bake bread together.", "Migrants and neighbours share a table."))
)


WORDS = ((1, "lantern"), (2, "bridge"), (3, "orchard"))


def _candidate(text: str, total: float | None, intent: Intent = Intent.POSITIVE) -> Candidate:
    return Candidate(text, intent, is_prepared=True, scores=Scores(total=total))


FIRST, SECOND = _candidate("first", 6.0), _candidate("second", 4.0, Intent.DENOUNCING)


class _Assess(Assessor):
    """Scores one proposal after the other as told; what has no score left fails a gate."""

    def __init__(self, *totals: float) -> None:
        self.totals = list(totals)
        self.rounds: list[list[str]] = []

    async def best(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        self.rounds.append([candidate.text for candidate in candidates])
        return [replace(c, scores=Scores(total=self.totals.pop(0))) for c in candidates if self.totals]


def _numbered() -> FakeModel:
    """A model that never writes the same rewrite twice."""
    count = iter(range(10_000))
    return FakeModel(texts={"rewrite": lambda _: f"Rewrite {next(count)} stands."})


async def _search(
    model: FakeModel | MeteredModel, assess: _Assess, profile: Profile = PROFILE, seed: int = 1
) -> tuple[list[Candidate], int, str]:
    under = model if isinstance(model, MeteredModel) else metered(model, profile)
    search = await anneal([SECOND, FIRST], brief_of(passage()), [CARD], under, assess, random.Random(seed))
    return search.found, search.rounds, search.stopped


@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.0, -2.0])
def test_a_temperature_of_one_or_less_is_refused(temperature: float) -> None:
    """At 1 quality plays no part, below it the worse draft would be preferred."""
    with pytest.raises(ValueError, match="above 1"):
        pick([FIRST, SECOND], temperature, 1, random.Random(1))


@pytest.mark.parametrize("temperature", [1.5, 2.0, 3.0])
def test_drafts_are_drawn_in_proportion_to_t_to_the_e(temperature: float) -> None:
    """P ~ T^E (CODEOFCONDUCT, section 3): the frequencies of many draws are near the computed ones."""
    candidates = [_candidate(str(energy), energy) for energy in (5.0, 6.0, 7.0, 8.5)]
    weights = [temperature**candidate.energy for candidate in candidates]
    chance, draws = random.Random(7), 4000
    drawn = Counter(pick(candidates, temperature, 1, chance)[0].text for _ in range(draws))
    shares = [drawn[candidate.text] / draws for candidate in candidates]
    assert shares == pytest.approx([weight / sum(weights) for weight in weights], abs=0.04)
    assert all(worse < better for worse, better in pairwise(shares))


def test_different_drafts_are_picked() -> None:
    """A round does not rewrite the same draft twice, and takes what there is."""
    picked = pick([FIRST, SECOND], 2.0, 5, random.Random(1))
    assert sorted(c.text for c in picked) == ["first", "second"]
    assert pick([], 2.0, 5, random.Random(1)) == []


def test_huge_and_missing_scores_can_be_drawn() -> None:
    """No overflow at a high T, and a draft that could not be scored counts as 0."""
    unscored = _candidate("unscored", None)
    assert pick([_candidate("best", 10.0), unscored], 1e200, 1, random.Random(1))[0].text == "best"
    assert len(pick([unscored, FIRST], 2.0, 2, random.Random(1))) == 2


def test_words_are_sampled_from_what_may_be_said() -> None:
    """The hints hold words of prepared sentences and evidence; of the post only what these use too."""
    bag = vocabulary(brief_of(passage()), [CARD])
    assert {"neighbours", "bread", "harbour", "migrants"} <= set(bag)
    assert not {"welfare", "the", "and", "live"} & set(bag)
    assert bag == sorted(set(bag))


def test_words_are_sampled_from_the_first_cards_only() -> None:
    """The likeliest answers, not all that could be said of the group."""
    others = [card_of(f"migrants/welfare-{n}", {Intent.POSITIVE: [f"We like a {word}."]}) for n, word in WORDS]
    assert {"lantern", "bridge", "orchard"} & set(vocabulary(brief_of(), others)) == {"lantern", "bridge"}


async def test_without_rounds_the_drafts_stay_as_they_were_written() -> None:
    """A person who waits for the live profile gets what there is, and no call is spent."""
    model = _numbered()
    pool, rounds, stopped = await _search(model, _Assess(9.5), replace(PROFILE, rounds=0))
    assert (pool, rounds, stopped) == ([FIRST, SECOND], 0, "round limit")
    assert not model.asked


async def test_a_better_rewrite_comes_first() -> None:
    """A draft that scores higher is always kept, and leads."""
    pool, rounds, stopped = await _search(_numbered(), _Assess(5.0, 8.0, 7.0, 1.0, 2.0, 3.0))
    assert [candidate.energy for candidate in pool] == [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    assert (rounds, stopped) == (3, "round limit")


async def test_worse_rewrites_never_displace_the_best() -> None:
    """The search can only improve on prepared drafts, whatever the model writes."""
    pool, _, _ = await _search(_numbered(), _Assess(*[0.5] * 6))
    assert pool[:2] == [FIRST, SECOND]
    pool, _, _ = await _search(_numbered(), _Assess())
    assert pool == [FIRST, SECOND]


async def test_a_rewrite_keeps_its_parents_intent_and_is_not_prepared() -> None:
    """It is the model's text from then on, held to every gate, under the intent that it began with."""
    pool, _, _ = await _search(_numbered(), _Assess(9.5, 9.4))
    assert {candidate.intent for candidate in pool[:2]} == {FIRST.intent, SECOND.intent}
    assert not any(candidate.is_prepared for candidate in pool[:2])


@pytest.mark.parametrize(("proposals", "samples", "asked"), [(2, 2, [2]), (3, 2, [2, 1]), (2, 4, [2]), (2, 1, [1, 1])])
async def test_samples_of_one_draft_are_asked_for_in_one_call(proposals: int, samples: int, asked: list[int]) -> None:
    """The server reads a prompt once for all of them; there are never more rewrites than the profile allows."""
    model = _numbered()
    await _search(model, _Assess(), replace(PROFILE, rounds=1, proposals=proposals, samples=samples))
    assert [how.n for _, _, how in model.asked if how] == asked


async def test_known_texts_are_not_scored_again() -> None:
    """A model that gives its input back, or the same to every parent, costs no more calls and adds no copies."""
    assess = _Assess(*[5.0] * 6)
    pool, _, _ = await _search(FakeModel(texts={"rewrite": "We all belong here."}), assess)
    assert assess.rounds == [["We all belong here."], [], []]
    assert len(pool) == 3


async def test_the_temperature_starts_at_t0_and_rises(monkeypatch: pytest.MonkeyPatch) -> None:
    """As config.toml says: t0 in the first round, t_step more in each that follows."""
    seen: list[float] = []

    def spy(candidates: Sequence[Candidate], temperature: float, count: int, chance: random.Random) -> list[Candidate]:
        seen.append(temperature)
        return pick(candidates, temperature, count, chance)

    monkeypatch.setattr("core.engine.writing.anneal.pick", spy)
    await _search(_numbered(), _Assess(), replace(PROFILE, t0=1.5, t_step=0.25))
    assert seen == [1.5, 1.75, 2.0]


async def test_the_same_seed_gives_the_same_search() -> None:
    """A suggestion can be repeated: parents, hints and the model's own seeds are the same."""
    runs = []
    for seed in (3, 3, 4):
        model = _numbered()
        pool, _, _ = await _search(model, _Assess(5.0, 8.0, 7.0, 1.0, 2.0, 3.0), seed=seed)
        runs.append((pool, model.asked))
    assert runs[0] == runs[1]
    assert runs[0][1] != runs[2][1]


async def test_the_rewriter_gets_post_draft_and_hints() -> None:
    """The sampled words steer the rewriter; the post stands in its quotation."""
    model = _numbered()
    await _search(model, _Assess(), replace(PROFILE, rounds=1))
    bag = vocabulary(brief_of(passage()), [CARD])
    for _, messages, _ in model.asked:
        asked = messages[-1].content
        hints = asked.rsplit("Words that may help: ", 1)[1].split(", ")
        assert f"<post>{POST}</post>" in asked
        assert ("Reply: first" in asked) or ("Reply: second" in asked)
        assert len(set(hints)) == SAMPLED_WORDS
        assert set(hints) <= set(bag)


async def test_the_target_score_ends_the_search() -> None:
    """Before the first round too: a draft that is good enough costs no rewrite."""
    profile = replace(PROFILE, target_score=8.0)
    pool, rounds, stopped = await _search(_numbered(), _Assess(8.0, 3.0), profile)
    assert (pool[0].energy, rounds, stopped) == (8.0, 1, "target score")
    model = _numbered()
    assert (await _search(model, _Assess(), replace(PROFILE, target_score=6.0)))[1:] == (0, "target score")
    assert not model.asked


async def test_a_spent_budget_ends_the_search_with_the_best_so_far() -> None:
    """What was found in time is kept; the limit is named."""
    pool, rounds, stopped = await _search(_numbered(), _Assess(7.0), replace(PROFILE, max_model_calls=1))
    assert ([candidate.energy for candidate in pool], rounds, stopped) == ([7.0, 6.0, 4.0], 1, "model call limit")


async def test_a_spent_budget_is_named_before_the_target() -> None:
    """Scores that reach the target because others could not be computed are no success of the search."""
    model = metered(_numbered(), replace(PROFILE, target_score=1.0))
    model.budget.started -= PROFILE.deadline_seconds
    assert (await _search(model, _Assess()))[1:] == (0, "deadline")


async def test_late_rounds_are_left_to_the_judge() -> None:
    """In the last quarter of the time nothing new is begun."""
    model = metered(_numbered(), PROFILE)
    model.budget.started -= PROFILE.deadline_seconds * 0.8
    assert (await _search(model, _Assess()))[1:] == (0, "time kept for the judge")
    model.budget.started -= PROFILE.deadline_seconds
    assert (await _search(model, _Assess()))[1:] == (0, "deadline")


async def test_a_model_that_is_gone_leaves_the_pool_as_it_was() -> None:
    """Its failure is no failure of the suggestion."""
    assert (await _search(FakeModel(down=True), _Assess(9.5)))[0] == [FIRST, SECOND]


async def test_nothing_to_start_from_is_said() -> None:
    """An empty pool asks the model for nothing."""
    model = metered(FakeModel(), PROFILE)
    assert await anneal([], brief_of(), [CARD], model, _Assess(), random.Random(1)) == Search(
        [], 0, "no draft passed the gates"
    )
    assert model.budget.model_calls == 0


async def test_each_round_shows_all_drafts_so_far_best_first() -> None:
    """Who waits sees the best one at once."""
    shown: list[list[float]] = []

    async def show(pool: Sequence[Candidate]) -> None:
        shown.append([candidate.energy for candidate in pool])

    model = metered(_numbered(), replace(PROFILE, rounds=2, proposals=1, samples=1, target_score=10.0))
    await anneal([SECOND, FIRST], brief_of(), [CARD], model, _Assess(5.0, 8.0), random.Random(1), show)
    assert shown == [[6.0, 5.0, 4.0], [8.0, 6.0, 5.0, 4.0]]
