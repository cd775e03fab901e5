"""The judge of the benchmarks, with prompts that no stage of the engine uses, so that no loop optimises for them.

Three questions, each asked in both orders with log-probabilities; the names of the replies are drawn by seed. A reply
is compared with the reply that a person wrote. The mean of its shares over the questions is its composite reward: 0.5
is as good as the person's. It says what the configured model prefers, not what people prefer.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from statistics import fmean

from core.engine.llm.prompts import quoted
from core.engine.ports import LanguageModel, Message

QUESTIONS = {
    "cogency": "Whose reasons hold? Prefer sound reasons and true, checkable statements to slogans, and never a reply "
    "that grants the post a point.",
    "relevance": "Which one answers this very post? Prefer what meets the claim that the post makes about these people "
    "to what could stand under any post.",
    "effect": "Imagine a silent reader of the thread. Prefer what would make that reader side calmly with the people "
    "under attack; scorn, preaching and anger would not.",
}
_ROLE = "Two comments stand under a message that attacks people. Answer with the letter of one comment."
NAMES = ("A", "B", "M", "N", "P", "Q", "X", "Y")
_SUREST = 0.999
_SECONDS = 600.0


@dataclass(frozen=True)
class Referee:
    """Compares replies. ``seed`` draws the names, the same for the same post and replies."""

    model: LanguageModel
    seed: int = 0

    async def share(self, post: str, left: str, right: str) -> float | None:
        """What ``left`` gets of the preference against ``right``, in [0, 1]; ``None`` if any answer is unreadable.

        Both orders are asked under the same two names, so that the effects of a place and a name cancel out. The
        questions come last in the prompt, so that a server reads post and replies once for all of them.
        """
        chance = random.Random(f"{self.seed}:{post}:{left}:{right}")  # nosec B311 # noqa: S311 - repeatable, no secret
        names = chance.sample(NAMES, 2)
        there = [await self._logit(question, post, (left, right), names) for question in QUESTIONS.values()]
        back = [await self._logit(question, post, (right, left), names) for question in QUESTIONS.values()]
        if None in there or None in back:
            return None
        return fmean(_share((first or 0.0) - (second or 0.0)) for first, second in zip(there, back, strict=True))

    async def _logit(self, question: str, post: str, replies: tuple[str, str], names: list[str]) -> float | None:
        """The logit of the share of the reply that is read first."""
        comments = "\n".join(f"Comment {name}: {text}" for name, text in zip(names, replies, strict=True))
        messages = [
            Message("system", _ROLE),
            Message("user", f"{quoted(post)}\n{comments}\n{question}"),
        ]
        shares, _ = await self.model.choose(messages, tuple(names), _SECONDS)
        if shares is None:
            return None
        share = min(max(shares[names[0]], 1 - _SUREST), _SUREST)
        return math.log(share / (1 - share))


def _share(gap: float) -> float:
    """The share at the mean of two logits, the second taken the other way round."""
    return 1 / (1 + math.exp(-gap / 2))
