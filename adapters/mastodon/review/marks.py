"""The last line of each status of ours: which case it shows at which version, or which text it asks to be approved.

Owns that form, so that an answer works in whichever process hears it. Only a status of ours is trusted to have one. The
form stays what it is: statuses that were written long ago have it. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_DIGITS: Final = 8
"""How much of a case's id names it; who speaks of it says less (``core.moderation.case_numbers``)."""
_FORM: Final = re.compile(
    r"\[(?P<card>[0-9A-F]{8})/(?P<shown>\d{1,9})\]|\((?P<case>[0-9A-F]{8})/(?P<version>\d{1,9})\)|\[(?P<text>[0-9a-z]{16})\]"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """What a status of ours is about.

    Attributes:
        case: the beginning of the case's id; "" where only a text is named.
        version: of the case, as the status shows it.
        is_card: it is the card, which all who review read.
        text: the id of the exact text that it asks to be approved (``ProposedReply.id``); "" for none.
    """

    case: str = ""
    version: int = 0
    is_card: bool = False
    text: str = ""


def mark_of(case_id: str, version: int, *, is_card: bool = False) -> str:
    """The line below a card, or below an answer about a case."""
    said = f"{case_id[:_DIGITS].upper()}/{version}"
    return f"[{said}]" if is_card else f"({said})"


def mark_of_text(text_id: str) -> str:
    """The line below an exact text."""
    return f"[{text_id}]"


def marked(text: str) -> Mark | None:
    """What the last line of a status of ours says; ``None`` where it is no mark."""
    found = _FORM.fullmatch(text.rstrip().rpartition("\n")[2].strip())
    if found is None:
        return None
    if found["text"]:
        return Mark(text=found["text"])
    if found["card"]:
        return Mark(found["card"].lower(), int(found["shown"]), is_card=True)
    return Mark(found["case"].lower(), int(found["version"]))
