"""Stage 5: pairwise comparison, and the ranking that follows.

Owns the judge's reading of a pair (the share of "A" against "B" in one token: hard verdicts of a small model only tell
the place), which drafts are compared, and their final order. Without an answer there is no score, never full marks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from core.budget import MeteredModel
from core.drafting import Candidate
from core.errors import ModelUnavailable
from core.models import Brief, Intent
from core.prompting import load_prompt, quoted
from core.ranking import Tournament

VERDICTS_EACH = 2
"""The most verdicts, for each candidate, that an adaptive tournament asks for; a round robin of n asks for n - 1."""
_SUREST = 0.999


async def verdict(brief: Brief, first: str, second: str, model: MeteredModel) -> float | None:
    """The logit of the share that the judge gives to what it reads first; ``None`` without an answer.

    Raises:
        ModelUnavailable: the budget is spent or the model is gone.
    """
    prompt = load_prompt("judge").fill(post=quoted(brief.post.text), first=first, second=second)
    answer = await model.choose(prompt, ("A", "B"), judging=True)
    if answer is None:
        return None
    share = min(max(answer["A"], 1 - _SUREST), _SUREST)
    return math.log(share / (1 - share))


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
    """The candidates with the judge's score: ten times the chance of being better than another candidate.

    The profile says whether every pair is compared in both orders (CODEOFCONDUCT, section 3) or only as many as settle
    the first places. A candidate that no verdict is about has no score, and the reason is given.
    """
    if len(candidates) < 2:
        return list(candidates), ["judge: one draft alone cannot be compared"] if candidates else []
    is_full = model.budget.profile.is_round_robin
    tournament = Tournament([candidate.energy for candidate in candidates], is_round_robin=is_full)
    limit = len(candidates) * (len(candidates) - 1 if is_full else VERDICTS_EACH)
    degraded: list[str] = []
    while len(tournament.asked) + len(tournament.unread) < limit and (pair := tournament.next_pair()):
        first, second = pair
        try:
            logit = await verdict(brief, candidates[first].text, candidates[second].text, model)
        except ModelUnavailable as err:
            degraded.append(f"judge: stopped before the first places were settled ({err.message})")
            break
        if logit is None:
            degraded.append("judge: a pair got no readable verdict")
            tournament.skip(first, second)
        else:
            tournament.tell(first, second, logit)
    return [_with_judge(c, index, tournament) for index, c in enumerate(candidates)], sorted(set(degraded))


def _with_judge(candidate: Candidate, index: int, tournament: Tournament) -> Candidate:
    if not tournament.is_compared(index):
        return candidate
    spread = tournament.spread(index)
    scores = replace(
        candidate.scores,
        judge=round(10 * tournament.chance_to_win(index), 3),
        judge_spread=None if spread is None else round(10 * spread, 3),
    )
    return replace(candidate, scores=scores)


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
