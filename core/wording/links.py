"""What a platform may show as a link, and which links are known.

Owns the pattern. It prefers to find too much: a dot without a space before a common domain is a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

LINK: Final = re.compile(
    r"[\w+.-]*://\S*"
    r"|(?<![^\W_])(?:mailto:|www\.)\S*"
    r"|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/\S+"
    r"|\b[\w-]+(?:\.[\w-]+)*"
    r"\.(?:com|org|net|eu|io|gg|me|info|biz|ru|de|es|it|fr|uk|us|tv|app|dev|social|xyz|site|online)\b",
    re.IGNORECASE,
)
_AFTER_LINK: Final = "/.,;:!?…)]}>*~|\"'”’»"


def strange_link(text: str, cited: Iterable[str]) -> str | None:
    """The first part of a text that a platform may show as a link, unless it is one of the ``cited`` addresses."""
    known = [url.rstrip("/") for url in cited if url]
    for match in LINK.finditer(text):
        found = match.group()
        if not any(found.startswith(url) and not found[len(url) :].strip(_AFTER_LINK) for url in known):
            return found.rstrip(_AFTER_LINK)
    return None
