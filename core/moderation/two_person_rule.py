"""When one person's approval is not enough.

Owns the two-person rule: threats, people who are named, and figures or names without evidence. Pure; that the second
person is another one, and sees the same bytes, is for ``bot.review.approvals``.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.models import Action, Suggestion
from core.scoring.edits import CheckedSentence, unsupported_in_words
from core.stages.reading import people_named
from core.wording.text import words


def why_two(suggestion: Suggestion, checked: Sequence[CheckedSentence]) -> tuple[str, ...]:
    """Why two persons must approve a reply, in sentences; none where one will do.

    Args:
        suggestion: what the engine said about the post.
        checked: the reply, without what discloses Antiphon, checked against the evidence
            (``core.scoring.edits.check_edit``).
    """
    reasons = []
    if suggestion.reading.recommended_action is Action.REPORT:
        reasons.append("The post threatens or calls for violence.")
    if suggestion.reading.recommended_action is Action.SUPPORT_TARGET:
        reasons.append("The post attacks one person.")
    reasons += [f"The reply names a person: “{name}”." for name in _private_people(suggestion, checked)]
    reasons += [unsupported_in_words(item) for sentence in checked for item in sentence.unsupported]
    return tuple(dict.fromkeys(reasons))


def _private_people(suggestion: Suggestion, checked: Sequence[CheckedSentence]) -> list[str]:
    """The people whom a reply names; who stands in the evidence is no private person."""
    passages = (f"{p.text} {p.source.publisher} {p.source.title}" for p in suggestion.evidence)
    held = frozenset(word for passage in passages for word in words(passage))
    texts = [sentence.text for sentence in checked if not sentence.is_prepared]
    named = [name for text in texts for name in people_named(text, suggestion.reading.language)]
    return [name for name in named if not held.issuperset(words(name))]
