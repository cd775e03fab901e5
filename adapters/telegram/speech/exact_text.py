"""Which texts Telegram shows exactly as they were sent.

The changes are read from ``clean_input_string`` of TDLib (td/telegram/misc.cpp), which the Bot API server is built on:
carriage returns, the separators and direction marks from U+2028 to U+202E and three combining lines are left out, other
control characters become spaces, rows of direction marks are changed, and both ends lose their white space.
"""

from __future__ import annotations

import re
from typing import Final

from core.errors import TextRefused
from core.i18n.sentences import sentence

MAX_CHARACTERS: Final = 4096
"""In UTF-16 code units, which are never fewer than the characters that Telegram counts."""
CHANGED: Final = re.compile("[\0-\x09\x0b-\x1f\u2028-\u202e\u0333\u033f\u030a]|[\u200e\u200f]{2}")
"""What Telegram leaves out of a text or puts something else in place of."""


def units(text: str) -> int:
    """How long a text is in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_text(text: str) -> None:
    """Refuse, with ``TextRefused``, what Telegram would cut, trim, change or refuse."""
    length = units(text)
    if length > MAX_CHARACTERS:
        raise TextRefused(
            sentence(
                "The reply has {count} characters with what is added to it; {most} at most are posted.",
                count=length,
                most=MAX_CHARACTERS,
            ),
            remedy=sentence("Shorten it by {over} characters.", over=length - MAX_CHARACTERS),
        )
    if not text.strip() or text != text.strip() or CHANGED.search(text):
        raise TextRefused(
            sentence("Telegram would not show exactly this text."),
            remedy=sentence(
                "Take the white space from both ends, and characters that nobody sees out, and approve it again."
            ),
        )
