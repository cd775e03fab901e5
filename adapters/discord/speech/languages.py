"""The language in which a person on Discord is spoken to, and the names of commands in it."""

from __future__ import annotations

import logging
import re
from typing import Final

import discord
from discord import app_commands
from discord.app_commands import TranslationContextLocation as Location

from adapters.common.words.labels import language_for
from core.i18n.catalogs import gettext, language_of

_LOG = logging.getLogger(__name__)
_UNKNOWN_TO_DISCORD: Final = frozenset({"eu"})
"""Languages of ours that nobody can choose in Discord's settings."""
_NAMES: Final = frozenset({Location.command_name, Location.group_name, Location.parameter_name})
_NAME: Final = re.compile(r"[-_'\w]{1,32}")
_LONGEST: Final = {Location.command_name: 32, Location.group_name: 32, Location.parameter_name: 32}


def reader_language(locale: str | None, community_language: str | None) -> str:
    """The language in which to speak to a person on Discord; nobody can choose Basque there, so communities do."""
    return language_for(locale, community_language, _UNKNOWN_TO_DISCORD)


class CommandTranslator(app_commands.Translator):
    """Names and descriptions of commands in the languages that both Discord and Antiphon know."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """The translation, or ``None`` where there is none or Discord would not take it."""
        if language_of(locale.value) == "en":
            return None
        translated = gettext(string.message, locale.value)
        if translated == string.message:
            return None
        if not _is_taken(translated, context):
            _LOG.warning("The translation of %r for %s is no name for a command.", string.message, locale.value)
            return None
        return translated


def _is_taken(text: str, context: app_commands.TranslationContextTypes) -> bool:
    """Whether Discord takes a text in this place: short names of small letters, and texts of 100 characters."""
    is_menu = isinstance(context.data, app_commands.ContextMenu)
    if context.location in _NAMES and not is_menu:
        return text == text.lower() and _NAME.fullmatch(text) is not None
    return 0 < len(text) <= _LONGEST.get(context.location, 100)
