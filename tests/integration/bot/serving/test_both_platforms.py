"""Discord and Telegram served by one process: while one of them is away the other is served as if nothing were."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import discord
import pytest
from pydantic import SecretStr

from bot.compose.application import Application, open_application
from bot.compose.discord import discord_platform
from bot.compose.settings import DiscordSettings, TelegramSettings
from bot.compose.telegram import telegram_platform
from bot.drafting.queue import Backoff
from bot.serving.running import serve
from bot.serving.supervision import Patience, first_of
from bot.store.schema import PlatformState
from bot.store.views.platforms import Standing
from core.engine import OnProgress
from core.models import Suggestion
from core.moderation.approval import CaseState
from core.request import Request
from tests.fakes.discord.server import TOKEN, DiscordServer, DiscordState, LoopbackClient
from tests.fakes.discord.server.commands import invoke
from tests.fakes.discord.server.state import CHANNEL_ID, GUILD_ID, OWNER_ID
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.installation import settings_of
from tests.fakes.machine.patience import until
from tests.fakes.telegram.server.server import TelegramServer

AWAY_SECONDS = 600


class _Engine:
    """An engine that drafts the same for everybody."""

    readers = readers_saying()

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> Suggestion:
        return suggestion_for(request.post)


@dataclass
class Both:
    """What is served, and people who flag on both platforms."""

    discord: DiscordServer
    telegram: TelegramServer
    application: Application
    heard: list[Standing]
    again: asyncio.Event
    owner: int
    group: int

    async def flag_on_discord(self, text: str) -> None:
        """By the menu of a message."""
        state = self.discord.state
        post = state.write(OWNER_ID, CHANNEL_ID, text)
        (command,) = [each for each in state.commands[""] if each["name"] == "Draft a reply"]
        data = {"id": command["id"], "name": "Draft a reply", "type": 3, "target_id": post["id"]}
        event = invoke(state, data | {"resolved": {"messages": {post["id"]: post}}})
        await self.discord.gateway.send("INTERACTION_CREATE", event)

    def flag_on_telegram(self, text: str) -> None:
        """By the command below a message."""
        town = self.telegram.town
        post = town.say(town.add_user("Author"), self.group, text)
        town.command(self.owner, self.group, "counter", reply_to=post)

    async def until_in_review(self, *texts: str) -> None:
        """Wait until exactly these posts have drafts."""

        async def are_there() -> bool:
            cases = await self.application.desk.queries.cases()
            assert {case.post.text for case in cases} <= set(texts)
            assert len(cases) <= len(texts), "A post became two cases."
            return [case.state for case in cases] == [CaseState.IN_REVIEW] * len(texts)

        await until(are_there)

    async def until_it_is(self, platform: str, state: PlatformState) -> None:
        """Wait until a platform stands so."""

        async def is_so() -> bool:
            said = [one.state for one in self.heard if one.platform == platform]
            return said[-1:] == [state]

        await until(is_so)

    def stood(self, platform: str) -> set[PlatformState]:
        """How a platform stood so far."""
        return {one.state for one in self.heard if one.platform == platform}


@asynccontextmanager
async def _both(folder: Path) -> AsyncIterator[Both]:
    state = DiscordState(lambda: datetime.now(UTC), shows_content=False)
    everybody = discord.Permissions(view_channel=True, send_messages=True, read_message_history=True)
    state.roles[GUILD_ID]["permissions"] = str(everybody.value)
    stop, again, heard = asyncio.Event(), asyncio.Event(), list[Standing]()

    async def wait(stop: asyncio.Event, _: float) -> None:
        await first_of(stop.wait(), again.wait())

    async with DiscordServer(state).running() as there, TelegramServer().running() as here:
        wanted: dict[str, Any] = {
            "discord": DiscordSettings(token=SecretStr(TOKEN)),
            "telegram": TelegramSettings(token=SecretStr(here.token), api_url=here.url),
        }
        settings = settings_of(folder / "antiphon.sqlite", folder).model_copy(update=wanted)
        platforms = [discord_platform(settings, LoopbackClient), telegram_platform(settings)]
        patience = Patience(Backoff("test", 10.0, 30.0), wait=wait)
        owner = here.town.add_user("Odile")
        group = here.town.add_group("Brenmoor", owner=owner, username="brenmoor", bot="administrator")
        async with open_application(
            _Engine(),  # type: ignore[arg-type]
            settings,
            platforms,
            PATIENT,
            on_standing=heard.append,
            patience=patience,
        ) as application:
            serving = asyncio.create_task(serve(application, stop, drain_seconds=20))
            try:
                made = Both(there, here, application, heard, again, owner, group)
                for name in ("discord", "telegram"):
                    await made.until_it_is(name, PlatformState.CONNECTED)
                yield made
            finally:
                stop.set()
                await asyncio.wait({serving})
        serving.result()
        assert (there.complaints, here.errors) == ([], [])


async def test_telegram_is_away_for_ten_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Discord is served on its first connection; what was flagged on Telegram meanwhile is heard, once."""
    monkeypatch.setattr("adapters.telegram.connection.polling._LONGEST_PAUSE_SECONDS", 0.01)
    async with _both(tmp_path) as both:
        both.telegram.refuse()
        await both.until_it_is("telegram", PlatformState.WAITING)
        both.telegram.town.wait(AWAY_SECONDS)
        both.flag_on_telegram("on Telegram, meanwhile")
        await both.flag_on_discord("on Discord, meanwhile")
        await both.until_in_review("on Discord, meanwhile")
        await both.telegram.accept()
        both.again.set()
        await both.until_in_review("on Discord, meanwhile", "on Telegram, meanwhile")
        await both.telegram.until_heard()
        assert both.stood("discord") == {PlatformState.CONNECTING, PlatformState.CONNECTED}


async def test_discord_is_away(tmp_path: Path) -> None:
    """Telegram is served on, on its first connection. Without a connection nobody can flag on Discord."""
    async with _both(tmp_path) as both:
        await both.flag_on_discord("on Discord, before")
        await both.until_in_review("on Discord, before")
        await both.discord.stop()
        await both.discord.gateway.drop()
        both.telegram.town.wait(AWAY_SECONDS)
        both.flag_on_telegram("on Telegram, meanwhile")
        await both.until_in_review("on Discord, before", "on Telegram, meanwhile")
        assert both.stood("telegram") == {PlatformState.CONNECTING, PlatformState.CONNECTED}
