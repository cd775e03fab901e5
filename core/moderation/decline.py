"""Why no draft will do: what a moderator says with one tap.

Owns the reasons. They are counted, so a reason is never reworded once it was used.
"""

from __future__ import annotations

from enum import StrEnum

from core.errors import BadInput


class DeclineReason(StrEnum):
    """What is wrong with all the drafts of a case."""

    WRONG_FACT = "wrong fact"
    PREACHY = "preachy"
    OFF_TONE = "off tone"
    REPEATS_SLUR = "repeats the slur"
    UNSAFE = "unsafe"
    OTHER = "other"


def decline_reason(said: str) -> DeclineReason:
    """The reason that a form or a command names.

    Raises:
        BadInput: there is no such reason.
    """
    try:
        return DeclineReason(said)
    except ValueError as err:
        raise BadInput(f"{said!r} is no reason to decline.", remedy=f"Say one of: {', '.join(DeclineReason)}.") from err
