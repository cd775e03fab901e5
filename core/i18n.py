"""What Antiphon says to people, in their language: gettext catalogs, read once.

Owns the choice of a catalog. The English sentences stand in the code; ``core/locale`` holds the others, one file for
each language (``python -m tests.catalogs`` writes new sentences into them). What posts and replies say is never
translated.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from typing import Final

from babel.messages.pofile import read_po

_LOG = logging.getLogger(__name__)
LANGUAGES: Final = ("en", "es", "it", "eu")
"""The languages that people are spoken to in."""
_FOLDER: Final = Path(__file__).parent / "locale"


def language_of(locale: str | None) -> str:
    """The language for a locale such as ``es-419`` or ``it``; English where there is no catalog."""
    language = (locale or "").replace("_", "-").split("-")[0].lower()
    return language if language in LANGUAGES else "en"


@lru_cache(maxsize=len(LANGUAGES))
def _catalog(language: str) -> dict[str, str]:
    """The translations into a language; none into English, nor where the installation lacks the file."""
    if language == "en":
        return {}
    try:
        with (_FOLDER / f"{language}.po").open("rb") as file:
            messages = read_po(file, locale=language)
    except FileNotFoundError:
        _LOG.warning("The catalog %s.po is missing: people are spoken to in English. Install Antiphon anew.", language)
        return {}
    return {
        message.id: message.string
        for message in messages
        if isinstance(message.id, str) and isinstance(message.string, str) and message.string and not message.fuzzy
    }


def gettext(sentence: str, locale: str | None, **values: object) -> str:
    """A sentence of ours in the reader's language, with ``{names}`` filled in.

    Args:
        sentence: in English, a literal, so that it can be collected for the translators.
        locale: the reader's, as the platform says it; ``None`` for English.
    """
    translated = _catalog(language_of(locale)).get(sentence, sentence)
    return translated.format(**values) if values else translated
