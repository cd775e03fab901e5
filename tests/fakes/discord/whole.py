"""The whole application as ``antiphon serve`` builds it, on SimCord in place of Discord, and hands and eyes on it.

A new server holds an owner, a moderator, a volunteer and a private channel; nothing is set up there yet.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import discord
from pydantic import SecretStr
from simcord.env import Env

from adapters.discord.connection.client import AntiphonClient
from bot.settings import DeskSettings, DiscordSettings, Settings
from core.engine.pipeline import Engine
from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, texts_of
from tests.fakes.discord.serving import serve_discord
from tests.fakes.engine.brief import PATIENT
from tests.fakes.machine.patience import GUARD_SECONDS


class SimulatedClient(AntiphonClient):
    """The client whose connection is a simulated Discord; ``env`` is set once it is connected."""

    env: asyncio.Future[Env]

    async def run_until(self, stop: asyncio.Event, token: str) -> None:
        """Be on the simulated Discord until ``stop`` is set."""
        env = Env(self, shard_count=1, settle_timeout=GUARD_SECONDS)
        await env.start()
        try:
            self.env.set_result(env)
            await stop.wait()
            env.raise_errors()
        finally:
            await env.shutdown()


@dataclass
class NewServer:
    """A server that the bot was just added to: an owner, a moderator, a volunteer, and a private channel."""

    env: Env
    square: Any
    room: Any
    staff: Any
    helpers: Any
    people: dict[str, Any]

    def cards(self) -> list[list[dict[str, Any]]]:
        """The components of the cards in the private channel, oldest first."""
        return [message.components for message in self._messages(self.room)]

    def card(self, *words: str) -> str | None:
        """The text of the newest card, if all these words stand on it."""
        shown = [read_as_discord_shows("\n".join(texts_of(card))) for card in self.cards()[-1:]]
        return next((text for text in shown if all(word in text for word in words)), None)

    def replies(self) -> list[discord.Message]:
        """What the bot said on the square."""
        me = self.env.bot.user
        assert me is not None
        return [message for message in self.square.history() if message.author.id == me.id]

    def questions(self) -> list[str]:
        """What the bot asked about the server and its people."""
        calls = [call for call in self.env.http_requests if call.method == "GET"]
        return [call.path for call in calls if call.path.startswith("/guilds/")]

    def _messages(self, channel: Any) -> list[Any]:
        return [self.env.backend.get_message(channel.id, message.id) for message in channel.history()]

    async def until(self, look: Callable[[], Any]) -> Any:
        """What ``look`` finds, once it finds something."""
        async with asyncio.timeout(GUARD_SECONDS):
            while not (found := look()):  # noqa: ASYNC110 - Discord tells nobody
                await asyncio.sleep(0.02)
        return found

    async def click(self, who: str, label: str) -> Any:
        """Press a button of the newest card."""
        await self.until(lambda: label in buttons_of(self.cards()[-1]))
        return await self.people[who].click(self.room.last_message, custom_id=buttons_of(self.cards()[-1])[label])

    async def press(self, who: str, answer: Any, label: str) -> Any:
        """Press a button of a private answer."""
        return await self.people[who].click(answer, custom_id=buttons_of(answer.components)[label])

    async def choose(self, result: Any, field: str, values: list[Any]) -> None:
        """The owner chooses something on the panel of ``/antiphon setup``."""
        await self.people["owner"].select(result.response, values, custom_id=f"antiphon:manage:setup:{field}")

    async def set_up(self) -> None:
        """The owner chooses the review channel, the moderators and the volunteers."""
        panel = await self.people["owner"].slash(self.square, "antiphon setup")
        assert panel.response.ephemeral
        await self.choose(panel, "review_channel", [self.room])
        await self.choose(panel, "moderators", [self.staff])
        await self.choose(panel, "volunteers", [self.helpers])


def new_server(env: Env) -> NewServer:
    """The server, made on a simulated Discord that the bot is connected to."""
    guild = env.create_guild()
    us = env.bot.user
    assert us is not None
    hidden, seen = discord.PermissionOverwrite(view_channel=False), discord.PermissionOverwrite(view_channel=True)
    staff = guild.create_role("Staff", permissions=discord.Permissions(manage_messages=True))
    helpers = guild.create_role("Helpers")
    admin = guild.create_role("Admin", permissions=discord.Permissions(administrator=True))
    square = guild.create_text_channel("square")
    room = guild.create_text_channel("room", overwrites={guild.default_role: hidden, staff: seen, us: seen})
    roles: dict[str, list[Any]] = {
        "owner": [admin],
        "moderator": [staff],
        "volunteer": [helpers],
        "author": [],
        "member": [],
    }
    roles |= {"second": [staff], "helper": [helpers]}
    people = {name: guild.add_member(env.create_user(name), roles=given) for name, given in roles.items()}
    return NewServer(env, square, room, staff, helpers, people)


@asynccontextmanager
async def served(
    engine: Engine,
    folder: Path,
    on_ready: Callable[[str], object] = str,
    *,
    clock: Callable[[], datetime] | None = None,
    undo_seconds: float = 0.5,
) -> AsyncIterator[NewServer]:
    """``antiphon serve`` with nothing but a token, in an installation that never ran before.

    Args:
        on_ready: is told how to add the bot to a server.
        clock: the database's; this machine's if not given.
    """
    desk = DeskSettings(
        database=str(folder / "antiphon.db"),
        secret_file=str(folder / "secret"),
        backup_folder=str(folder / "backups"),
        undo_seconds=undo_seconds,
    )
    settings = Settings(desk=desk, discord=DiscordSettings(token=SecretStr("not-a-token")))
    stop, connected = asyncio.Event(), asyncio.get_running_loop().create_future()

    def make(*args: Any, **how: Any) -> AntiphonClient:
        client = SimulatedClient(*args, **how)
        client.env = connected
        return client

    serving = asyncio.create_task(serve_discord(engine, settings, PATIENT, stop, on_ready, make, clock))
    try:
        await asyncio.wait({serving, connected}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            await serving
        yield new_server(await connected)
    finally:
        stop.set()
        await serving
