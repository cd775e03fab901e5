"""Answers that only the person who asked can see, errors included.

Owns how an error reaches people: message and remedy of ``core.errors`` in their language, and for anything else one
sentence; and what becomes of an error that nobody can be told of any more. Must never write into a log what somebody
wrote, nor an error's own words: only its kind and place.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import Any, Final, TypeAlias

import discord
from discord import app_commands

from adapters.discord.connection.client import log_failure
from core.errors import AntiphonError
from core.i18n.catalogs import gettext, translated

_LOG = logging.getLogger(__name__)
MAX_CHARACTERS: Final = 2000
"""The longest message that Discord takes of a bot."""
_LANGUAGE: Final = "antiphon language"
Interaction: TypeAlias = discord.Interaction[Any]


def explain(error: AntiphonError, locale: str) -> str:
    """What went wrong and what to do about it, in a language, short enough for a message."""
    return shortened(f"{translated(error.message, locale)}\n{translated(error.remedy, locale)}".strip())


def speak(interaction: Interaction, locale: str) -> None:
    """Remember the language that who asks is spoken to in, which may be the community's, for what goes wrong later."""
    interaction.extras[_LANGUAGE] = locale


def shortened(text: str, limit: int = MAX_CHARACTERS) -> str:
    """A text of ``limit`` characters at most."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


async def defer(interaction: Interaction) -> None:
    """Acknowledge a command within Discord's three seconds; the answer follows, for this person alone."""
    await interaction.response.defer(ephemeral=True, thinking=True)


async def answer(interaction: Interaction, text: str) -> None:
    """Say something to the person alone, whether or not the interaction was acknowledged before."""
    text = shortened(text)
    if interaction.response.is_done():
        await interaction.followup.send(text, ephemeral=True, suppress_embeds=True)
    else:
        await interaction.response.send_message(text, ephemeral=True, suppress_embeds=True)


async def answer_error(interaction: Interaction, error: BaseException) -> None:
    """Say what went wrong to the person alone; log the kind of what was not foreseen."""
    locale = str(interaction.extras.get(_LANGUAGE) or interaction.locale.value)
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    if isinstance(cause, AntiphonError):
        text = explain(cause, locale)
    else:
        log_failure("an interaction", cause)
        text = gettext(
            "Something went wrong in Antiphon, and nothing was changed. Try again, or tell who runs it.",
            locale,
        )
    await last_said(answer(interaction, text))


async def last_said(saying: Awaitable[None]) -> None:
    """Say what is left to be said after an error; where that fails as well, only the log is told."""
    try:
        await saying
    except discord.HTTPException as err:
        _LOG.warning("An error could not be told to who asked: HTTP %s, code %s.", err.status, err.code)
    except Exception as err:  # the connection is gone, say: there is nobody to tell
        log_failure("telling somebody of an error", err)


def answer_command_errors(tree: app_commands.CommandTree[Any]) -> None:
    """Answer the errors of every command of a tree, those of cancelled tasks excepted."""

    async def on_error(interaction: Interaction, error: app_commands.AppCommandError) -> None:
        await answer_error(interaction, error)

    tree.error(on_error)
