"""When one person's approval is not enough.

Owns the two-person rule: threats, people who are named, and figures or names without evidence. ``bot.review.approvals``
checks that the second person is another one and approves the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.i18n.sentences import sentence
from core.models import Action, Suggestion
from core.scoring.checking import CheckedSentence
from core.scoring.gates import unsupported_in_words
from core.stages.signals import people_named
from core.wording.text import words


def why_two(suggestion: Suggestion, checked: Sequence[CheckedSentence]) -> tuple[str, ...]:
    """Why two persons must approve a reply, in sentences; none where one is enough.

    Args:
        suggestion: what the engine said about the post.
        checked: the reply, without what discloses Antiphon, checked against the evidence
            (``core.scoring.edits.check_edit``).
    """
    reasons = list[str]()
    if suggestion.reading.recommended_action is Action.REPORT:
        reasons.append(sentence("The post threatens or calls for violence."))
    if suggestion.reading.recommended_action is Action.SUPPORT_TARGET:
        reasons.append(sentence("The post attacks one person."))
    named = _private_people(suggestion, checked)
    reasons += [sentence("The reply names a person: “{name}”.", name=name) for name in named]
    reasons += [unsupported_in_words(item) for one in checked for item in one.unsupported]
    return tuple(dict.fromkeys(reasons))


def _private_people(suggestion: Suggestion, checked: Sequence[CheckedSentence]) -> list[str]:
    """The people whom a reply names, except those in the evidence, who are not private persons."""
    passages = (f"{p.text} {p.source.publisher} {p.source.title}" for p in suggestion.evidence)
    held = frozenset(word for passage in passages for word in words(passage))
    texts = [one.text for one in checked if not one.is_prepared]
    named = [name for text in texts for name in people_named(text, suggestion.reading.language)]
    return [name for name in named if not held.issuperset(words(name))]
