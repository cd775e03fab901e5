"""How plain a reply is: a small model learns to say plain things well before it learns to be witty.

Owns which words count as plain: those of the post, and those that our own texts use most.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_COMMON: Final = 2000


def words(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return _WORD.findall(text.casefold())


def common_words(texts: Iterable[str], count: int = _COMMON) -> frozenset[str]:
    """The words that texts use most."""
    counted = Counter(word for text in texts for word in words(text))
    return frozenset(word for word, _ in counted.most_common(count))


def unusual(text: str, post: str, common: frozenset[str]) -> float:
    """The share of a reply's words that are neither common nor the post's, in [0, 1]."""
    said = words(text)
    return sum(word not in common for word in set(said) - set(words(post))) / max(len(said), 1)


def plainest(texts: Sequence[tuple[str, str]], common: frozenset[str], share: float) -> list[int]:
    """Where the plainest ``share`` of (reply, post) pairs stand, in their order."""
    ranked = sorted(range(len(texts)), key=lambda at: unusual(*texts[at], common))
    return sorted(ranked[: round(share * len(texts))])
