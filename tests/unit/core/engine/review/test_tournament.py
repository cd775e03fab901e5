"""The adaptive ranking: it finds the best from few verdicts, whatever a judge's scale and favourite place."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from core.engine.review.tournament import Tournament


def _run(tournament: Tournament, verdict: dict[tuple[int, int], float], limit: int = 100) -> None:
    while (pair := tournament.next_pair()) is not None and len(tournament.asked) < limit:
        tournament.add_verdict(*pair, verdict[pair])


def _verdicts(qualities: list[float], *, scale: float = 1.0, place: float = 0.0) -> dict[tuple[int, int], float]:
    pairs = permutations(range(len(qualities)), 2)
    return {(a, b): scale * (qualities[a] - qualities[b]) + place for a, b in pairs}


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("place", [-3.0, 0.0, 3.0])
def test_scale_and_place_do_not_decide(scale: float, place: float) -> None:
    """A judge that always prefers what it reads first, and says so faintly or loudly, still tells who is best."""
    qualities = [0.0, 2.5, 1.0, -1.0, -2.0, 4.0]
    tournament = Tournament([0.0] * 6)
    _run(tournament, _verdicts(qualities, scale=scale, place=place))
    assert tournament.order[0] == 5
    assert set(tournament.order[:3]) == {5, 1, 2}


def test_fewer_verdicts_than_a_round_robin() -> None:
    """The top is settled with at most two verdicts a candidate where qualities lie apart."""
    qualities = [float(value) for value in range(12)]
    tournament = Tournament(qualities)
    _run(tournament, _verdicts(qualities))
    assert tournament.order[:3] == [11, 10, 9]
    assert len(tournament.asked) <= 24


def test_good_seeds_save_verdicts() -> None:
    """Rewards that agree with the judge settle the ranking sooner than none."""
    qualities = [3.0, 1.5, 0.5, -0.5, -1.5, -3.0]
    seeded, blank = Tournament(qualities), Tournament([0.0] * 6)
    for tournament in (seeded, blank):
        _run(tournament, _verdicts(qualities))
    assert len(seeded.asked) < len(blank.asked)


def test_no_ordered_pair_is_asked_twice() -> None:
    """A judge at temperature 0 repeats itself: asking again costs a call and teaches nothing."""
    tournament = Tournament([0.0] * 4)
    seen: list[tuple[int, int]] = []
    while (pair := tournament.next_pair()) is not None:
        seen.append(pair)
        tournament.add_verdict(*pair, 0.0)
    assert len(seen) == len(set(seen)) <= 12


def test_more_often_right_than_the_seeds_alone() -> None:
    """Over 60 noisy tournaments the winner is the true best clearly more often than the best reward is."""
    chance = random.Random(3)
    found = guessed = 0
    for _ in range(60):
        qualities = [chance.gauss(0, 1) for _ in range(6)]
        seeds = [0.6 * quality + 0.8 * chance.gauss(0, 1) for quality in qualities]
        verdicts = {pair: logit + 0.5 * chance.gauss(0, 1) for pair, logit in _verdicts(qualities, place=0.5).items()}
        tournament = Tournament(seeds)
        _run(tournament, verdicts)
        best = qualities.index(max(qualities))
        found += tournament.order[0] == best
        guessed += seeds.index(max(seeds)) == best
    assert found >= guessed + 10


def test_chances_to_win_follow_the_order() -> None:
    """What is shown as the judge's score ranks as the tournament does, within 0 and 1."""
    tournament = Tournament([0.1, 0.3, 0.2])
    _run(tournament, _verdicts([1.0, -1.0, 0.0]))
    chances = [tournament.chance_to_win(index) for index in tournament.order]
    assert chances == sorted(chances, reverse=True)
    assert all(0 <= chance <= 1 for chance in chances)


def test_the_spread_of_both_orders() -> None:
    """A judge that says the same in both orders has none; one that prefers a place contradicts itself."""
    steady, torn = Tournament([0.0] * 2), Tournament([0.0] * 2)
    for first, second in permutations(range(2), 2):
        steady.add_verdict(first, second, float(first - second))
        torn.add_verdict(first, second, 50.0)
    assert steady.spread(0) == pytest.approx(0)
    assert torn.spread(0) == torn.spread(1) == pytest.approx(1)
    assert Tournament([0.0] * 2).spread(0) is None


@pytest.mark.parametrize("count", [1, 2])
def test_few_candidates(count: int) -> None:
    """One candidate needs no verdict, two need no third."""
    tournament = Tournament([0.0] * count)
    _run(tournament, _verdicts([float(value) for value in range(count)]))
    assert tournament.order[0] == count - 1
