"""Which texts Discord shows exactly as they were sent.

Owns its limit and what it does to white space. Pure.
"""

from __future__ import annotations

from typing import Final

from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence

MAX_CHARACTERS: Final = 2000
"""In code points, as Discord counts them; in UTF-16 units, too, as some of its apps do."""


def check_bytes(text: str) -> None:
    """Refuse, with ``PlatformUnavailable``, what Discord would cut, trim or refuse."""
    length = max(len(text), len(text.encode("utf-16-le")) // 2)
    if length > MAX_CHARACTERS:
        raise PlatformUnavailable(
            sentence("The reply has {count} characters; Discord takes {most}.", count=length, most=MAX_CHARACTERS),
            remedy=sentence("Shorten it and approve it again."),
        )
    if text != text.strip() or "\r" in text or "\0" in text:
        raise PlatformUnavailable(
            sentence("Discord would not show exactly these bytes."),
            remedy=sentence("Take the white space from both ends, and carriage returns out, and approve it again."),
        )
