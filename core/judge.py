"""Stage 5: pairwise comparison in both orders, and the ranking that follows.

Owns the judge's reading of a pair (the share of "A" against "B" in one token: hard verdicts of a small model only tell
the place) and the tournament of CODEOFCONDUCT (section 3): every pair of the best drafts, both orders. Without an
answer there is no score, never full marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean

from core.budget import MeteredModel
from core.drafting import Candidate
from core.errors import ModelUnavailable
from core.models import Brief, Intent
from core.prompting import load_prompt, quoted


async def compare(brief: Brief, left: str, right: str, model: MeteredModel) -> float | None:
    """The share, in [0, 1], that the judge gives to ``left``, averaged over both orders; ``None`` without an answer.

    Raises:
        ModelUnavailable: the budget is spent or the model is gone.
    """
    shares = []
    for first, second, letter in ((left, right, "A"), (right, left, "B")):
        prompt = load_prompt("judge").fill(post=quoted(brief.post.text), first=first, second=second)
        answer = await model.choose(prompt, ("A", "B"), judging=True)
        if answer is None:
            return None
        shares.append(answer[letter])
    return fmean(shares)


def best_of_each_intent(candidates: Sequence[Candidate], each: int = 1) -> list[Candidate]:
    """The ``each`` best candidates of each intent by reward, those that evidence carries first."""
    best: dict[Intent, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda candidate: (candidate.is_unsupported, -candidate.energy)):
        best.setdefault(candidate.intent, []).append(candidate)
    return [candidate for found in best.values() for candidate in found[:each]]


def seeded(candidates: Sequence[Candidate], count: int) -> list[Candidate]:
    """The candidates that enter the tournament: the best of each intent first, then the others by reward."""
    first = best_of_each_intent(candidates)
    rest = sorted((c for c in candidates if c not in first), key=lambda c: (c.is_unsupported, -c.energy))
    return [*first, *rest][:count]


async def judge(
    candidates: Sequence[Candidate], brief: Brief, model: MeteredModel
) -> tuple[list[Candidate], list[str]]:
    """The candidates with the judge's score: ten times the mean share over all their pairs, both orders.

    A candidate whose pairs could not all be judged has no score, and the reason is given.
    """
    wins: dict[str, list[float]] = {candidate.text: [] for candidate in candidates}
    degraded: list[str] = []
    for left, right in combinations(candidates, 2):
        try:
            share = await compare(brief, left.text, right.text, model)
        except ModelUnavailable as err:
            degraded.append(f"judge: not all pairs were compared ({err.message})")
            break
        if share is None:
            degraded.append("judge: a pair got no readable verdict")
            continue
        wins[left.text].append(share)
        wins[right.text].append(1 - share)
    full = len(candidates) - 1
    if full == 0:
        degraded.append("judge: one draft alone cannot be compared")
    return [_with_judge(candidate, wins[candidate.text], full) for candidate in candidates], sorted(set(degraded))


def _with_judge(candidate: Candidate, shares: Sequence[float], full: int) -> Candidate:
    if full < 1 or len(shares) < full:
        return candidate
    return replace(candidate, scores=replace(candidate.scores, judge=round(10 * fmean(shares), 3)))


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first: drafts with an unsupported sentence come last, then by the mean of reward and judge.

    The mean, since the verdicts of a small judge carry little: where it is unsure the rewards decide. They decide alone
    where the judge did not score every candidate, since its marks are lower than the rewards.
    """
    all_judged = all(candidate.scores.judge is not None for candidate in candidates)

    def order(candidate: Candidate) -> tuple[bool, float]:
        scores = candidate.scores
        marks = [mark for mark in (scores.total, scores.judge if all_judged else None) if mark is not None]
        return candidate.is_unsupported, -(fmean(marks) if marks else 0.0)

    return sorted(candidates, key=order)
