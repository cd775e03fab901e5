"""What a community asks of every text that is posted in its name, whoever wrote it.

A rule that needs the community is a field of ``TextRules`` and a line in ``broken_rule``. The community's policy is
such rules itself, so the field can be set at once; drafts, edits, own words and ``antiphon check`` are held against it.
"""

from dataclasses import dataclass
from typing import Final

from core.engine.wording.keywords import keyword_in
from core.errors import BadInput
from core.i18n.sentences import Sentence, sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRules:
    """What a community's policy asks of a text.

    Attributes:
        forbidden: words that no text may hold; they are found as keywords are, whole and however they are disguised.
    """

    forbidden: tuple[str, ...] = ()


NO_RULES: Final = TextRules()
"""Of a text that belongs to no community."""


def broken_rule(text: str, rules: TextRules) -> str | None:
    """The first rule that a text breaks, as the end of "The reply may not be shown: ..."; ``None`` for none."""
    word = keyword_in(text, rules.forbidden)
    return None if word is None else _holding(word)


def _holding(word: str) -> Sentence:
    return sentence("it holds “{word}”, which this community forbids", word=word)


def is_community_rule(fault: str) -> bool:
    """Whether a fault of a text is one that ``broken_rule`` gave."""
    return isinstance(fault, Sentence) and fault.template == _holding("").template


def check_rules(text: str, rules: TextRules) -> None:
    """Refuse a text that breaks a rule, with ``BadInput``."""
    if fault := broken_rule(text, rules):
        raise BadInput(
            sentence("This cannot be posted here: {fault}.", fault=fault),
            remedy=sentence("Say it in other words, or ask a manager of the community to change this rule."),
        )
