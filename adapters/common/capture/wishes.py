"""The word that asks for drafts, and the words behind it: which kind of reply, in which language, how it should sound.

Understood in the languages in which Antiphon speaks to people.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from adapters.common.words.labels import OWN_NAMES
from core.i18n.catalogs import LANGUAGES, gettext
from core.models import Intent, Wish

COMMAND: Final = "counter"
"""The word that asks for drafts."""
COMMAND_NAMES: Final = frozenset(gettext("counter", language) for language in LANGUAGES)
"""Its name in the languages in which Antiphon speaks to people, as sentences name it."""
_STEMS: Final[dict[Intent, tuple[str, ...]]] = {
    Intent.INFORMATIVE: ("inform", "fact", "dato", "dati", "datu"),
    Intent.EMPATHETIC: ("empath", "empat", "enpat"),
    Intent.QUESTIONING: ("question", "pregunt", "domand", "galde"),
    Intent.DENOUNCING: ("denounc", "denunc", "salat"),
    Intent.POSITIVE: ("positi",),
}
"""How the words for a kind of reply begin, in English, Spanish, Italian and Basque, without accents."""
_LANGUAGES: Final = {
    "english": "en", "ingles": "en", "inglese": "en", "ingelesa": "en",
    "spanish": "es", "castellano": "es", "spagnolo": "es", "gaztelania": "es",
    "italian": "it", "italiana": "it", "italiera": "it",
    "basque": "eu", "vasco": "eu", "basco": "eu", "euskera": "eu",
}  # fmt: skip


def wish_in(words: str) -> Wish:
    """What somebody wishes for: first words that name a kind of reply or a language, then how it should sound."""
    intent: Intent | None = None
    language: str | None = None
    rest = words.split()
    while rest:
        named, spoken = _intent(rest[0]), _language(rest[0])
        if named is not None and intent is None:
            intent = named
        elif spoken is not None and language is None:
            language = spoken
        else:
            break
        rest.pop(0)
    return Wish(intent, language, " ".join(rest))


def _intent(word: str) -> Intent | None:
    plain = _plain(word)
    return next((intent for intent, stems in _STEMS.items() if plain.startswith(stems)), None)


def _language(word: str) -> str | None:
    plain = _plain(word)
    names = {_plain(name): code for code, name in OWN_NAMES.items()}
    return plain if plain in OWN_NAMES else names.get(plain) or _LANGUAGES.get(plain)


def _plain(word: str) -> str:
    """A word in small letters without accents."""
    apart = unicodedata.normalize("NFD", word.casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))
