"""Discord and Telegram served by one process: while one of them is away the other is served as if nothing were."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import discord
import pytest
from pydantic import SecretStr

from bot.compose.application import Application, open_application
from bot.compose.discord import discord_platform
from bot.compose.telegram import telegram_platform
from bot.serve.process import serve
from bot.serve.supervision import Patience, first_of
from bot.settings import DiscordSettings, TelegramSettings
from core.desk.drafting.queue import Backoff
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import short_number
from core.desk.rules.roles import Person
from core.desk.schema import PlatformState
from core.desk.views.platforms import Standing
from core.engine.pipeline import OnProgress
from core.engine.request import Request
from core.models import Suggestion
from tests.fakes.discord.server import TOKEN, DiscordServer, DiscordState, LoopbackClient
from tests.fakes.discord.server.commands import invoke
from tests.fakes.discord.server.state import BOT_ID, CHANNEL_ID, GUILD_ID, OWNER_ID
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.installation import settings_of
from tests.fakes.machine.patience import until
from tests.fakes.telegram.server.server import TelegramServer

AWAY_SECONDS = 600
UNDO_SECONDS = 300
"""So that an approved reply is due in the middle of an outage, by a clock that jumps."""


class _Engine:
    """An engine that drafts the same for everybody; of a text in ``held`` once its event is set."""

    readers = readers_saying()

    evidence = FakeEvidence()

    def __init__(self) -> None:
        self.held: dict[str, asyncio.Event] = {}

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> Suggestion:
        if request.post.text in self.held:
            await self.held[request.post.text].wait()
        return suggestion_for(request.post)


class _Clock:
    """This machine's, or ahead of it."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def jump(self, seconds: float) -> None:
        """Let time pass that nobody waits for."""
        self._ahead += timedelta(seconds=seconds)


@dataclass
class Both:
    """What is served, and people who flag and decide on both platforms."""

    discord: DiscordServer
    telegram: TelegramServer
    application: Application
    engine: _Engine
    clock: _Clock
    heard: list[Standing]
    again: asyncio.Event
    owner: int
    group: int
    rooms: dict[str, int]
    """The moderators' private places, by platform."""

    async def set_up(self) -> None:
        """The owners choose where cards are shown, and let approved replies be posted."""
        for platform, community in self._communities().items():
            governance, owner = self.application.governance, self._owner(platform)
            await governance.configure(platform, community, {"review_channel": str(self.rooms[platform])}, owner)
            await governance.set_posting(platform, community, True, owner)

    async def flag_on(self, platform: str, text: str) -> None:
        """By the menu of a message on Discord, by a command on Telegram."""
        if platform == "discord":
            await self.flag_on_discord(text)
        else:
            self.flag_on_telegram(text)

    async def approve(self, text: str) -> None:
        """The owner approves the first draft under a post."""
        case = next(case for case in await self.application.desk.queries.cases() if case.post.text == text)
        owner = self._owner(case.post.ref.platform)
        card = await self.application.casework.card(case.id, owner)
        proposed = await self.application.casework.propose(case.id, card.version, owner, rank=1)
        await self.application.casework.approve(proposed.id, owner)

    async def state_of(self, text: str) -> CaseState | None:
        """How the case of a post stands; ``None`` if it has none."""
        cases = await self.application.desk.queries.cases()
        return next((case.state for case in cases if case.post.text == text), None)

    async def until_all_are(self, state: CaseState, *texts: str) -> None:
        """Wait until the cases of these posts stand so."""

        async def are_so() -> bool:
            return {await self.state_of(text) for text in texts} == {state}

        await until(are_so)

    async def until_there_are_cards(self, platform: str, *texts: str) -> None:
        """Wait until the moderators of a platform see exactly one card of each of these posts, and no other."""

        async def are_there() -> bool:
            cases, cards = await self.application.desk.queries.cases(), self.cards(platform)
            numbers = [short_number(case.id) for case in cases if case.post.text in texts]
            assert all(sum(number in card for card in cards) <= 1 for number in numbers), "A card is there twice."
            return len(cards) == len(texts) == sum(any(number in card for card in cards) for number in numbers)

        await until(are_there)

    def cards(self, platform: str) -> list[str]:
        """What Antiphon wrote for the moderators of a platform, each message as it stands now."""
        room = self.rooms[platform]
        if platform == "telegram":
            return [message["text"] for message in self.telegram.town.of_bot(room)]
        state = self.discord.state
        return [json.dumps(each["components"]) for each in state.messages.values() if each["channel_id"] == str(room)]

    def replies(self, platform: str) -> list[str]:
        """What Antiphon said where everybody reads it."""
        if platform == "telegram":
            return [message["text"] for message in self.telegram.town.of_bot(self.group)]
        own = [each for each in self.discord.state.messages.values() if each["author"]["id"] == str(BOT_ID)]
        return [each["content"] for each in own if each["channel_id"] == str(CHANNEL_ID)]

    async def go_away(self, platform: str) -> None:
        """Let a platform be reached by nobody."""
        if platform == "telegram":
            self.telegram.refuse()
            await self.until_it_is("telegram", PlatformState.WAITING)
        else:
            await self.discord.stop()
            await self.discord.gateway.drop()

    async def come_back(self, platform: str) -> None:
        """Let it be reached again."""
        if platform == "telegram":
            await self.telegram.accept()
        else:
            await self.discord.start_again()
        self.again.set()

    def _communities(self) -> dict[str, str]:
        return {"discord": str(GUILD_ID), "telegram": str(self.group)}

    def _owner(self, platform: str) -> Person:
        return Person(platform, str(OWNER_ID if platform == "discord" else self.owner))

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
    room = state.add_channel("moderators")
    hidden = str(discord.Permissions(view_channel=True).value)
    state.channels[room]["permission_overwrites"] = [
        {"id": str(GUILD_ID), "type": 0, "allow": "0", "deny": hidden},
        {"id": str(BOT_ID), "type": 1, "allow": hidden, "deny": "0"},
    ]
    engine, clock = _Engine(), _Clock()
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
        rooms = {"discord": room, "telegram": here.town.add_group("Moderators", owner=owner)}
        async with open_application(
            engine,  # type: ignore[arg-type]
            settings,
            platforms,
            PATIENT,
            on_standing=heard.append,
            patience=patience,
            undo_seconds=UNDO_SECONDS,
            clock=clock,
        ) as application:
            serving = asyncio.create_task(serve(application, stop, drain_seconds=20))
            try:
                made = Both(there, here, application, engine, clock, heard, again, owner, group, rooms)
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
    monkeypatch.setattr("adapters.telegram.connection.updates._LONGEST_PAUSE_SECONDS", 0.01)
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
        name_of, group = both.application.platforms.name_of, str(both.group)
        assert await name_of("discord", str(GUILD_ID), "") != "" and await name_of("mastodon", "home.example", "") == ""
        await both.flag_on_discord("on Discord, before")
        await both.until_in_review("on Discord, before")
        await both.discord.stop()
        await both.discord.gateway.drop()
        both.telegram.town.wait(AWAY_SECONDS)
        both.flag_on_telegram("on Telegram, meanwhile")
        await both.until_in_review("on Discord, before", "on Telegram, meanwhile")
        assert await name_of("telegram", group, "") == "Brenmoor"
        assert both.stood("telegram") == {PlatformState.CONNECTING, PlatformState.CONNECTED}


