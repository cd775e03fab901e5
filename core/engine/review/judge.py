"""Stage 5: the order of the drafts, why the first leads, and the judge that the published search asks.

Without an answer of the judge a draft gets no score.
"""

import asyncio
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import permutations
from statistics import fmean
from typing import Final

from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt, quoted, unframed
from core.engine.ports import Generation, StageOutcome
from core.engine.review.candidates import Candidate
from core.errors import ModelUnavailable
from core.i18n.sentences import Sentence, sentence
from core.models import Brief, Intent

NAMES = (("A", "B"), ("B", "A"))
"""The names for the two replies. With other letters the embedded model did worse (11 of 16 pairs right, not 13)."""
HIGHEST = 10.0
_SCORE_TOKENS = 12
_SCORES = re.compile(r"^\s*(\d+(?:\.\d+)?)(?:\s*+[,;]\s*+|\s++)(\d+(?:\.\d+)?)\s*$")
_UNREADABLE = sentence("judge: a pair of drafts got no readable answer")
LEADING: Final = (Intent.DENOUNCING, Intent.INFORMATIVE)
"""Of these intents a prepared reply or one by the model that ships is shown first where there is one.

The one that suits the post best leads (``Candidate.suits``), where that is known: of 89 strangers' posts readers would
post 53 of 100 such first replies and found 9 harmful, and 50 and 20 where the one that denounces came first. Elsewhere
the order counts. Of 82 first replies to earlier sets of posts, two of three blind readers would post 1 of 8 that praise
and 1 of 7 that ask: under hate a question that stands first invites more of it (``docs/figures/measured.md``). It says
nothing of a larger model's replies, of which the best leads.
"""


class JudgeFormat(StrEnum):
    """What a judge answers: a letter (any chat model) or two scores (JudgeLM and judges modelled on it)."""

    LETTERS = "letters"
    SCORES = "scores"


class Rubric(StrEnum):
    """The prompts for judges that answer with letters; a judge that answers with scores knows only JudgeLM's rubric."""

    FINAL = "judge"
    LOOP = "judge_loop"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a judge said of a pair: a score for each, in [0, 10]."""

    first: float
    second: float


@dataclass(frozen=True)
class Judge:
    """A model that compares replies. ``seed`` draws the names, so that neither name is always the first."""

    model: MeteredModel
    format: JudgeFormat = JudgeFormat.LETTERS
    seed: int = 0

    async def compare(self, brief: Brief, first: str, second: str, rubric: Rubric = Rubric.FINAL) -> Comparison | None:
        """The judge's verdict when it reads ``first`` first; ``None`` for an answer that cannot be read.

        Raises:
            ModelUnavailable: the budget is spent or the model is gone.
        """
        if self.format is JudgeFormat.SCORES:
            return await self._by_scores(brief, first, second)
        return await self._by_letters(brief, first, second, rubric)

    async def _by_letters(self, brief: Brief, first: str, second: str, rubric: Rubric) -> Comparison | None:
        """Ask for one token. The names stay the same within a post, so that its comparisons share their beginning."""
        chance = random.Random(f"{self.seed}:{brief.post.text}")  # nosec B311 # noqa: S311 - repeatable, no secret
        first_name, second_name = chance.choice(NAMES)
        prompt = load_prompt(rubric).fill(
            post=quoted(brief.post.text), first_name=first_name, second_name=second_name, first=first, second=second
        )
        shares = await self.model.choose(prompt, (first_name, second_name), judging=True)
        if shares is None:
            return None
        share = shares[first_name]
        return Comparison(HIGHEST * share, HIGHEST * (1 - share))

    async def _by_scores(self, brief: Brief, first: str, second: str) -> Comparison | None:
        prompt = load_prompt("judgelm").fill(
            post=unframed(brief.post.text), first=unframed(first), second=unframed(second)
        )
        how = Generation(max_tokens=_SCORE_TOKENS, temperature=0.0, stop=("\n",))
        answer = await self.model.generate(prompt, how, judging=True)
        scores = read_scores(answer.texts[0])
        return None if scores is None else Comparison(*scores)


def read_scores(answer: str) -> tuple[float, float] | None:
    """The two scores in the first line of a JudgeLM answer, each in [0, 10], or ``None``.

    The public code of CODEOFCONDUCT gives full marks to an answer that it cannot read; here it counts for nothing.
    """
    match = _SCORES.match(answer.strip().split("\n")[0])
    if match is None:
        return None
    first, second = float(match.group(1)), float(match.group(2))
    return (first, second) if max(first, second) <= HIGHEST else None


def best_of_each_intent(candidates: Sequence[Candidate], each: int = 1) -> list[Candidate]:
    """The ``each`` best candidates of each intent by reward, those that evidence carries first."""
    best: dict[Intent, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda candidate: candidate.order):
        best.setdefault(candidate.intent, []).append(candidate)
    return [candidate for same in best.values() for candidate in same[:each]]


def seeded(candidates: Sequence[Candidate], count: int) -> list[Candidate]:
    """The candidates that may be shown: those that hardly miss the post, and one place for another at least.

    Of both kinds the best of each intent come first, then the others by reward.
    """
    sure, others = (_by_intent([c for c in candidates if c.may_miss is missing]) for missing in (False, True))
    most = max(count - 1, len({candidate.intent for candidate in sure})) if others else count
    return [*sure[:most], *others, *sure[most:]][:count]


def _by_intent(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Replies to other posts, which take nobody's place, and the best of each intent; then the others by reward."""
    answers = [candidate for candidate in candidates if candidate.is_answer]
    first = [*answers, *best_of_each_intent([candidate for candidate in candidates if not candidate.is_answer])]
    return [*first, *sorted((c for c in candidates if c not in first), key=lambda c: c.order)]


