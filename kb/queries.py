"""What is asked of the knowledge base, in words that it understands.

Owns which of the queries the embedding model can read, and what stands in for those that it cannot: their gloss in
English, where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from core.ports import EvidenceQuery
from kb.gloss import gloss

LanguageOf = Callable[[str], str | None]
_ROMA = re.compile(r"\b(?:gyps(?:y|ies)|gitan[oa]s?|zingar[aeio]|ijito\w*)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A search, prepared.

    Attributes:
        texts: all queries, the post first, as they stand and glossed: for a search by words.
        known: those that the embedding model can read, glosses included: for a search by meaning.
        claim: the claim or its gloss, or ``None`` where the model can read neither.
    """

    texts: tuple[str, ...]
    known: tuple[str, ...]
    claim: str | None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.texts and self.claim is None


def asked(query: EvidenceQuery, known_languages: frozenset[str], language_of: LanguageOf | None) -> Asked:
    """The queries as sources would say them, and a gloss of each that the embedding model cannot read."""

    def readable(text: str) -> str | None:
        language = language_of(text) if language_of else None
        if language is None or language in known_languages:
            return text
        return gloss(text, language) or None

    texts = [_as_sources_say(text) for text in dict.fromkeys(query.queries) if text.strip()]
    known = [found for text in texts if (found := readable(text))]
    claim = readable(query.claim) if query.claim.strip() else None
    return Asked(tuple(dict.fromkeys([*texts, *known])), tuple(dict.fromkeys(known)), claim)


def _as_sources_say(text: str) -> str:
    """A text with the name that reports use for a group, where posts use another: the vectors hardly know it."""
    return _ROMA.sub("Roma", text)
