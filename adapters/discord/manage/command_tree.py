"""Our commands at Discord, which is told of them only when they changed: it allows 200 new ones a day in each server.

They are registered in one scope only, in all servers or in one, and taken away where they were before: people would
see each of them twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Iterable
from typing import Any, Final, Protocol

import aiohttp
import discord
from discord import app_commands

from adapters.discord.connection.client import AntiphonClient
from adapters.discord.speech.languages import CommandTranslator
from core.errors import PlatformUnavailable

_LOG = logging.getLogger(__name__)
_EVERYWHERE: Final = "everywhere"


class CommandMemory(Protocol):
    """A few short texts that outlast the process."""

    def get(self, key: str) -> str | None:
        """The text under a key; ``None`` if there is none."""
        ...

    def set(self, key: str, value: str) -> None:
        """Keep a text."""
        ...

    def known(self) -> Collection[str]:
        """The keys of all texts that are kept."""
        ...

    def forget(self, key: str) -> None:
        """Delete the text."""
        ...


def payload_hash(payload: Iterable[dict[str, Any]]) -> str:
    """The SHA-256 of a payload of commands, whatever their order."""
    rows = sorted(json.dumps(command, sort_keys=True, ensure_ascii=True) for command in payload)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


async def sync_commands(client: AntiphonClient, memory: CommandMemory) -> bool:
    """Tell Discord of the tree's commands if they are not as they were told last; call it after the login.

    In one server alone where ``DiscordOptions.command_guild`` names it. What is told is kept only once Discord took
    it, so a failed attempt is made again at the next start. Then the commands are taken away where they were told
    before and are not wanted any more.

    Returns:
        Whether any were told.

    Raises:
        PlatformUnavailable: Discord refused the commands, or cannot be reached.
    """
    guild = None if client.options.command_guild is None else discord.Object(client.options.command_guild)
    if not isinstance(client.tree.translator, CommandTranslator):
        await client.tree.set_translator(CommandTranslator())
    if guild is not None:
        client.tree.copy_global_to(guild=guild)
    wanted = payload_hash(await _payload(client.tree, guild))
    key = f"{client.application_id}:{_EVERYWHERE if guild is None else guild.id}"
    is_new = memory.get(key) != wanted
    if is_new:
        await _tell(client, guild)
        memory.set(key, wanted)
        _LOG.info("Discord was told of the commands.")
    await _take_away(client, memory, key)
    return is_new


async def _take_away(client: AntiphonClient, memory: CommandMemory, wanted: str) -> None:
    """Remove our commands from every scope except the wanted one; those of another bot account are left alone."""
    owner = f"{client.application_id}:"
    for key in sorted(key for key in memory.known() if key.startswith(owner) and key != wanted):
        await _clear(client, key.removeprefix(owner))
        memory.forget(key)
        _LOG.info("Discord was told that the commands are not registered where they were before.")


async def _clear(client: AntiphonClient, scope: str) -> None:
    application = client.application_id
    if application is None:  # nobody is logged in
        return
    try:
        if scope == _EVERYWHERE:
            await client.http.bulk_upsert_global_commands(application, [])
        else:
            await client.http.bulk_upsert_guild_commands(application, int(scope), [])
    except (discord.Forbidden, discord.NotFound):
        _LOG.info("The bot is not in the server any more where its commands were registered.")
    except (discord.HTTPException, aiohttp.ClientError, OSError) as err:
        raise PlatformUnavailable(
            f"Discord did not take the commands away from where they were before ({type(err).__name__}).",
            remedy="Start Antiphon again later; until then people may see each command twice.",
        ) from err


async def _payload(
    tree: app_commands.CommandTree[AntiphonClient], guild: discord.Object | None
) -> list[dict[str, Any]]:
    translator = tree.translator
    commands = tree.get_commands(guild=guild)
    if translator is None:
        return [command.to_dict(tree) for command in commands]
    return [await command.get_translated_payload(tree, translator) for command in commands]


async def _tell(client: AntiphonClient, guild: discord.Object | None) -> None:
    try:
        await client.tree.sync(guild=guild)
    except discord.Forbidden as err:
        raise PlatformUnavailable(
            "Discord does not let this bot add commands.",
            remedy="Invite it again with the scopes bot and applications.commands; docs/platforms/discord.md has the "
            "link.",
        ) from err
    except (discord.HTTPException, app_commands.AppCommandError, aiohttp.ClientError, OSError) as err:
        raise PlatformUnavailable(
            f"Discord did not take the commands ({type(err).__name__}).",
            remedy="Start Antiphon again later; until then the commands stay as they were.",
        ) from err
