"""BM25 over a few texts, held in memory, by SQLite's FTS5.

The words of an index are in lower case, without stop words, and cut to the stem of their language.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock, local
from types import MappingProxyType
from typing import Final

import Stemmer

from core.engine.wording.text import stop_words

ENGLISH: Final = "en"
STEMMERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "english", "es": "spanish", "it": "italian", "eu": "basque",
        "fr": "french", "de": "german", "pt": "portuguese",
    }
)  # fmt: skip
"""Snowball's stemmer of each language, by ISO 639-1 code. In any other language a word stays whole."""

_LONGEST = 40  # longer runs of letters are addresses and keys, not words
_WORD = re.compile(r"[^\W_]+")
# Stop words take most of the time of a search and add nothing.
_STOP_WORDS = {
    "fr": "à a ai as au aux avec c ce ces comme d dans de des du elle en est et été être eux il ils j je l la le les "
    "leur lui m ma mais me mes moi mon même n ne nos notre nous on ont ou par pas plus pour qu que qui s sa se ses "
    "son sont sur t ta te tes toi ton tu un une vos votre vous y",
    "de": "aber als am an auch auf aus bei bin bis da das dass dem den der des die doch du durch ein eine einem einen "
    "einer eines er es für gegen hat ich ihr im in ist ja kann man mit nach nicht noch nur ob oder ohne sein sich sie "
    "sind so über um und uns unter vom von vor war was wenn wer wie wir wird zu zum zur",
    "pt": "a à ao aos as às com como da das de do dos e é ela elas ele eles em entre era essa esse esta este eu foi há "
    "isso já lhe mais mas me mesmo na nas nem no nos não nós o os ou para pela pelas pelo pelos por qual quando que "
    "quem se sem ser seu seus sua suas só são também te tem um uma você",
}
_STOPPED = {
    code: frozenset(_STOP_WORDS[code].split()) if code in _STOP_WORDS else stop_words(code) for code in STEMMERS
}


class _Stemmers(local):
    """A stemmer is not safe to share between threads."""

    def __init__(self) -> None:
        self.of = {code: Stemmer.Stemmer(name) for code, name in STEMMERS.items()}


_STEMMERS = _Stemmers()


def tokens(text: str, language: str = ENGLISH) -> list[str]:
    """The stems of a text, in order. ``language`` is an ISO 639-1 code."""
    whole = text.encode(errors="replace").decode()  # replaces a half character, as a broken client may send it
    words = [word for word in _WORD.findall(whole.lower()) if len(word) <= _LONGEST]
    if language not in STEMMERS:
        return words
    stopped = _STOPPED[language]
    stems_of: list[str] = _STEMMERS.of[language].stemWords([word for word in words if word not in stopped])
    return stems_of


def stems(text: str, language: str = ENGLISH) -> list[str]:
    """The different stems of a text, in order. Queries are made of these, so no character of a post is syntax."""
    return list(dict.fromkeys(tokens(text, language)))


def either(words: Iterable[str]) -> str:
    """An FTS5 query for texts with any of these words, each of which is taken as it is; "" where there are none."""
    quoted = (word.replace("\0", "").replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in quoted if word)


class Words:
    """The words of some texts; a text's row is its place among them. Safe to share between threads."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute("CREATE VIRTUAL TABLE words USING fts5(stems, content='', tokenize='ascii')")
        self._database.executemany(
            "INSERT INTO words (rowid, stems) VALUES (?, ?)",
            ((row, " ".join(words)) for row, words in enumerate(texts)),
        )
        self._lock = Lock()

    def search(self, words: Sequence[str], k: int) -> list[tuple[int, float]]:
        """The ``k`` rows that share a word with these, by BM25, best first, ties in their order."""
        query = either(words)
        if not query:
            return []
        with self._lock:
            return self._database.execute(
                "SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?", (query, k)
            ).fetchall()
