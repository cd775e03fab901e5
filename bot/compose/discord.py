"""Puts the Discord platform together: settings in, a platform that can be served out."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import discord

from adapters.discord import capture
from adapters.discord.connection.client import AntiphonClient, listen
from adapters.discord.connection.refs import NAME, name_of
from adapters.discord.manage import commands
from adapters.discord.platform import DiscordPlatform, DiscordRoles
from adapters.discord.review import presses
from adapters.discord.review.items import card_layout
from adapters.discord.review.surface import DiscordNotifier, DiscordReviewSurface
from adapters.discord.speech import MAX_CHARACTERS
from bot.serve.platforms import Connection, ServedPlatform, Services
from bot.serve.supervision import wait_for_end
from bot.settings import DiscordSettings, Settings
from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence

_LOG = logging.getLogger(__name__)
PERMISSIONS: Final = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    embed_links=True,
    attach_files=True,
    read_message_history=True,
)
"""The permissions that the bot asks for in a server; it needs no others in any channel."""

MakeClient = Callable[..., AntiphonClient]


def discord_platform(settings: Settings, make_client: MakeClient = AntiphonClient) -> ServedPlatform:
    """Every server that the bot is in, as one platform."""
    return ServedPlatform(NAME, MAX_CHARACTERS, partial(_connected, settings.discord, make_client), has_roles=True)


@asynccontextmanager
async def _connected(wanted: DiscordSettings, make_client: MakeClient, services: Services) -> AsyncIterator[Connection]:
    """A client of its own, connected until the block is over.

    Raises:
        BadSettings: Discord refuses the token or the intents.
        PlatformUnavailable: Discord cannot be reached, or ended the connection.
    """
    logging.getLogger("discord").setLevel(logging.WARNING)
    client = make_client([_tell_commands], services.casework, services.governance, reads_messages=wanted.reads_messages)
    surface = DiscordReviewSurface(client, elsewhere=services.address_of)
    platform = DiscordPlatform(client)
    captured = capture.Capture(client, services.detector)
    commands.install(client, card_view=card_layout, left_out=lambda: captured.left_out, detector=services.detector)
    presses.install(client, surface)
    ready, closing = asyncio.Event(), asyncio.Event()
    listen(client, "ready", _setting(ready))
    running = asyncio.create_task(client.run_until(closing, wanted.token.get_secret_value()))
    try:
        await _until_ready(ready, running)
        roles = DiscordRoles(client, partial(services.governance.policy, NAME))
        notifier = DiscordNotifier(client)
        end, named = partial(wait_for_end, running), partial(name_of, client)
        yield Connection(platform, roles, surface, notifier, end, _invitation(client), name_of=named)
    finally:
        await captured.close()
        closing.set()
        await asyncio.wait({running})


async def _tell_commands(client: AntiphonClient) -> None:
    try:
        await commands.tell_commands(client)
    except PlatformUnavailable as err:
        _LOG.warning("Discord was not told of the commands; it is tried again at the next start: %s", err)


def _setting(event: asyncio.Event) -> Callable[[], Awaitable[None]]:

    async def listener() -> None:
        event.set()

    return listener


async def _until_ready(ready: asyncio.Event, running: asyncio.Task[None]) -> None:
    waiting = asyncio.create_task(ready.wait())
    try:
        await asyncio.wait({waiting, running}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if running.done():
        running.result()
        raise PlatformUnavailable(
            sentence("Discord ended the connection."), remedy=sentence("It is connected again by itself.")
        )


def _invitation(client: AntiphonClient) -> str:
    if client.application_id is None:
        return ""
    return f"To add it to a server, open {discord.utils.oauth_url(client.application_id, permissions=PERMISSIONS)}"
