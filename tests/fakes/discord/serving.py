"""``antiphon serve`` with Discord alone, over a client that a test chooses."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from bot.compose.application import open_application
from bot.compose.discord import MakeClient, discord_platform
from bot.serve.supervision import serve
from bot.settings import Settings
from core.desk.views.platforms import PlatformStatus
from core.engine.llm.budget import Profile
from core.engine.pipeline import Engine
from tests.fakes.machine.sqlite_at_once import call_at_once


async def serve_discord(
    engine: Engine,
    settings: Settings,
    profile: Profile,
    stop: asyncio.Event,
    on_ready: Callable[[str], object],
    make_client: MakeClient,
    clock: Callable[[], datetime] | None = None,
) -> None:
    """Serve until ``stop`` is set; ``on_ready`` gets the line that says how to add the bot to a server."""

    def hear(standing: PlatformStatus) -> None:
        if standing.note:
            on_ready(standing.note)

    served = [discord_platform(settings, make_client)]
    async with open_application(engine, settings, served, profile, on_standing=hear, clock=clock) as application:
        await call_at_once(application.database.engine)
        await serve(application, stop, settings.desk.drain_seconds)