async def judge(candidates: Sequence[Candidate], brief: Brief, by: Judge) -> StageOutcome[list[Candidate]]:
    """The candidates with the judge's score in [0, 10], and why some have none.

    In the published search every pair is compared in both orders, and a candidate's score is its mean over all readable
    comparisons (CODEOFCONDUCT, Algorithm 3). A candidate without a comparison has no score.
    """
    if not by.model.budget.profile.is_published:
        return StageOutcome(list(candidates), [sentence("judge: the profile asks no judge; the rewards decide")])
    if len(candidates) < 2:
        alone = [sentence("judge: one draft alone cannot be compared")] if candidates else []
        return StageOutcome(list(candidates), alone)
    texts = [candidate.text for candidate in candidates]
    pairs = list(permutations(range(len(texts)), 2))
    calls = (by.compare(brief, texts[a], texts[b]) for a, b in pairs)
    comparisons = await asyncio.gather(*calls, return_exceptions=True)
    table: dict[tuple[int, int], Comparison] = {}
    degraded = list[str]()
    for pair, comparison in zip(pairs, comparisons, strict=True):
        if isinstance(comparison, ModelUnavailable):
            why = comparison.message
            degraded.append(sentence("judge: not every pair of drafts that matters was compared ({why})", why=why))
        elif isinstance(comparison, BaseException):
            raise comparison
        elif comparison is None:
            degraded.append(_UNREADABLE)
        else:
            table[pair] = comparison
    scored = [_from_table(candidate, at, table) for at, candidate in enumerate(candidates)]
    return StageOutcome(scored, sorted(set(degraded)))


def _from_table(candidate: Candidate, at: int, table: Mapping[tuple[int, int], Comparison]) -> Candidate:
    as_first = {b: comparison.first for (a, b), comparison in table.items() if a == at}
    as_second = {a: comparison.second for (a, b), comparison in table.items() if b == at}
    if not as_first and not as_second:
        return candidate
    gaps = [abs(as_first[other] - as_second[other]) / HIGHEST for other in as_first.keys() & as_second.keys()]
    return _with_judge(candidate, fmean([*as_first.values(), *as_second.values()]), fmean(gaps) if gaps else None)


def _with_judge(candidate: Candidate, score: float, spread: float | None) -> Candidate:
    spread_shown = None if spread is None else round(HIGHEST * spread, 3)
    return replace(candidate, scores=replace(candidate.scores, judge=round(score, 3), judge_spread=spread_shown))


