"""The composition root of Discord: settings and an engine in, a bot that serves its communities until it is stopped.

Beside ``bot.compose.engine`` and ``bot.compose.application`` the only place where objects are built. Owns no rule of
its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

import discord

from adapters.discord import AntiphonClient, DiscordOptions, DiscordPlatform, DiscordRoles, capture, manage, review
from adapters.discord.connection.client import Installer
from adapters.discord.connection.events import listen
from adapters.discord.connection.refs import NAME
from bot.compose.application import Application, open_application, serve, worker_name
from bot.compose.command_file import CommandFile
from bot.compose.engine import make_folder
from bot.compose.settings import Settings
from bot.review.board import ReviewBoard
from core.engine import Engine
from core.errors import PlatformUnavailable
from core.llm.profiles import Profile
from core.moderation.community_policy import CommunityPolicy
from core.scoring.heads.heads import Heads
from core.wording import language

_LOG = logging.getLogger(__name__)
_STOP_SECONDS: Final = 10.0
PERMISSIONS: Final = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    embed_links=True,
    attach_files=True,
    read_message_history=True,
)
"""What the bot asks for in a server; it needs no more in any channel."""

MakeClient = Callable[[DiscordOptions, Sequence[Installer]], AntiphonClient]
OnReady = Callable[[str], object]
"""Called at each connection, with the address that adds the bot to a server."""


class HeadsDetector:
    """``core.ports.HateDetector`` by the built-in hate head, for English."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads

    async def score(self, text: str) -> float:
        """How likely a text is hateful, in [0, 1]."""
        return float((await asyncio.to_thread(self._heads.hateful, [text]))[0])


@dataclass(frozen=True)
class Parts:
    """What answers people on Discord, over one client."""

    client: AntiphonClient
    platform: DiscordPlatform
    roles: DiscordRoles
    surface: review.DiscordReviewSurface
    captures: list[capture.Capture]


async def serve_discord(
    engine: Engine,
    settings: Settings,
    profile: Profile,
    stop: asyncio.Event,
    on_ready: OnReady,
    *,
    make_client: MakeClient = AntiphonClient,
) -> None:
    """Serve every server that the bot is in, until ``stop`` is set; then end within a bounded time.

    Raises:
        BadSettings: Discord refuses the token or the intents.
        PlatformUnavailable: Discord ended the connection for good.
        StoreUnavailable: the database cannot be opened.
    """
    make_folder(settings.database_path.parent, "desk.database")
    language.prepare()  # later it would keep Discord waiting for longer than it does
    policies: list[Callable[[str], Coroutine[Any, Any, CommunityPolicy]]] = []
    connected = asyncio.Event()
    parts = _parts(engine, settings, policies, connected, on_ready, make_client)
    roles = {NAME: parts.roles}
    async with open_application(
        engine, settings, parts.platform, profile, _unheard, role_sources=roles, recovers=False
    ) as application:
        policies.append(lambda community: application.governance.policy(NAME, community))
        parts.client.attach(application.casework, application.governance)
        await _run(application, parts, settings, stop, connected)


def _parts(
    engine: Engine,
    settings: Settings,
    policies: list[Callable[[str], Coroutine[Any, Any, CommunityPolicy]]],
    connected: asyncio.Event,
    on_ready: OnReady,
    make_client: MakeClient,
) -> Parts:
    """The client and what is installed in it; ``policies`` is filled once there is a database."""
    wanted = settings.discord
    memory = CommandFile(settings.database_path.parent / "discord-commands.json")

    async def install(client: AntiphonClient) -> None:
        captured = capture.install(client, offer=platform.offer, detector=HeadsDetector(engine.heads))
        captures.append(captured)
        manage.install(client, left_out=lambda: captured.left_out)
        review.install(client, surface)
        try:
            await manage.sync_commands(client, memory)
        except PlatformUnavailable as err:
            _LOG.warning("Discord was not told of the commands; it is tried again at the next start: %s", err)

    async def ready() -> None:
        connected.set()
        if client.application_id is not None:
            on_ready(discord.utils.oauth_url(client.application_id, permissions=PERMISSIONS))

    async def policy_of(community: str) -> CommunityPolicy:
        return await policies[0](community) if policies else CommunityPolicy()

    guild = int(wanted.command_server) if wanted.command_server else None
    client = make_client(DiscordOptions(reads_messages=wanted.reads_messages, command_guild=guild), [install])
    listen(client, "ready", ready)
    platform, captures = DiscordPlatform(client), list[capture.Capture]()
    surface = review.DiscordReviewSurface(client)
    return Parts(client, platform, DiscordRoles(client, policy_of), surface, captures)


async def _run(
    application: Application, parts: Parts, settings: Settings, stop: asyncio.Event, connected: asyncio.Event
) -> None:
    """All parts at once; the first that ends, or fails, ends all."""
    ended = asyncio.Event()
    board = ReviewBoard(application.database, parts.surface, NAME, worker_name())
    drain = settings.desk.drain_seconds
    # The connection is closed last: what is being sent, and the last cards, still need it.
    connection = asyncio.create_task(parts.client.run_until(ended, settings.discord.token.get_secret_value()))
    working = [
        asyncio.create_task(serve(application, parts.platform, stop, drain, connected=connected)),
        asyncio.create_task(board.run(stop)),
    ]
    try:
        await asyncio.wait({connection, *working}, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await asyncio.wait(working, timeout=drain + _STOP_SECONDS)
    finally:
        await asyncio.gather(parts.platform.close(), *(captured.close() for captured in parts.captures))
        ended.set()
        for task in working:
            task.cancel()
        outcomes = await asyncio.gather(*working, connection, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
            raise outcome


def _unheard(_: object) -> None:
    """Nobody watches here: people see the progress on the cards."""
