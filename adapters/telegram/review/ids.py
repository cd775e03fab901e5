"""How a button or a prompt on Telegram carries its ``Target``, and whose answer it stands in.

Telegram keeps 64 bytes of callback data. The letters of the acts must not change: messages that were sent long ago have
them.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from adapters.common.cards.acts import Act, Target

_LETTERS: Final[Mapping[Act, str]] = {
    Act.HOLD: "h",
    Act.RELEASE: "r",
    Act.APPROVE: "a",
    Act.CONFIRM: "c",
    Act.UNDO: "u",
    Act.EDIT: "e",
    Act.MEND: "m",
    Act.REDRAFT: "d",
    Act.REDRAFT_AS: "D",
    Act.OTHER_CLAIM: "l",
    Act.CLAIM_AS: "L",
    Act.NOT_HATEFUL: "n",
    Act.CLOSE: "x",
    Act.CLOSE_AS: "X",
    Act.MORE: "o",
    Act.REOPEN: "O",
    Act.IS_POSTED: "p",
    Act.NOT_POSTED: "P",
    Act.SPLIT: "s",
    Act.RETRACT: "t",
    Act.RETRACT_AS: "T",
    Act.SHOW_POST: "1",
    Act.SHOW_DRAFTS: "2",
    Act.SHOW_EVIDENCE: "3",
}
_ACTS: Final = {letter: act for act, letter in _LETTERS.items()}
_PATTERN: Final = re.compile(
    r"(?P<act>[a-zA-Z0-9])(?P<case>[A-Za-z0-9_-]{22})(?P<version>[0-9a-z]{1,7})\.(?P<extra>[0-9A-Za-z_]{0,16})"
    r"(?:\.(?P<owner>[0-9a-z]{1,11}))?"
)
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
MOST_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class ButtonData:
    """What a button says; ``owner`` is the number of the person whose answer it stands in, ``None`` on a card."""

    target: Target
    owner: int | None = None


def carried_data(target: Target, owner: int | None = None) -> str:
    """At most 60 of the 64 bytes that Telegram keeps."""
    case = urlsafe_b64encode(bytes.fromhex(target.case_id)).decode().rstrip("=")
    data = f"{_LETTERS[target.act]}{case}{_base36(target.version)}.{target.extra}"
    return data if owner is None else f"{data}.{_base36(owner)}"


def carried_by(data: str) -> ButtonData | None:
    """What callback data says; ``None`` if it is not one of ours."""
    match = _PATTERN.fullmatch(data)
    if match is None or match["act"] not in _ACTS:
        return None
    case = urlsafe_b64decode(f"{match['case']}==").hex()
    target = Target(_ACTS[match["act"]], case, int(match["version"], 36), match["extra"])
    return ButtonData(target, int(match["owner"], 36) if match["owner"] else None)


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"
