"""The words that a community watches for, found as whole words and despite common disguises.

Owns the comparison. Does not know messages or policies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from core.wording.disguises import without_lookalikes
from core.wording.text import clean


def has_keyword(text: str, keywords: tuple[str, ...]) -> bool:
    """Whether the text holds one of the keywords as a word, or as words in a row, in any case.

    Letters of other alphabets that look like Latin ones count as Latin; invisible characters are ignored.
    """
    pattern = _pattern(keywords)
    return pattern is not None and pattern.search(_plain(text)) is not None


def _plain(text: str) -> str:
    return without_lookalikes(clean(text)[0])[0].casefold()


@lru_cache(maxsize=256)
def _pattern(keywords: Sequence[str]) -> re.Pattern[str] | None:
    plain = [_plain(word).split() for word in keywords]
    written = [r"\s+".join(map(re.escape, parts)) for parts in plain if parts]
    return re.compile(rf"(?<!\w)(?:{'|'.join(written)})(?!\w)") if written else None
