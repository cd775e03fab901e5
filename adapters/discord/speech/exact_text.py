"""Which texts Discord shows exactly as they were sent."""

from __future__ import annotations

from typing import Final

from core.errors import TextRefused
from core.i18n.sentences import sentence

MAX_CHARACTERS: Final = 2000
"""In code points, as Discord counts them; in UTF-16 units, too, as some of its apps do."""


def check_bytes(text: str) -> None:
    """Refuse, with ``TextRefused``, what Discord would cut, trim or refuse."""
    length = max(len(text), len(text.encode("utf-16-le")) // 2)
    if length > MAX_CHARACTERS:
        raise TextRefused(
            sentence(
                "The reply has {count} characters with what is added to it; {most} at most are posted.",
                count=length,
                most=MAX_CHARACTERS,
            ),
            remedy=sentence("Shorten it by {over} characters.", over=length - MAX_CHARACTERS),
        )
    if text != text.strip() or "\r" in text or "\0" in text:
        raise TextRefused(
            sentence("Discord would not show exactly these bytes."),
            remedy=sentence("Take the white space from both ends, and carriage returns out, and approve it again."),
        )
