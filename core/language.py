"""Which language a post is written in.

Owns the detector (lingua) and which languages Antiphon writes. Abstains rather than guesses.
"""

from __future__ import annotations

from functools import cache

from lingua import IsoCode639_1, Language, LanguageDetector, LanguageDetectorBuilder

NAMES = {"en": "English", "es": "Spanish", "it": "Italian", "eu": "Basque"}
"""The languages that Antiphon writes, by ISO 639-1 code."""

_LEAST_CONFIDENCE = 0.35
_OTHERS = (
    "ARABIC CATALAN CHINESE DUTCH FINNISH FRENCH GERMAN GREEK HUNGARIAN POLISH PORTUGUESE ROMANIAN RUSSIAN SWEDISH "
    "TURKISH UKRAINIAN"
).split()


@cache
def _detector() -> LanguageDetector:
    known = [Language.from_iso_code_639_1(getattr(IsoCode639_1, code.upper())) for code in NAMES]
    others = [getattr(Language, name) for name in _OTHERS]
    return LanguageDetectorBuilder.from_languages(*known, *others).build()


def detect(text: str, expected: str) -> str | None:
    """The ISO 639-1 code of a text's language, or ``None`` where the detector cannot tell.

    Of 20 languages it names the likeliest, if its confidence is at least 0.35. Below that a short post is taken to be
    in the ``expected`` language (the community's), if that is among the three likeliest.
    """
    ranked = _detector().compute_language_confidence_values(text)
    codes = [value.language.iso_code_639_1.name.lower() for value in ranked if value.value > 0]
    if not codes:
        return None
    if ranked[0].value >= _LEAST_CONFIDENCE:
        return codes[0]
    return expected if expected in codes[:3] else None


def name_of(code: str) -> str:
    """The English name of a language, or its code if Antiphon does not write it."""
    return NAMES.get(code, code)
