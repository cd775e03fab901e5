"""How a text becomes the words of an index: lower case, without stop words, cut to the stem of its language.

Owns the analysis that documents and queries share. Both indexes of the knowledge base use it, so that the words of
queries and documents are cut in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import tantivy

ENGLISH = "english"
OTHER = "other"
"""Languages without a stemmer, such as Basque: whole words, in lower case."""
FIELDS: Mapping[str, str] = MappingProxyType(
    {"en": ENGLISH, "es": "spanish", "it": "italian", "fr": "french", "de": "german", "pt": "portuguese"}
)
"""The analysis of each language, by ISO 639-1 code; the names are tantivy's."""

_LONGEST = 40  # longer runs of letters are addresses and keys, not words


def _analyzer(name: str) -> tantivy.TextAnalyzer:
    plain = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(_LONGEST))
        .filter(tantivy.Filter.lowercase())
    )
    if name == OTHER:
        return plain.build()
    # Stop words take most of the time of a search and add nothing.
    return plain.filter(tantivy.Filter.stopword(name)).filter(tantivy.Filter.stemmer(name)).build()


ANALYZERS: Mapping[str, tantivy.TextAnalyzer] = MappingProxyType(
    {name: _analyzer(name) for name in (*FIELDS.values(), OTHER)}
)
"""One analyzer for each field; tantivy needs them under these names where texts are added."""


def tokens(text: str, field: str = ENGLISH) -> list[str]:
    """The stems of a text, in order."""
    whole = text.encode(errors="replace").decode()  # replaces a half character, as a broken client may send it
    return list(ANALYZERS[field].analyze(whole))


def stems(text: str, field: str = ENGLISH) -> list[str]:
    """The different stems of a text, in order. Queries are made of these, so no character of a post is syntax."""
    return list(dict.fromkeys(tokens(text, field)))
