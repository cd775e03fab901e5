"""Platforms and their accounts, on servers of our own that answer as they do: each fault is caused, and told."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import SecretStr

from adapters.telegram.connection.client import TelegramClient, TelegramOptions
from adapters.telegram.connection.updates import UpdatePoll
from bot.cli.doctor.checks import examine_accounts, examine_platforms
from bot.serve.hosted_review import HostedReview
from bot.settings import DiscordSettings, MastodonSettings, Settings, TelegramSettings
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.database.secret import load_secret
from core.desk.rules.platforms import ArrivedUpdate
from core.desk.rules.roles import Operator
from core.desk.runtime.findings import Finding
from core.desk.schema import PlatformState
from core.desk.store.inbox import StoredInbox
from core.desk.views import platforms, review_cards
from core.desk.views.platforms import PlatformStatus
from core.errors import PlatformUnavailable
from tests.fakes.discord.server import DiscordServer, DiscordState
from tests.fakes.discord.server.server import TOKEN
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.doctor_faults import told
from tests.fakes.machine.installation import flag_in, settings_of
from tests.fakes.mastodon.server.server import BOT_SCOPES, MastodonServer
from tests.fakes.ports.surface import FakeSurface
from tests.fakes.telegram.server.server import TelegramServer


def _discord(token: str = TOKEN, *, reads_messages: bool = False) -> Settings:
    return Settings(discord=DiscordSettings(token=SecretStr(token), reads_messages=reads_messages))


def _telegram(server: TelegramServer, token: str = "", **more: Any) -> Settings:
    return Settings(telegram=TelegramSettings(token=SecretStr(token or server.token), api_url=server.url, **more))


def _mastodon(server: MastodonServer, token: str = "") -> Settings:
    return Settings(mastodon=MastodonSettings(url=server.url, token=SecretStr(token or server.bot.token)))


async def test_discord_accepts_the_account_or_says_why_not() -> None:
    async with DiscordServer(DiscordState(FakeClock())).running() as server:
        assert [one.ok for one in await examine_accounts(_discord(reads_messages=True))] == [True]
        told("a Discord token that is refused", await examine_accounts(_discord("wrong")))
        server.state.shows_content = False
        told("a Discord bot that may not read messages", await examine_accounts(_discord(reads_messages=True)))
        assert [one.ok for one in await examine_accounts(_discord())] == [True]
        await server.stop()
        told("a Discord that cannot be reached", await examine_accounts(_discord()))
    assert server.complaints == []


async def test_telegram_accepts_the_account_or_says_why_not() -> None:
    server = TelegramServer()
    async with server.running():
        assert [one.ok for one in await examine_accounts(_telegram(server))] == [True]
        told("a Telegram token that is refused", await examine_accounts(_telegram(server, "7:wrong")))
        told("a Telegram token that is none", await examine_accounts(_telegram(server, "wrong")))
        server.webhook = {"url": "https://other.example/hook"}
        told("a Telegram bot that another program serves", await examine_accounts(_telegram(server)))
        server.refuse()
        told("a Telegram that cannot be reached", await examine_accounts(_telegram(server)))
    assert server.errors == []


_OWNED: Final = "Run by @ana@far.example. Write to her to be left alone."


async def test_mastodon_accepts_the_account_or_says_why_not() -> None:
    server = MastodonServer()
    async with server.running():
        good = server.town.add_account("good", bot=True, note=_OWNED, scopes=BOT_SCOPES)
        person = server.town.add_account("person", note=_OWNED, scopes=BOT_SCOPES)
        reader = server.town.add_account("reader", bot=True, note=_OWNED, scopes=("read:accounts", "read:statuses"))
        assert [one.ok for one in await examine_accounts(_mastodon(server, good.token))] == [True]
        told("a Mastodon account that is not marked as automated", await _asked(server, person.token))
        told("a Mastodon profile that names nobody", await _asked(server, server.bot.token))
        told("a Mastodon token without a scope", await _asked(server, reader.token))
        told("a Mastodon token that is refused", await _asked(server, "wrong"))
        server.refuse()
        told("a Mastodon instance that cannot be reached", await _asked(server, good.token))


async def _asked(server: MastodonServer, token: str) -> list[Finding]:
    return await examine_accounts(_mastodon(server, token))


# What the processes say that serve them; on SQLite, since the store is tested on both


@pytest.fixture
async def settings(tmp_path: Path) -> Settings:
    """An installation with a database."""
    await flag_in(tmp_path)
    return settings_of(tmp_path / "antiphon.db", tmp_path)


@pytest.fixture
async def kept(settings: Settings) -> AsyncIterator[Database]:
    """Its database, as another process has it open."""
    database = await Database.open(settings.database_path, secret=load_secret(settings.secret_file))
    yield database
    await database.close()


async def _stand(database: Database, standing: PlatformStatus, hours: float = 1) -> None:
    lease = timedelta(hours=hours)
    await database.run("stand", lambda session: platforms.keep(session, "process 1", [standing], lease))


async def test_the_process_that_served_a_platform_is_gone(kept: Database, settings: Settings) -> None:
    await _stand(kept, PlatformStatus("discord", PlatformState.CONNECTED), hours=-1)
    told("a process that is gone", await examine_platforms(settings))


async def test_two_programs_receive_the_updates_of_one_bot(kept: Database, settings: Settings) -> None:
    """Telegram refuses one of the two, which the process says as its supervisor would."""
    server = TelegramServer()
    async with server.running():
        clients = [TelegramClient(TelegramOptions(server.token, server.url, poll_seconds=5)) for _ in range(2)]
        for client in clients:
            await client.open()
        inbox = StoredInbox(kept, "telegram", "7", "process 1")
        first = asyncio.create_task(UpdatePoll(clients[0], inbox, lambda: None).run())
        await server.until(lambda: server.asked("getUpdates"))
        second = asyncio.create_task(UpdatePoll(clients[1], inbox, lambda: None).run())
        await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)
        (refused,) = [one.exception() for one in (first, second) if one.done()]
        for polling in (first, second):
            polling.cancel()
        for client in clients:
            await client.close()
    assert isinstance(refused, PlatformUnavailable)
    waits = PlatformStatus("telegram", PlatformState.WAITING, 1, refused.message, refused.remedy, 5.0)
    await _stand(kept, waits)
    told("a Telegram bot whose updates another program receives", await examine_platforms(settings))


async def test_a_community_is_reviewed_on_another_platform(kept: Database, settings: Settings) -> None:
    """Where that platform is not configured, or shows no card there, it is said."""
    desk, operator = CommunityDesk(kept), Operator("operator")
    place = await desk.known("mastodon", "social.example")
    await desk.configure(place, lambda _: {"review_channel": "discord/12"}, operator)
    connected = settings.model_copy(update={"discord": _discord().discord})

    told("a review channel on a platform that is not configured", await examine_platforms(settings))
    assert all(each.ok for each in await examine_platforms(connected))
    surface = FakeSurface("discord")
    surface.shut["social.example"] = PlatformUnavailable("Everybody can see it.", remedy="Look there.")
    with pytest.raises(PlatformUnavailable) as shut:
        await HostedReview(FakeSurface("mastodon"), {"discord": surface}).check("social.example", "discord/12")
    trouble = (shut.value.message, shut.value.remedy)
    await kept.run("tell", lambda session: review_cards.keep_trouble(session, place, "discord/12", *trouble))
    told("a review channel on another platform in which no card may be shown", await examine_platforms(connected))


async def test_an_update_could_not_be_handled(kept: Database, settings: Settings) -> None:
    inbox = StoredInbox(kept, "telegram", "7", "process 1")
    await inbox.keep([ArrivedUpdate(1, {"message": {}}, "a", False)])
    await inbox.put_aside(1, is_known=True)
    told("an update that could not be handled", await examine_platforms(settings))
