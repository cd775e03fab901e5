"""The whole application on Discord, over the wire: from the message menu to the reply, with a person in between."""

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

from bot.compose.application import open_database
from bot.settings import DeskSettings, DiscordSettings, Settings
from core.desk.database.connection import Session
from core.desk.rules.policy import CommunityPolicy, to_json
from core.desk.schema import Change
from core.desk.store import communities
from core.engine.pipeline import Engine
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.errors import BadSettings
from tests.fakes.discord.server import TOKEN, DiscordServer, DiscordState, LoopbackClient
from tests.fakes.discord.server.commands import invoke
from tests.fakes.discord.server.state import BOT_ID, CHANNEL_ID, GUILD_ID, OWNER_ID
from tests.fakes.discord.serving import serve_discord
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.suggesting import hate_finding

POST = "Migrants only come here to live off our welfare."
EVERYBODY = discord.Permissions(view_channel=True, send_messages=True, read_message_history=True)


@dataclass
class ServedServer:
    """A server with a square and a room for moderators, served by the whole application."""

    server: DiscordServer
    state: DiscordState
    room: int
    settings: Settings
    links: list[str]

    def cards(self) -> list[dict[str, Any]]:
        """The cards that stand in the moderators' room."""
        return [each for each in self.state.messages.values() if each["channel_id"] == str(self.room)]

    def replies(self) -> list[dict[str, Any]]:
        """What the bot said on the square."""
        return [
            each
            for each in self.state.messages.values()
            if each["channel_id"] == str(CHANNEL_ID) and each["author"]["id"] == str(BOT_ID)
        ]

    async def pick(self, post: dict[str, Any], name: str = "Draft a reply") -> None:
        """Use a message's menu."""
        (command,) = [each for each in self.state.commands[""] if each["name"] == name]
        data = {"id": command["id"], "name": name, "type": 3, "target_id": post["id"]}
        event = invoke(self.state, data | {"resolved": {"messages": {post["id"]: post}}})
        await self.server.gateway.send("INTERACTION_CREATE", event)

    async def press(self, custom_id: str, message: dict[str, Any], *values: str) -> dict[str, Any]:
        """Press a button, or choose in a select; the interaction with what was answered."""
        data: dict[str, Any] = {"custom_id": custom_id, "component_type": 3 if values else 2}
        if values:
            data["values"] = list(values)
        event = invoke(self.state, data, kind=3) | {"message": message, "channel_id": message["channel_id"]}
        await self.server.gateway.send("INTERACTION_CREATE", event)
        return self.state.interactions[event["token"]]

    async def found(self, look: Any) -> Any:
        """What ``look`` finds, once it finds something."""
        async with asyncio.timeout(120):
            while not (found := look()):  # noqa: ASYNC110 - the fake tells nobody
                await asyncio.sleep(0.02)
        return found


def parts_of(message: Any) -> list[dict[str, Any]]:
    """Every component of a message or an answer, however deep."""
    if isinstance(message, list):
        return [part for each in message for part in parts_of(each)]
    if not isinstance(message, dict):
        return []
    own = [message] if "custom_id" in message else []
    return own + [part for value in message.values() for part in parts_of(value)]


def component(message: Any, act: str) -> dict[str, Any] | None:
    """The button or select that does something."""
    return next((part for part in parts_of(message) if part["custom_id"].startswith(f"antiphon:{act}:")), None)


@pytest.fixture
def engine(readers: Readers, knowledge: EvidenceSource) -> Engine:
    """An engine whose language model is a fake."""
    model = hate_finding(draft="Everybody here was a newcomer once.")
    return Engine(model, knowledge, readers)


@pytest.fixture
def state() -> DiscordState:
    """A server in which everybody sees the square."""
    made = DiscordState(lambda: datetime.now(UTC), shows_content=False)
    made.roles[GUILD_ID]["permissions"] = str(EVERYBODY.value)
    return made


@asynccontextmanager
async def served(
    engine: Engine, state: DiscordState, folder: Path, *, is_posting: bool, token: str = TOKEN
) -> AsyncIterator[ServedServer]:
    """The application, connected and set up, until the block is over."""
    room = state.add_channel("moderators")
    hidden = {"id": str(GUILD_ID), "type": 0, "allow": "0", "deny": str(discord.Permissions(view_channel=True).value)}
    shown = {"id": str(BOT_ID), "type": 1, "allow": str(EVERYBODY.value), "deny": "0"}
    state.channels[room]["permission_overwrites"] = [hidden, shown]
    settings = Settings(
        desk=DeskSettings(
            database=str(folder / "antiphon.db"),
            secret_file=str(folder / "secret"),
            backup_folder=str(folder / "backups"),
            undo_seconds=0.1,
        ),
        discord=DiscordSettings(token=SecretStr(token)),
    )
    await _set_up(settings, room, is_posting=is_posting)
    stop, links = asyncio.Event(), list[str]()
    async with DiscordServer(state).running() as server:
        serving = asyncio.create_task(serve_discord(engine, settings, PATIENT, stop, links.append, LoopbackClient))
        try:
            town = ServedServer(server, state, room, settings, links)
            await town.found(lambda: links or serving.done())
            yield town
        finally:
            stop.set()
            await serving
        assert server.complaints == []


async def _set_up(settings: Settings, room: int, *, is_posting: bool) -> None:
    async def work(session: Session) -> None:
        found = await communities.ensure(session, "discord", str(GUILD_ID))
        policy = to_json(CommunityPolicy(review_channel=str(room)))
        what = Change.POSTING if is_posting else Change.SHADOW
        await communities.change(session, found.id, actor="test", reason="set up", what=what, policy=policy)

    async with open_database(settings, creates=True) as database:
        await database.run("set up", work)


async def _approve(town: ServedServer, card: dict[str, Any]) -> None:
    """The two actions of a moderator."""
    button = component(card, "approve")
    assert button is not None
    values = [button["options"][0]["value"]] if "options" in button else []
    shown = await town.press(button["custom_id"], card, *values)
    confirm = await town.found(lambda: component(shown["answers"], "confirm"))
    assert town.replies() == []
    await town.press(confirm["custom_id"], shown["original"])


async def test_a_message_becomes_a_reply_in_two_deliberate_actions(
    engine: Engine, state: DiscordState, tmp_path: Path
) -> None:
    """The menu, the card in the moderators' room, approval, and exactly one reply under the post."""
    async with served(engine, state, tmp_path, is_posting=True) as town:
        post = state.write(OWNER_ID, CHANNEL_ID, POST)
        await town.pick(post)
        card = await town.found(lambda: next((each for each in town.cards() if component(each, "approve")), None))
        await _approve(town, card)
        (reply,) = await town.found(town.replies)
        assert reply["message_reference"]["message_id"] == post["id"]
        assert reply["content"].endswith("checked and approved by a moderator.")
        assert len(town.cards()) == 1
        assert town.links
        assert "permissions=" in town.links[0]


async def test_a_refused_token_ends_it_and_says_what_to_do(engine: Engine, state: DiscordState, tmp_path: Path) -> None:
    """Nothing runs on without its platform."""
    with pytest.raises(BadSettings) as caught:
        async with served(engine, state, tmp_path, is_posting=False, token="wrong"):
            pass
    assert "Make a new one" in caught.value.remedy
