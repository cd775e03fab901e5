"""``antiphon serve``: the chat platforms that are configured, until it is stopped.

Owns how such a process begins and ends. Several may run over one PostgreSQL database.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, err, run_to_exit
from bot.compose.settings import Settings, load_settings
from bot.compose.stopping import ending_at_once, ending_in_order
from core.engine import Engine
from core.errors import BadSettings

OpenEngine = Callable[[Settings], AbstractAsyncContextManager[Engine]]
"""Called with the settings; builds the engine, says what it prepares, and gives all back at the end."""


def add_to(app: typer.Typer, open_engine: OpenEngine) -> None:
    """Add the command; ``open_engine`` builds what drafts."""

    @app.command()
    def serve(
        profile: Annotated[str, typer.Option("--profile", help="quick, live, standard, thorough or paper.")] = "",
        config: ConfigOption = None,
    ) -> None:
        """Serve the configured chat platforms, until it is stopped (Ctrl-C or SIGTERM)."""

        async def begin() -> int:
            settings = load_settings(config)
            settings.profile_named(profile)  # what is wrong must show before the model is loaded
            _check_platforms(settings)
            logging.getLogger("discord").setLevel(logging.WARNING)
            await _serve(settings, profile, open_engine(settings))
            return 0

        run_to_exit(begin)


def _check_platforms(settings: Settings) -> None:
    if not settings.discord.token.get_secret_value():
        raise BadSettings(
            "No chat platform is configured: there is no token of a bot on Discord.",
            remedy="Set ANTIPHON__DISCORD__TOKEN in the environment; docs/discord.md says where to get one.",
        )


async def _serve(settings: Settings, profile: str, opening: AbstractAsyncContextManager[Engine]) -> None:
    from bot.compose.discord import serve_discord  # discord.py takes half a second to load, and only this needs it

    stop = asyncio.Event()

    def say_end() -> None:
        seconds = settings.desk.drain_seconds
        err().print(Text(f"Stopping: what is being drafted has {seconds:g} seconds. Once more to stop at once."))

    def say_ready(address: str) -> None:
        err().print(Text("Connected to Discord. Ctrl-C stops."))
        err().print(Text(f"To add it to a server, open {address}"), soft_wrap=True)

    with ending_at_once():
        async with opening as engine:
            with ending_in_order(stop, say_end):
                await serve_discord(engine, settings, settings.profile_named(profile), stop, say_ready)
    err().print(Text("Stopped. What was not finished is in the queue again."))
