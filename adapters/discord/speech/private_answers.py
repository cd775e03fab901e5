"""Answers that only the person who asked can see, errors included.

An interaction is acknowledged first, and answered then.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final, TypeAlias

import discord
from discord import app_commands

from adapters.common.words.errors import explain, last_said, log_failure, unforeseen
from adapters.common.words.excerpts import shortened
from adapters.discord.connection.error_meanings import FAULTS
from adapters.discord.speech.markup import MAX_CHARACTERS
from core.errors import AntiphonError

_LOG = logging.getLogger(__name__)
_LANGUAGE: Final = "antiphon language"
_PAUSES_SECONDS: Final = (1.0, 5.0, 25.0)
Interaction: TypeAlias = discord.Interaction[Any]


def speak(interaction: Interaction, locale: str) -> None:
    """Remember the language of the answer, which may be the community's, for errors that come later."""
    interaction.extras[_LANGUAGE] = locale


async def defer(interaction: Interaction) -> None:
    """Acknowledge a command within Discord's three seconds; the answer follows, for this person alone."""
    await interaction.response.defer(ephemeral=True, thinking=True)


async def answer(interaction: Interaction, text: str) -> None:
    """Say something to the person alone, whether or not the interaction was acknowledged before."""
    text = shortened(text, MAX_CHARACTERS)
    if interaction.response.is_done():
        await interaction.followup.send(text, ephemeral=True, suppress_embeds=True)
    else:
        await interaction.response.send_message(text, ephemeral=True, suppress_embeds=True)


async def answer_error(interaction: Interaction, error: BaseException) -> None:
    """Tell the person alone what went wrong; an error that was not foreseen is logged by its kind."""
    locale = str(interaction.extras.get(_LANGUAGE) or interaction.locale.value)
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    if isinstance(cause, AntiphonError):
        text = explain(cause, locale, MAX_CHARACTERS)
    else:
        log_failure("an interaction", cause)
        text = unforeseen(locale)
    await last_said(answer(interaction, text))


async def change_answer(interaction: Interaction, text: str) -> None:
    """Put another text in place of the answer; a lost connection is waited for, a refusal is only logged."""
    for pause_seconds in (*_PAUSES_SECONDS, None):
        try:
            await interaction.edit_original_response(content=text)
        except FAULTS as err:
            is_refused = isinstance(err, discord.HTTPException) and err.status < 500
            if is_refused or pause_seconds is None:
                _LOG.warning("An answer could not be changed: %s.", _kind_of(err))
                return
            await asyncio.sleep(pause_seconds)
        else:
            return


def _kind_of(err: BaseException) -> str:
    return f"HTTP {err.status}, code {err.code}" if isinstance(err, discord.HTTPException) else type(err).__name__


def answer_command_errors(tree: app_commands.CommandTree[Any]) -> None:
    """Answer the errors of every command of a tree, those of cancelled tasks excepted."""

    async def on_error(interaction: Interaction, error: app_commands.AppCommandError) -> None:
        await answer_error(interaction, error)

    tree.error(on_error)