def ranked(
    candidates: Sequence[Candidate],
    *,
    far: frozenset[str] = frozenset(),
    by_judge_alone: bool = False,
    leading: Sequence[Intent] = (),
) -> list[Candidate]:
    """Best first: by what sends a draft down the list (``Candidate.last``), then by the reward.

    The first of all is one that nobody doubts and that hardly misses the post, where there is one, of the first intent
    of ``leading`` that has one, even if it only stands in. A draft that may miss what the post says comes after the
    others, and so does one that rests on a passage of ``far``, which may be beside the point. In the published
    algorithm only the judge decides, but where it did not score every candidate. One that rests on a passage of ``far``
    leads only where all do. The second answers with something else than the first, where one does that is doubted no
    more than the next.
    """
    order = _order(candidates, far, by_judge_alone=by_judge_alone)
    in_order = sorted(candidates, key=order)
    sure = [candidate for candidate in in_order if not candidate.is_doubted]
    fits = [candidate for candidate in sure if not candidate.may_miss]
    near, others = _near(fits, far), _near(sure, far)
    likely = [candidate for candidate in near if not candidate.is_unsure]
    preferred = (best for group in (likely, near, others, fits, sure) if (best := _leads(group, leading)))
    first = next(preferred, next(iter(sure), None))
    in_order = [first, *(candidate for candidate in in_order if candidate is not first)] if first else in_order
    return in_order if by_judge_alone else _with_another_second(in_order)


def _near(candidates: Sequence[Candidate], far: frozenset[str]) -> list[Candidate]:
    """Those that rest on no passage which may be beside the point."""
    return [candidate for candidate in candidates if far.isdisjoint(r.evidence_id for r in candidate.receipts)]


def _with_another_second(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, with one in the second place that does not answer as the first does in other words."""
    first, rest = candidates[:1], list(candidates[1:])
    if not first or not rest:
        return list(candidates)
    place = (rest[0].last, rest[0].may_miss)
    other = next((c for c in rest if (c.last, c.may_miss) == place and not c.answers_as(first[0])), rest[0])
    return [*first, other, *(candidate for candidate in rest if candidate is not other)]


def _leads(candidates: Sequence[Candidate], leading: Sequence[Intent]) -> Candidate | None:
    """The one that leads among candidates that are sorted: of the first intent that has one.

    Of our own order of intents the one that suits the post best, where that is known: it was measured so.
    """
    led = [candidate for candidate in candidates if candidate.intent in leading]

    def place(candidate: Candidate) -> int:
        return 0 if leading is LEADING and candidate.suits is not None else leading.index(candidate.intent)

    return min(led, key=place, default=None)


def why_first(
    candidates: Sequence[Candidate], shown: int, *, far: frozenset[str] = frozenset(), by_judge_alone: bool = False
) -> Sentence | None:
    """Why the first draft stands above one with a higher total, in a sentence; ``None`` where none has a higher one.

    Args:
        candidates: as ``ranked`` sorted them by the same ``far`` and ``by_judge_alone``.
        shown: how many of them are shown; it is told of no others.
    """
    first = candidates[0] if candidates else None
    highest = max(candidates[:shown], key=lambda candidate: candidate.energy, default=None)
    if first is None or highest is None or highest.energy <= first.energy:
        return None
    order = _order(candidates, far, by_judge_alone=by_judge_alone)
    if highest.is_doubted and not first.is_doubted:
        return sentence("It stands above one with a higher score: nobody doubts it.")
    if order(first) > order(highest):
        return sentence("It stands above one with a higher score: a reply of its kind serves best as the first.")
    is_written = highest.is_prepared and not first.is_prepared and first.scores.judge is None
    if first.stands_in is not highest.stands_in or (is_written and first.last == highest.last):
        return sentence("It stands above one with a higher score: it was written for this post.")
    if first.last != highest.last:
        return sentence("It stands above one with a higher score: there is less doubt about it.")
    if first.may_miss is not highest.may_miss:
        return sentence("It stands above one with a higher score, which may take up what this post does not say.")
    if order(first)[3] is not order(highest)[3]:
        return sentence("It stands above one with a higher score, whose evidence may be beside the point.")
    if first.suits is not None and (highest.suits is None or first.suits > highest.suits):
        return sentence("It stands above one with a higher score: it is closer to what this post says.")
    if first.scores.judge is None:
        return None
    return sentence("It stands above one with a higher score: the judge prefers it.")


def _order(
    candidates: Sequence[Candidate], far: frozenset[str], *, by_judge_alone: bool
) -> Callable[[Candidate], tuple[bool, int, bool, bool, float]]:
    """What candidates are sorted by: what sends each down, if it may miss, if its evidence is far, its mark."""
    is_judged = by_judge_alone and all(candidate.scores.judge is not None for candidate in candidates)

    def order(candidate: Candidate) -> tuple[bool, int, bool, bool, float]:
        scores = candidate.scores
        reward = None if scores.total is None else candidate.merit
        is_far = any(receipt.evidence_id in far for receipt in candidate.receipts)
        return *candidate.last, candidate.may_miss, is_far, -((scores.judge if is_judged else reward) or 0.0)

    return order
