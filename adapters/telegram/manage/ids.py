"""How a button of a panel, and a question of ours, say whose they are, in the 64 bytes that Telegram keeps.

Owns that form. It holds the community, so that panels work after a restart and for a person who manages many groups.
Messages that were sent long ago have it: what it means must stay.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

_FORM: Final = re.compile(r"mg-([0-9a-z]+)-([a-z]+)-([0-9a-z_]+)-([0-9a-f]*)")
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_TOKEN: Final = 8


@dataclass(frozen=True, slots=True)
class PanelPress:
    """What was pressed: in which community, panel and field, and the token of the value, "" for none."""

    community: str
    panel: str
    field: str
    token: str = ""


def token_of(value: str) -> str:
    """What stands for a value, however long it is."""
    return hashlib.sha256(value.encode()).hexdigest()[:_TOKEN]


def press_data(community: str, panel: str, field: str, value: str = "") -> str:
    """The data of a button, which can stand in an address, too."""
    token = token_of(value) if value else ""
    return f"mg-{_base36(-int(community))}-{panel}-{field}-{token}"


def pressed(data: str) -> PanelPress | None:
    """What data of ours says; ``None`` for any other."""
    found = _FORM.fullmatch(data)
    return None if found is None else PanelPress(f"-{int(found[1], 36)}", found[2], found[3], found[4])


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, last = divmod(number, 36)
        digits = _DIGITS[last] + digits
    return digits or "0"
