"""What docs/discord.md promises, step by step: from an empty server to an approved, a posted and a retracted reply.

The whole application as ``antiphon serve`` builds it, on SimCord in place of Discord and a fake in place of the model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import discord
import pytest
from pydantic import SecretStr
from simcord.env import Env

from adapters.discord import AntiphonClient
from bot.compose.discord import PERMISSIONS
from bot.compose.settings import DeskSettings, DiscordSettings, Settings
from core.engine import Engine
from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, select_of, texts_of
from tests.fakes.discord.review import said_in
from tests.fakes.discord.serving import serve_discord
from tests.fakes.engine.brief import PATIENT, passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding

FIRST_POST = "Migrants only come here to live off our welfare."
SECOND_POST = "They should all go back where they came from, every one of them."
OWN_TEXT = "We all live here, and most of us came from somewhere."
BRIEF = replace(PATIENT, claims=2, voting_rounds=1, written=1, rounds=1, proposals=1, judge_candidates=2)
_GUARD_SECONDS = 60  # only bounds a hang


class SimulatedClient(AntiphonClient):
    """The client whose connection is a simulated Discord; ``env`` is set once it is connected."""

    env: asyncio.Future[Env]

    async def run_until(self, stop: asyncio.Event, token: str) -> None:
        """Be on the simulated Discord until ``stop`` is set."""
        env = Env(self, shard_count=1, settle_timeout=_GUARD_SECONDS)
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
        async with asyncio.timeout(_GUARD_SECONDS):
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


def _town(env: Env) -> NewServer:
    guild = env.create_guild()
    us = env.bot.user
    assert us is not None
    hidden, seen = discord.PermissionOverwrite(view_channel=False), discord.PermissionOverwrite(view_channel=True)
    staff = guild.create_role("Staff", permissions=discord.Permissions(manage_messages=True))
    helpers = guild.create_role("Helpers")
    admin = guild.create_role("Admin", permissions=discord.Permissions(administrator=True))
    square = guild.create_text_channel("square")
    room = guild.create_text_channel("room", overwrites={guild.default_role: hidden, staff: seen, us: seen})
    roles: dict[str, list[Any]] = {"owner": [admin], "moderator": [staff], "volunteer": [helpers], "author": []}
    people = {name: guild.add_member(env.create_user(name), roles=given) for name, given in roles.items()}
    return NewServer(env, square, room, staff, helpers, people)


@pytest.fixture
def engine() -> Engine:
    """An engine whose models are fakes."""
    model = hate_finding(draft="Everybody here was a newcomer once.")
    return Engine(model, FakeEvidence([passage()]), readers_saying())


@asynccontextmanager
async def served(engine: Engine, folder: Path, links: list[str]) -> AsyncIterator[NewServer]:
    """``antiphon serve`` with nothing but a token, in an installation that never ran before."""
    desk = DeskSettings(
        database=str(folder / "antiphon.db"),
        secret_file=str(folder / "secret"),
        backup_folder=str(folder / "backups"),
        undo_seconds=0.5,
    )
    settings = Settings(desk=desk, discord=DiscordSettings(token=SecretStr("not-a-token")))
    stop, connected = asyncio.Event(), asyncio.get_running_loop().create_future()

    def make(*args: Any) -> AntiphonClient:
        client = SimulatedClient(*args)
        client.env = connected
        return client

    serving = asyncio.create_task(serve_discord(engine, settings, BRIEF, stop, links.append, make))
    try:
        await asyncio.wait({serving, connected}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            await serving
        yield _town(await connected)
    finally:
        stop.set()
        await serving


async def _set_up(town: NewServer) -> None:
    panel = await town.people["owner"].slash(town.square, "antiphon setup")
    assert panel.response.ephemeral
    await town.choose(panel, "review_channel", [town.room])
    await town.choose(panel, "moderators", [town.staff])
    await town.choose(panel, "volunteers", [town.helpers])


async def _flag(town: NewServer, words: str) -> discord.Message:
    post: discord.Message = await town.people["author"].send(town.square, words)
    answer = await town.people["volunteer"].context_menu(town.square, "Draft a reply", post)
    assert answer.response.ephemeral
    assert "othing is posted" in answer.response.content
    await town.until(lambda: town.card("Waits for your decision."))
    return post


async def test_a_fresh_server_comes_to_an_approved_then_to_a_posted_and_a_retracted_reply(
    engine: Engine, tmp_path: Path
) -> None:
    """The owner sets up, a volunteer flags, a moderator decides; nothing is posted before shadow mode is left."""
    links: list[str] = []
    async with served(engine, tmp_path, links) as town:
        assert f"permissions={PERMISSIONS.value}" in links[0]
        await _set_up(town)
        await _approve_in_shadow_mode(town)
        await _leave_shadow_mode(town)
        await _post_and_retract(town)


async def test_cards_and_answers_follow_the_language_that_setup_offers(engine: Engine, tmp_path: Path) -> None:
    """Basque, which nobody can choose in Discord's own settings: on the card that stands, and for who presses on it."""
    async with served(engine, tmp_path, []) as town:
        await _set_up(town)
        await _flag(town, FIRST_POST)
        assert "your hold ends" in said_in(await town.click("moderator", "Hold"))
        panel = await town.people["owner"].slash(town.square, "antiphon setup")
        await town.choose(panel, "language", ["eu"])
        await town.until(lambda: town.card("Erabaki baten zain."))
        assert len(town.cards()) == 1
        shown = await town.click("moderator", "Onartu 1. zirriborroa…")
        assert "Itzal modua: ez da ezer argitaratuko" in said_in(shown)
        await town.choose(panel, "language", ["any"])
        await town.until(lambda: town.card("Waits for your decision."))
        opened = await town.click("moderator", "Edit draft 1…")
        assert opened.modal["title"] == "Edit the reply"


