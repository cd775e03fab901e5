"""The whole application on the fake Telegram: it logs in, hears each update once, and comes back after an outage."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.platform import TelegramPlatform
from adapters.telegram.roles import TelegramRoles
from bot.compose.telegram import TelegramParts, telegram_platform
from bot.serve.platforms import ServedPlatform, Services
from bot.settings import Settings
from core.engine.pipeline import Engine
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding
from tests.fakes.telegram.whole import served


async def test_it_says_how_it_is_added_and_hears_each_message_once_through_an_outage(tmp_path: Path) -> None:
    heard: list[str] = []
    notes: list[str] = []

    async def listen(each: UpdateEvent) -> bool:
        assert each.update.message is not None
        heard.append(str(each.update.message.text))
        return True

    @asynccontextmanager
    async def install(client: TelegramClient, _: Services) -> AsyncIterator[TelegramParts]:
        client.listen("message", listen)
        yield TelegramParts(TelegramPlatform(client), TelegramRoles(client))

    def build(settings: Settings) -> list[ServedPlatform]:
        return [telegram_platform(settings, install)]

    engine = Engine(hate_finding(draft="Everybody was new once."), FakeEvidence([passage()]), readers_saying())
    async with served(engine, tmp_path, notes.append, build=build) as town:
        town.say("member", "before")
        await town.until(lambda: heard == ["before"])
        town.server.refuse()
        town.say("member", "meanwhile")
        await town.server.accept()
        await town.until(lambda: heard == ["before", "meanwhile"])
        await town.server.until_heard()
    assert notes == ["To add it to a group, open https://t.me/antiphon_bot?startgroup=1"]
