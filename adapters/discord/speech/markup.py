"""Words of others as plain words: no markup, no link, no mention, no way out of a spoiler.

Owns how a text is made inert for Discord, and how an exact one is shown. Knows no card. Must be used for every text
that is not a sentence of ours: posts, gists, drafts, names, titles.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final
from urllib.parse import quote, urlsplit

_ACTIVE: Final = frozenset("\\`*_~|<>#[]()-+:@/.")
"""Every ASCII character that can begin or end markup, a link, a mention or an emoji; a backslash makes it itself."""
_UNSEEN: Final = frozenset("Cc Cf Co Cs".split())
_JOINERS: Final = "\u200c\u200d"
_EXACT_LIMIT: Final = 2200
_BLOCK: Final = "```"
_IN_ADDRESS: Final = "/:?#@!$&*+,;=%~-._"


def units(text: str) -> int:
    """How long a text is in UTF-16 code units, which is never less than its characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def inert(text: str, limit: int | None = None) -> str:
    """A text of others, escaped; cut so that the result has at most ``limit`` units, with an ellipsis at its end.

    Characters that turn the direction of what follows, or that nobody sees, are left out, and so are empty lines.
    """
    found: list[str] = []
    size = 0
    for character in _visible(text):
        escaped = f"\\{character}" if character in _ACTIVE else character
        size += units(escaped)
        if limit is not None and size >= limit:
            return "".join(found).rstrip() + "…"
        found.append(escaped)
    return "".join(found)


def _visible(text: str) -> str:
    lines = (_seen(line).strip() for line in re.split(r"[\r\n\v\f\u0085\u2028\u2029]+", text))
    return "\n".join(line for line in lines if line)


def _seen(line: str) -> str:
    return "".join(
        " " if character == "\t" else character
        for character in line
        if character in _JOINERS or character == "\t" or unicodedata.category(character) not in _UNSEEN
    )


def spoiler(text: str, limit: int | None = None) -> str:
    """A text of others that stands covered until somebody opens it; "" where there is nothing to see."""
    covered = inert(text, None if limit is None else limit - 4)
    return f"||{covered}||" if covered else ""


def link(label: str, url: str) -> str:
    """A link with an inert label; the label alone where the address is none of the web."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return label
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return label
    return f"[{label}]({quote(url.strip(), safe=_IN_ADDRESS)})"


def exact_block(text: str) -> str | None:
    """A text as a block that shows it character for character; ``None`` where a block of Discord's cannot."""
    cannot = _BLOCK in text or text.startswith("`") or text.endswith("`") or text != text.strip() or not text
    if cannot or units(text) > _EXACT_LIMIT or hidden_in(text):
        return None
    return f"{_BLOCK}\n{text}\n{_BLOCK}"


def hidden_in(text: str) -> tuple[str, ...]:
    """The names of the characters in a text that nobody sees, each once, with how often it stands there."""
    hidden = (c for c in text if c != "\n" and c not in _JOINERS and unicodedata.category(c) in _UNSEEN)
    counted = Counter(unicodedata.name(character, f"U+{ord(character):04X}") for character in hidden)
    return tuple(f"{name} ({number})" for name, number in sorted(counted.items()))
