"""Whether two posts say nearly the same, as in a raid that repeats a text with small changes.

Two posts are near-identical when their sets of shingles, runs of five letters of the normal form, have a Jaccard
similarity of 0.75 or more. Bands find the possible ones (Broder 1997; Leskovec, Rajaraman and Ullman, Mining of Massive
Datasets, chapter 3): with 10 bands of 4 rows, 98 of 100 pairs at 0.75 share a band, and 99.5 at 0.8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from zlib import crc32

import numpy as np

from core.engine.wording.disguises import READINGS, bare
from core.engine.wording.text import MAX_POST_CHARACTERS

NEAR_IDENTICAL: Final = 0.75
_SHINGLE: Final = 5
_LEAST_SHINGLES: Final = 20
"""A shorter post keeps too few shingles when one word changes; it is compared for identity only."""
_BANDS: Final = 10
_ROWS: Final = 4
_PRIME: Final = np.uint64(4_294_967_311)
_FACTORS, _TERMS = np.random.default_rng(1).integers(1, 2**32, size=(2, _BANDS * _ROWS, 1), dtype=np.uint64)
_PASSING: Final = re.compile(r"https?://\S+|www\.\S+|<[@#][!&]?\d+>|(?<!\w)@[\w.@-]+", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?:[@$]+[^\W_]+)*")
_REPEATED: Final = re.compile(r"(.)\1+")


@dataclass(frozen=True)
class Likeness:
    """What is compared of a post. Posts that share no band do not match; a post without bands matches no other."""

    bands: tuple[bytes, ...]
    shingles: frozenset[str]

    def to(self, other: Likeness) -> float:
        """The Jaccard similarity of the shingles, in [0, 1]; for short posts it is 1 or 0."""
        if min(len(self.shingles), len(other.shingles)) < _LEAST_SHINGLES:
            return float(self.shingles == other.shingles)
        shared = len(self.shingles & other.shingles)
        return shared / (len(self.shingles) + len(other.shingles) - shared)


def likeness_of(text: str) -> Likeness:
    """The part of a text that is compared with other texts: of one longer than a post may be, the beginning."""
    normal = normal_form(text[:MAX_POST_CHARACTERS])
    shingles = _shingles(normal)
    if len(shingles) < _LEAST_SHINGLES:
        return Likeness((b"=" + normal.encode(),) if normal else (), shingles)
    hashes = np.array([crc32(run.encode()) for run in shingles], dtype=np.uint64)
    # a * x + b modulo a prime above 2**32: each row puts the hashes in another order and keeps the first.
    least = ((np.outer(_FACTORS, hashes) + _TERMS) % _PRIME).min(axis=1)
    rows = least.astype(np.uint32).reshape(_BANDS, _ROWS)
    return Likeness(tuple(bytes([band]) + rows[band].tobytes() for band in range(_BANDS)), shingles)


def unbanded_likeness_of(text: str) -> Likeness:
    """The same without bands, in an eighth of the time, for a text that was found by its bands."""
    return Likeness((), _shingles(normal_form(text[:MAX_POST_CHARACTERS])))


def _shingles(normal: str) -> frozenset[str]:
    runs = frozenset(normal[at : at + _SHINGLE] for at in range(len(normal) - _SHINGLE + 1))
    return runs if len(runs) >= _LEAST_SHINGLES else frozenset({normal} if normal else ())


def normal_form(text: str) -> str:
    """A text without what a raid changes: case, accents, marks, spaces, links, mentions, disguised letters.

    In a text without letters and digits, such as one of emojis, all visible characters are kept.
    """
    whole = bare(text)
    words = (_plain_word(word) for word in _WORD.findall(_PASSING.sub(" ", whole)))
    return "".join(words) or "".join(whole.split())


def _plain_word(word: str) -> str:
    """A word with signs replaced by letters, and each letter once in a row; a number is not changed."""
    if not any(character.isalpha() for character in word):
        return word
    return _REPEATED.sub(r"\1", word.translate(READINGS[0]))
