"""Why no draft is good enough, or none is needed: a moderator says it with one tap.

Owns the reasons. They are counted, so a reason must not be reworded once it was used.
"""

from __future__ import annotations

from enum import StrEnum

from core.errors import BadInput
from core.i18n.sentences import Sentence, sentence


class DeclineReason(StrEnum):
    """What is wrong with all the drafts of a case, or with finding its post at all (``NOT_HATEFUL``)."""

    WRONG_FACT = "wrong fact"
    PREACHY = "preachy"
    OFF_TONE = "off tone"
    REPEATS_SLUR = "repeats the slur"
    UNSAFE = "unsafe"
    NOT_HATEFUL = "not hateful"
    OTHER = "other"


def decline_reason(said: str) -> DeclineReason:
    """The reason that a form or a command names.

    Raises:
        BadInput: there is no such reason.
    """
    try:
        return DeclineReason(said)
    except ValueError as err:
        raise BadInput(
            sentence("Nobody can decline for the reason {said}.", said=f"{said!r}"),
            remedy=sentence("Say one of: {known}.", known=", ".join(DeclineReason)),
        ) from err


def decline_words(reason: DeclineReason) -> Sentence:
    """The reason as the history of a case records it."""
    words = {
        DeclineReason.WRONG_FACT: sentence("wrong fact"),
        DeclineReason.PREACHY: sentence("preachy"),
        DeclineReason.OFF_TONE: sentence("off tone"),
        DeclineReason.REPEATS_SLUR: sentence("repeats the slur"),
        DeclineReason.UNSAFE: sentence("unsafe"),
        DeclineReason.NOT_HATEFUL: sentence("not hateful"),
        DeclineReason.OTHER: sentence("other"),
    }
    return words[reason]
