"""Which language a person on Telegram is spoken to in. Posts and replies are never translated."""

from __future__ import annotations

from typing import Final

from adapters.common.words.languages import language_for

_UNKNOWN_TO_TELEGRAM: Final = frozenset({"eu"})
"""Languages of ours that the list in Telegram's apps does not have."""


def reader_language(locale: str | None, community_language: str | None) -> str:
    """The language in which to speak to a person; few have Basque as their app's language, so communities choose it."""
    return language_for(locale, community_language, _UNKNOWN_TO_TELEGRAM)