async def _approve_in_shadow_mode(town: NewServer) -> None:
    await _flag(town, FIRST_POST)
    assert "Shadow mode: nothing is posted" in (town.card("Gist") or "")
    assert "your hold ends" in said_in(await town.click("moderator", "Hold"))
    opened = await town.click("moderator", "Edit draft 1…")
    shown = await town.people["moderator"].submit_modal(opened, {"text": OWN_TEXT})
    assert "nothing will be posted" in said_in(shown)
    assert f"{OWN_TEXT}\n\nDrafted with Antiphon" in said_in(shown)
    await town.press("moderator", shown.response, "Yes, approve it (nothing is posted)")
    assert "In shadow mode nothing is sent" in said_in(shown)
    await town.until(lambda: town.card("Approved in shadow mode: nothing was posted."))
    assert town.replies() == []


async def _leave_shadow_mode(town: NewServer) -> None:
    owner = town.people["owner"]
    panel = await owner.slash(town.square, "antiphon setup")
    for field in ("posting_on", "posting_on_confirmed"):
        await owner.click(panel.response, custom_id=f"antiphon:manage:setup:{field}")
    status = await town.people["moderator"].slash(town.square, "antiphon status")
    assert "**Posting** what moderators approve" in status.response.content


async def _post_and_retract(town: NewServer) -> None:
    asked = town.questions()
    post = await _flag(town, SECOND_POST)
    shown = await town.click("moderator", "Approve draft 1…")
    assert town.replies() == []
    assert town.questions() == asked, "Discord told who flagged and who pressed"
    await town.press("moderator", shown.response, "Yes, post this reply")
    (reply,) = await town.until(town.replies)
    assert len(town.questions()) == len(asked) + 2, "the send asks for the server and for who approved"
    assert reply.content.endswith("checked and approved by a moderator.")
    assert reply.reference is not None
    assert reply.reference.message_id == post.id
    await town.until(lambda: town.card("The reply is posted."))
    asked = await town.click("moderator", "Take the reply back…")
    custom_id = select_of(asked.response.components)["custom_id"]
    done = await town.people["moderator"].select(asked.response, ["MISTAKE"], custom_id=custom_id)
    assert "The reply is taken back." in said_in(done)
    assert town.replies() == []
    await town.until(lambda: town.card("The reply was taken back."))
