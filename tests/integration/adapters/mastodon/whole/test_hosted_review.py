"""Cases on Mastodon that are reviewed in a channel on Discord or a chat on Telegram, in the whole application."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import select

from adapters.discord.connection.client import AntiphonClient
from adapters.mastodon.speech import plain_text
from bot.compose.application import open_database
from bot.compose.discord import discord_platform
from bot.compose.telegram import telegram_platform
from bot.settings import Settings, TelegramSettings
from core.desk.communities.decisions import CommunityDesk
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import Operator, Person, Role
from core.desk.schema import AuditRow, CaseRow
from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, said_in
from tests.fakes.discord.whole import NewServer, SimulatedClient, new_server
from tests.fakes.engine.suggesting import drafting_engine
from tests.fakes.mastodon.town import JSON
from tests.fakes.mastodon.whole import FAR, WholeTown, served
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.whole import NewGroup, new_group

POST = "They should all go back where they came from, every one of them."
OWN = "Most of us came from somewhere. You are all welcome here."
_OPERATOR = Operator("operator")


@asynccontextmanager
async def _with_discord(folder: Path) -> AsyncIterator[tuple[WholeTown, NewServer]]:
    connected = asyncio.get_running_loop().create_future()

    def make(*args: Any, **how: Any) -> AntiphonClient:
        client = SimulatedClient(*args, **how)
        client.env = connected
        return client

    def beside(settings: Settings) -> list[Any]:
        return [discord_platform(settings, make)]

    async with served(drafting_engine(), folder, beside) as town:
        server = new_server(await connected)
        await _reviewed_in(town, f"discord/{server.room.id}")
        yield town, server


@asynccontextmanager
async def _with_telegram(folder: Path) -> AsyncIterator[tuple[WholeTown, NewGroup]]:
    async with AsyncExitStack() as stack:
        telegram = await stack.enter_async_context(TelegramServer().running())

        def beside(settings: Settings) -> list[Any]:
            wanted = TelegramSettings(token=SecretStr(telegram.token), api_url=telegram.url)
            return [telegram_platform(settings.model_copy(update={"telegram": wanted}))]

        town = await stack.enter_async_context(served(drafting_engine(), folder, beside))
        group = new_group(telegram)
        await _reviewed_in(town, f"telegram/{group.room}")
        yield town, group
    assert telegram.errors == []


async def _reviewed_in(town: WholeTown, channel: str) -> None:
    async with open_database(town.settings) as database:
        desk = CommunityDesk(database)
        await desk.configure(_community(town), lambda _: {"review_channel": channel}, _OPERATOR)


async def _is_moderator(town: WholeTown, platform: str, user: int, *, is_one: bool = True) -> None:
    async with open_database(town.settings) as database:
        desk = CommunityDesk(database)
        decide = desk.grant if is_one else desk.revoke
        await decide(_community(town), Person(platform, str(user), "Mikel"), Role.MODERATOR, _OPERATOR)


def _community(town: WholeTown) -> str:
    return f"mastodon/{town.server.domain}"


async def _flagged(town: WholeTown) -> JSON:
    """A post that the volunteer asked about."""
    people = town.people
    post = await town.server.town.post(people["author"], POST, language="en")
    await town.server.town.mention(people["volunteer"], town.server.bot, "counter", reply_to=post)
    return post


async def _replies(town: WholeTown, post: JSON) -> list[JSON]:
    """What stands below a post for all to see."""
    found = await town.server.town.replies(post)
    bot = town.server.bot.id
    return [each for each in found if each["account"]["id"] == bot and each["visibility"] != "direct"]


async def _rows(town: WholeTown, table: Any) -> list[Any]:
    async with open_database(town.settings) as database:
        return list(await database.run("look", lambda session: session.scalars(select(table))))


async def _is_in(town: WholeTown, state: CaseState) -> bool:
    return [case.state for case in await _rows(town, CaseRow)] == [state]


async def _posted_once(town: WholeTown, post: JSON, text: str) -> None:
    """The text stands below the post once, is recorded as posted, and nobody posted anything else."""
    await town.until(partial(_is_in, town, CaseState.POSTED))
    (reply,) = await _replies(town, post)
    assert text in plain_text(reply["content"])
    written = await town.server.town.written_by(town.server.bot)
    assert [each["id"] for each in written if each["visibility"] != "direct"] == [reply["id"]]
    states = [line.to_state for line in await _rows(town, AuditRow)]
    assert states.count(CaseState.SENDING) == states.count(CaseState.POSTED) == 1


async def test_a_case_is_edited_and_approved_on_discord_and_posted_on_mastodon_once(tmp_path: Path) -> None:
    """From the mention to the card, the text of one's own, the exact text once more, and the reply.

    The roles of the server do not count: the roles in the case's own community do, at each step.
    """
    async with _with_discord(tmp_path) as (town, server):
        await server.set_up()
        post = await _flagged(town)
        card = await server.until(lambda: server.card("Waits for your decision."))
        covered = [each for each in card.split("||")[1::2] if "go back where" in each]
        assert covered and card.count("go back where") == len(covered)
        assert f"mastodon · {town.server.domain}" in card
        for who in ("owner", "second"):
            refused = await server.click(who, "Approve draft 1…")
            assert "Only moderators and managers can approve replies here." in said_in(refused)
        mikel = server.people["moderator"].id
        await _is_moderator(town, "discord", mikel)
        shown = await server.click("moderator", "Approve draft 1…")
        await _is_moderator(town, "discord", mikel, is_one=False)
        refused = await server.press("moderator", shown.response, "Yes, post this reply")
        assert "Only moderators and managers can approve replies here." in said_in(refused)
        assert await _is_in(town, CaseState.IN_REVIEW)
        await _is_moderator(town, "discord", mikel)
        opened = await server.click("moderator", "Edit draft 1…")
        shown = await server.people["moderator"].submit_modal(opened, {"text": OWN})
        said = said_in(shown)
        assert OWN in said and f"@author@{FAR}" in said and "“quiet public”" in read_as_discord_shows(said)
        assert await _replies(town, post) == []
        await server.press("moderator", shown.response, "Yes, post this reply")
        await _posted_once(town, post, OWN)
        assert await server.until(lambda: server.card("The reply is posted.", "moderator"))
        assert buttons_of(shown.response.components) == {}
        assert len(server.cards()) == 1
        assert server.replies() == []


async def test_a_case_is_edited_and_approved_on_telegram_and_posted_on_mastodon_once(tmp_path: Path) -> None:
    """The text is written as an answer to a prompt; what is shown then is what is posted."""
    async with _with_telegram(tmp_path) as (town, group):
        user = group.people["moderator"]
        await _is_moderator(town, "telegram", user)
        post = await _flagged(town)
        card = await group.until(lambda: group.card("Waits for your decision."))
        refused = await group.press("second", card, "Approve draft 1…")
        assert "Only moderators, managers and auditors" in refused["text"]
        before = len(group.cards())
        await group.press("moderator", card, "Edit draft 1…")
        (prompt,) = await group.until(lambda: group.cards()[before:])
        group.server.town.say(user, group.room, OWN, reply_to=prompt)
        shown = await group.until(lambda: group.card("Exactly this would be posted"))
        assert OWN in shown["text"] and await _replies(town, post) == []
        await group.press("moderator", shown, "Yes, post this reply")
        await _posted_once(town, post, OWN)
        assert await group.until(lambda: group.card("The reply is posted."))
        assert group.replies() == []
