"""The short number of a case: the beginning of its id, by which people speak of it. Owns its form alone."""

from __future__ import annotations

import re
from typing import Final

_LENGTH: Final = 5
_TYPED: Final = re.compile(r"#?([0-9a-fA-F]{4,32})")


def short_number(case_id: str) -> str:
    """What people call a case, such as ``A1B2C``."""
    return case_id[:_LENGTH].upper()


def beginning_of_id(typed: str) -> str:
    """The beginning of a case's id that somebody typed, ``#`` or not, in any case; "" if it can be none."""
    found = _TYPED.fullmatch(typed.strip())
    return found[1].lower() if found else ""
