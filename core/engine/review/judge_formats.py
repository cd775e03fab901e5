"""How a judge is asked about a pair of replies, and how its answer is read.

There are two formats: one letter, read as the logit of its probability (a small model's bare letters mostly follow the
place), and JudgeLM's two scores. An answer that cannot be read gives no score.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass
from enum import StrEnum

from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt, quoted, unframed
from core.engine.ports import Generation
from core.models import Brief

NAMES = (("A", "B"), ("B", "A"))
"""The names for the two replies. With other letters the embedded model did worse (11 of 16 pairs right, not 13)."""
HIGHEST = 10.0
_SUREST = 0.999
_SCORE_TOKENS = 12
_SCORES = re.compile(r"^\s*(\d+(?:\.\d+)?)(?:\s*+[,;]\s*+|\s++)(\d+(?:\.\d+)?)\s*$")


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
    """What a judge said of a pair: a score for each, in [0, 10], and how much it prefers the first, in logits."""

    first: float
    second: float
    logit: float


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
        share = min(max(shares[first_name], 1 - _SUREST), _SUREST)
        return Comparison(HIGHEST * share, HIGHEST * (1 - share), math.log(share / (1 - share)))

    async def _by_scores(self, brief: Brief, first: str, second: str) -> Comparison | None:
        prompt = load_prompt("judgelm").fill(
            post=unframed(brief.post.text), first=unframed(first), second=unframed(second)
        )
        how = Generation(max_tokens=_SCORE_TOKENS, temperature=0.0, stop=("\n",))
        answer = await self.model.generate(prompt, how, judging=True)
        scores = read_scores(answer.texts[0])
        return None if scores is None else Comparison(*scores, scores[0] - scores[1])


def read_scores(answer: str) -> tuple[float, float] | None:
    """The two scores in the first line of a JudgeLM answer, each in [0, 10], or ``None``.

    The public code of CODEOFCONDUCT gives full marks to an answer that it cannot read; here it counts for nothing.
    """
    match = _SCORES.match(answer.strip().split("\n")[0])
    if match is None:
        return None
    first, second = float(match.group(1)), float(match.group(2))
    return (first, second) if max(first, second) <= HIGHEST else None
