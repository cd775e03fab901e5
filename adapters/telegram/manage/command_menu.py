"""Telling Telegram of our commands, only where what it shows is not what is wanted.

There is a list for each kind of chat and each of our languages. Telegram itself is asked what it was told last.
"""

from __future__ import annotations

import logging
from typing import Final

from telegram import BotCommand, BotCommandScope

from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS
from core.errors import PlatformUnavailable
from core.i18n.catalogs import LANGUAGES, gettext

_LOG = logging.getLogger(__name__)
_DEFAULT: Final = "en"
"""The language of the list without a language, which all others see."""
_REVIEW, _MANAGE = ("cases", "case", "status", "pause", "resume"), ("stats", "lately", "setup", "targets", "export")
_PRIVATE: Final = (*_REVIEW, *_MANAGE, "help")
_LISTS: Final = {
    BotCommandScope.ALL_GROUP_CHATS: ("counter",),
    BotCommandScope.ALL_CHAT_ADMINISTRATORS: ("counter", "setup", "targets", "status", "pause", "resume", "help"),
    BotCommandScope.ALL_PRIVATE_CHATS: _PRIVATE,
}


def commands_for(scope: BotCommandScope, language: str) -> list[BotCommand]:
    """A list as Telegram takes it; in groups all commands are seen by their sender alone.

    ``/counter`` stands there by its name in the language, which is heard beside the English one.
    """
    more = None if scope.type == BotCommandScope.ALL_PRIVATE_CHATS else {"is_ephemeral": True}
    words = _words(language)
    names = {"counter": gettext("counter", language)}
    return [BotCommand(names.get(name, name), words[name], api_kwargs=more) for name in _LISTS[scope.type]]


async def tell_commands(client: TelegramClient) -> int:
    """Set the lists that are not as they should be; call it after the login. Returns how many were set.

    Raises:
        PlatformUnavailable: Telegram refused them, or cannot be reached.
    """
    lists = 0
    try:
        for kind in _LISTS:
            for language in LANGUAGES:
                lists += await _tell(client, BotCommandScope(kind), language)
    except FAULTS as err:
        raise PlatformUnavailable(
            f"Telegram did not take the commands ({type(err).__name__}).",
            remedy="Start Antiphon again later; until then the commands stay as they were.",
        ) from err
    if lists:
        _LOG.info("Telegram was told of the commands.")
    return lists


async def _tell(client: TelegramClient, scope: BotCommandScope, language: str) -> bool:
    code = None if language == _DEFAULT else language
    wanted = commands_for(scope, language)
    standing = await client.bot.get_my_commands(scope, code)
    if [command.to_dict() for command in standing] == [command.to_dict() for command in wanted]:
        return False
    await client.bot.set_my_commands(wanted, scope, code)
    return True


def _words(language: str) -> dict[str, str]:
    return {
        "counter": gettext("As an answer to a post: draft a reply to it", language),
        "setup": gettext("Moderators' chat, roles, what is watched, posting", language),
        "targets": gettext("Groups, keywords, forbidden words, kinds of reply, tone, evidence", language),
        "cases": gettext("The open cases", language),
        "case": gettext("One case, by its number", language),
        "status": gettext("Queue, model, time to expect, missing rights", language),
        "pause": gettext("Stop all posting in a group at once", language),
        "resume": gettext("Allow posting again", language),
        "stats": gettext("What happened lately", language),
        "export": gettext("The cases as a file, without names", language),
        "lately": gettext("Who decided what lately", language),
        "help": gettext("What Antiphon does, and how", language),
    }
