"""What Antiphon says to people, in their language: gettext catalogs, read once.

The English sentences are in the code; ``core/i18n/locale`` holds the others, one file for
each language (``python -m tools.catalogs`` adds new sentences to them). The texts of posts and replies are never
translated.
"""

import logging
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from babel.messages.pofile import read_po

from core.i18n.sentences import Sentence

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
    """The translations into a language; none for English, and none where the installation lacks the file."""
    if language == "en":
        return {}
    try:
        with (_FOLDER / f"{language}.po").open("rb") as file:
            messages = read_po(file, locale=language)
    except FileNotFoundError:
        _LOG.warning("The catalog %s.po is missing: people are spoken to in English. Install Antiphon again.", language)
        return {}
    translations = {
        message.id: message.string
        for message in messages
        if isinstance(message.id, str) and isinstance(message.string, str) and message.string and not message.fuzzy
    }
    translations.pop("", None)  # the file's header is the translation of the empty text
    return translations


def gettext(sentence: str, locale: str | None, **values: object) -> str:
    """A sentence of Antiphon in the reader's language, with ``{names}`` filled in.

    Args:
        sentence: the English sentence; a literal in the code, so that it can be collected for the translators.
        locale: the reader's, as the platform says it; ``None`` for English.
    """
    return _filled(sentence, locale, values)


def translated(said: str, locale: str | None) -> str:
    """A sentence that was made before its reader was known, such as an error's message, in the reader's language.

    Args:
        said: a ``core.i18n.sentences.Sentence``. Any other text is looked up unchanged: a stored sentence is found if
            no values were filled in, and everything else is returned unchanged.
    """
    if not isinstance(said, Sentence):
        return _filled(said, locale, {})
    values = {
        name: translated(value, locale) if isinstance(value, Sentence) else value for name, value in said.values.items()
    }
    return _filled(said.template, locale, values)


def _filled(template: str, locale: str | None, values: Mapping[str, object]) -> str:
    found = _catalog(language_of(locale)).get(template, template)
    return found.format(**values) if values else found
