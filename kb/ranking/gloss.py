"""English words for a post in Spanish, Italian, Basque or French, so that it finds evidence in English.

Owns the glossary beside this file, of what hateful posts speak about. A gloss is not a translation: word order,
negation and words that the list lacks are lost, and nobody is shown it. An embedding model that knows only English
needs it; a multilingual one does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

LANGUAGES = ("es", "it", "eu", "fr")
"""The languages of the list, in the order of its columns."""

_WHOM = "@"


def gloss(text: str, language: str | None) -> str:
    """English words for what a text is about, in the order of the text.

    "" where the list has none of its words, or only words for the group: any fact about that group would match then.
    """
    if language not in LANGUAGES:
        return ""
    plain = text.casefold().replace("’", "'")
    found = {term: match.start() for term, forms in _forms()[language].items() if (match := forms.search(plain))}
    if all(term.startswith(_WHOM) for term in found):
        return ""
    return " ".join(term.removeprefix(_WHOM).strip() for term in sorted(found, key=lambda term: found[term]))


@cache
def _forms() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    lines = resources.files("kb.ranking").joinpath("gloss.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|") for line in lines if line.strip() and not line.startswith("#")]
    return {
        language: {row[0].strip(): _any(row[column].split()) for row in rows}
        for column, language in enumerate(LANGUAGES, start=1)
    }


def _any(forms: list[str]) -> re.Pattern[str]:
    endings = (re.escape(form.removesuffix("*").replace("_", " ")) + r"\w*" * form.endswith("*") for form in forms)
    return re.compile(rf"(?<!\w)(?:{'|'.join(endings)})(?!\w)")