@pytest.mark.parametrize(("away", "other"), [("telegram", "discord"), ("discord", "telegram")])
async def test_a_reply_and_a_card_wait_for_their_platform(
    away: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was approved before ten minutes of silence, and what was drafted in them, is there once afterwards.

    The other platform takes flags, shows cards and posts in between. On Discord nobody can flag while it is away: it
    keeps no command for who does not listen.
    """
    monkeypatch.setattr("adapters.telegram.connection.updates._LONGEST_PAUSE_SECONDS", 0.01)
    async with _both(tmp_path) as both:
        await both.set_up()
        late = both.engine.held["drafted meanwhile"] = asyncio.Event()
        await both.flag_on(away, "approved before")
        await both.flag_on(other, "approved on the other")
        await both.until_all_are(CaseState.IN_REVIEW, "approved before", "approved on the other")
        await both.flag_on(away, "drafted meanwhile")
        await both.until_all_are(CaseState.DRAFTING, "drafted meanwhile")
        await both.approve("approved before")
        await both.approve("approved on the other")
        await both.go_away(away)
        both.clock.jump(AWAY_SECONDS)
        late.set()
        await both.until_all_are(CaseState.IN_REVIEW, "drafted meanwhile")
        await both.until_all_are(CaseState.POSTED, "approved on the other")
        await both.flag_on(other, "flagged meanwhile")
        await both.until_there_are_cards(other, "approved on the other", "flagged meanwhile")
        assert await both.state_of("approved before") is CaseState.APPROVED
        assert (both.replies(away), len(both.replies(other))) == ([], 1)
        await both.come_back(away)
        await both.until_there_are_cards(away, "approved before", "drafted meanwhile")
        both.clock.jump(AWAY_SECONDS)
        await both.until_all_are(CaseState.POSTED, "approved before")
        assert len(both.replies(away)) == len(both.replies(other)) == 1
        assert both.stood(other) == {PlatformState.CONNECTING, PlatformState.CONNECTED}
