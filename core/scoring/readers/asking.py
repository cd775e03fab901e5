"""A language model as a reader: the questions of the small readers, each answered by one token's log-probability.

Owns the questions and how an answer becomes a probability. How far it counts is in ``pooling``; which questions are
worth a call is decided by the stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from types import MappingProxyType
from typing import Final

from core.llm.budget import MeteredModel
from core.llm.prompting import load_prompt, quoted
from core.models import TargetGroup
from core.scoring.readers.outputs import DraftFault
from core.scoring.readers.pooling import Pooling, Question
from core.scoring.readers.readers import DraftSigns

PROMPTS: Final[Mapping[Question, str]] = MappingProxyType(
    {
        Question.HATEFUL: "hateful",
        Question.THREAT: "violent",
        Question.PERSON: "personal",
        Question.IMPLIED: "implied",
    }
)
"""The prompts of the questions on posts that are answered by yes or no."""
_GROUPS: Final = dict(zip(ascii_uppercase, TargetGroup, strict=False))
_FAULTS: Final = {
    DraftFault.CALLS_FOR_HARM: "Does the reply call for harm, exclusion or punishment of anybody?",
    DraftFault.INSULTS: "Does the reply insult the author or people like them?",
    DraftFault.PRESUPPOSES: "Does the reply take what the post says about the group for granted?",
    DraftFault.CONCEDES: "Does the reply concede a part of what the post says about the group?",
    DraftFault.MIRRORS: "Does the reply set one group above another, or speak badly of another group?",
    DraftFault.STEREOTYPES: "Does the reply stereotype or patronise the people attacked?",
    DraftFault.OFF_SUBJECT: "Is the reply about another group or another subject than the post?",
    DraftFault.RESTATES: "Does the reply only repeat what the post says?",
    DraftFault.GENERIC: "Would the reply fit just as well under any other hateful post?",
}
_OPPOSES: Final = "Does the reply oppose what the post says?"
FAULTS: Final[tuple[DraftFault | None, ...]] = (None, *_FAULTS)
"""What can be asked about a draft, the gravest first; ``None`` asks whether it fails to oppose the post."""


def fault_share(signs: DraftSigns, fault: DraftFault | None) -> float:
    """What the small reader says of one fault; of not opposing the post for ``None``."""
    return 1 - signs.opposes if fault is None else signs.faults[fault]


@dataclass(frozen=True)
class LargeReader:
    """A language model under a budget, and how far its word counts. Every method raises ``ModelUnavailable``."""

    model: MeteredModel
    pooling: Pooling

    async def about(self, question: Question, text: str) -> float | None:
        """The probability that the answer about a post is yes; ``None`` for an answer that cannot be read."""
        shares = await self.model.choose(load_prompt(PROMPTS[question]).fill(post=quoted(text)), ("yes", "no"))
        return None if shares is None else shares["yes"]

    async def groups(self, text: str) -> Mapping[TargetGroup, float] | None:
        """How likely a post attacks each group, which sums to 1; ``None`` for an answer that cannot be read."""
        shares = await self.model.choose(load_prompt("group").fill(post=quoted(text)), tuple(_GROUPS))
        return None if shares is None else {group: shares[letter] for letter, group in _GROUPS.items()}

    async def stereotypes(self, text: str, gists: Sequence[str]) -> list[float] | None:
        """The share of each thing that a post may say, at most eleven; what is missing to 1 is for none of them.

        ``None`` for an answer that cannot be read.
        """
        letters = ascii_uppercase[: len(gists) + 1]
        said = [f"{letter}: that {gist}" for letter, gist in zip(letters, gists, strict=False)]
        options = "\n".join([*said, f"{letters[-1]}: none of these"])
        shares = await self.model.choose(load_prompt("stereotype").fill(post=quoted(text), options=options), letters)
        return None if shares is None else [shares[letter] for letter in letters[:-1]]

    async def unfit(self, post: str, draft: str) -> float | None:
        """The probability that it would not post a draft as it is; ``None`` for an answer that cannot be read."""
        shares = await self.model.choose(load_prompt("fit").fill(post=quoted(post), reply=draft), ("yes", "no"))
        return None if shares is None else shares["no"]

    async def fault(self, fault: DraftFault | None, post: str, draft: str) -> float | None:
        """The probability of one fault; of not opposing the post for ``None``."""
        question = _OPPOSES if fault is None else _FAULTS[fault]
        prompt = load_prompt("fault").fill(post=quoted(post), reply=draft, question=question)
        shares = await self.model.choose(prompt, ("yes", "no"))
        return None if shares is None else shares["no" if fault is None else "yes"]
