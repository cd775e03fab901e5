"""What the small reader and a language model say of one post together.

Owns when a question is put to the model, how its word is pooled, and what a moderator is told of who read the post.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.errors import ModelUnavailable
from core.i18n.sentences import sentence
from core.models import ReadBy, TargetGroup
from core.scoring.readers.asking import LargeReader
from core.scoring.readers.pooling import Question, read_by
from core.scoring.readers.readers import PostSigns
from core.wording.language import name_of

_GROUP_IS_CLEAR = 0.5


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
                    "reading: whether the post is {what} was not asked ({why})", what=_asked(question), why=err.message
                )
            )
            return small
        if large is None:
            self.notes.append(
                sentence("reading: the model did not say whether the post is {what}", what=_asked(question))
            )
            return small
        self.said.append(large)
        return pooling.pooled(question, small, large)

    async def on_groups(self) -> TargetGroup | None:
        """The group that a model larger than the one that ships is sure of, where nobody else is; pooled, too."""
        pooling, signs = self.larger.pooling, self.signs
        if not pooling.is_larger or not pooling.counts(Question.GROUP, is_alone=signs is None):
            return None
        try:
            shares = await self.larger.groups(self.text)
        except ModelUnavailable:
            return None  # the explanations, which are asked for besides, say why
        if shares is None:
            return None
        self.said.append(shares)
        smalls = signs.groups if signs else {}
        found = {
            group: pooling.pooled(Question.GROUP, smalls.get(group), share) or 0.0 for group, share in shares.items()
        }
        likeliest = max(found, key=lambda group: found[group])
        return likeliest if found[likeliest] >= _GROUP_IS_CLEAR else None

    def told_by(self) -> ReadBy:
        """Whose word the opinions are."""
        return ReadBy.BOTH if self.is_probed and not self.said else read_by(self.hateful, self.said or None)

    def notes_on_readers(self) -> list[str]:
        """What a moderator should know about who read the post."""
        found, language = list(self.notes), self.language
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
            found.append(alone if self.said else probed if self.is_probed else nobody)
        if self.said and self.larger.pooling.is_larger and not self.larger.pooling.is_fitted:
            found.append(_unfitted(self.larger))
        return found


def _unfitted(larger: LargeReader) -> str:
    """Say that nobody measured how far a language model is to be believed."""
    return sentence(
        "readers: how far to believe the model {model} was never fitted; its word counts as much as the small reader's",
        model=larger.pooling.model or "?",
    )


def _asked(question: Question) -> str:
    """What a question asks about the post."""
    if question is Question.HATEFUL:
        return sentence("hateful")
    return sentence("violent") if question is Question.THREAT else sentence("personal")
