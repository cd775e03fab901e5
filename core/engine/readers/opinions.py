"""What the small reader and a language model say of one post together, and what a moderator is told of who read it.

Each question is answered by the log-probability of one token.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.readers.networks import PostSigns
from core.engine.readers.pooling import PoolingWeights, Question, read_by
from core.engine.wording.language import name_of
from core.errors import ModelUnavailable
from core.i18n.sentences import sentence
from core.models import ReadBy

PROMPTS: Final[Mapping[Question, str]] = MappingProxyType(
    {
        Question.HATEFUL: "hateful",
        Question.THREAT: "violent",
        Question.PERSON: "personal",
    }
)
"""The prompts of the questions on posts that are answered by yes or no."""


@dataclass(frozen=True)
class LargeReader:
    """A language model under a budget, and how far its word counts. Every method raises ``ModelUnavailable``."""

    model: MeteredModel
    pooling: PoolingWeights

    async def about(self, question: Question, text: str) -> float | None:
        """The probability that the answer about a post is yes; ``None`` for an answer that cannot be read."""
        shares = await self.model.choose(load_prompt(PROMPTS[question]).fill(post=quoted(text)), ("yes", "no"))
        return None if shares is None else shares["yes"]


@dataclass
class Opinions:
    """What the small reader and the language model say of one post together.

    ``hateful`` and ``signs`` are the small reader's, ``None`` where it does not know the language. ``said`` holds the
    model's own answers, ``notes`` why there are not more of them. ``is_probed``: the probe read the post, which is
    pooled elsewhere.
    """

    hateful: float | None
    signs: PostSigns | None
    language: str | None
    text: str
    larger: LargeReader
    said: list[object] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_probed: bool = False

    async def on(self, question: Question, small: float | None, *, is_open: bool) -> float | None:
        """The pooled probability; ``small`` as it is where the question is not open or the model's word adds nothing.

        Args:
            is_open: whether the answer is worth a call.
        """
        pooling = self.larger.pooling
        if not is_open or not pooling.counts(question, is_alone=small is None):
            return small
        try:
            large = await self.larger.about(question, self.text)
        except ModelUnavailable as err:
            self.notes.append(
                sentence(
                    "reading: whether the post is {what} was not asked ({why})", what=_trait(question), why=err.message
                )
            )
            return small
        if large is None:
            self.notes.append(
                sentence("reading: the model did not say whether the post is {what}", what=_trait(question))
            )
            return small
        self.said.append(large)
        return pooling.pooled(question, small, large)

    def told_by(self) -> ReadBy:
        """Whose word the opinions are."""
        return ReadBy.BOTH if self.is_probed and not self.said else read_by(self.hateful, self.said or None)

    def notes_on_readers(self) -> list[str]:
        """What a moderator should know about who read the post."""
        notes, language = list(self.notes), self.language
        if self.hateful is None and language is not None:
            alone = sentence(
                "reading: the small reader does not know {language}; what the post does is the language model's word "
                "alone",
                language=name_of(language),
            )
            nobody = sentence(
                "reading: the small reader does not know {language}, and no language model said whether the post is "
                "hateful; only rules looked at it",
                language=name_of(language),
            )
            probed = sentence(
                "reading: the small reader is not good enough in {language} by itself; whether the post is hateful was "
                "read with the language model, threats and attacks on one person by words alone",
                language=name_of(language),
            )
            notes.append(alone if self.said else probed if self.is_probed else nobody)
        return notes


def _trait(question: Question) -> str:
    """What a question asks about the post."""
    if question is Question.HATEFUL:
        return sentence("hateful")
    return sentence("violent") if question is Question.THREAT else sentence("personal")
