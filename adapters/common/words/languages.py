"""The language in which to speak to a person: their own or the community's; and what each language calls itself."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from core.i18n.catalogs import LANGUAGES, language_of

OWN_NAMES: Final = {"en": "English", "es": "Español", "it": "Italiano", "eu": "Euskara"}
"""What each of our languages calls itself."""


def language_for(locale: str | None, community_language: str | None, unknown: Collection[str] = ()) -> str:
    """The language in which to speak to a person, one of ``core.i18n.catalogs.LANGUAGES``.

    If the community's language is one of ``unknown``, that language is used. Otherwise the reader's own comes first,
    then the community's, then English.

    Args:
        locale: the language of the reader's own app, for example "es-419".
        community_language: what the community chose.
        unknown: those of our languages that a person cannot choose on the platform.
    """
    if community_language is not None and community_language in unknown:
        return community_language
    base = (locale or "").split("-")[0].lower()
    return base if base in LANGUAGES else language_of(community_language)
