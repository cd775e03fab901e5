"""Communities as they are, in the whole application: newcomers who see less, an open channel, refusals."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import discord

from core.engine.pipeline import Engine
from core.errors import NotAllowed
from tests.fakes.discord.case_cards import CaseCard, flagged, said_in
from tests.fakes.discord.messages import buttons_of
from tests.fakes.discord.own_panel import owners_panel
from tests.fakes.discord.panels import parts_of_form
from tests.fakes.discord.whole import NewServer, served
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS

POSTS = (
    "Those people will never learn our language, they do not even try.",
    "Migrants bring nothing but trouble to our schools.",
    "Every time something is stolen here, it was one of the migrants.",
    "Since the newcomers arrived nobody finds a flat in this town any more.",
)
MASKED = "Our neighbours belong here. [Read this](https://example.org/elsewhere)"
MENDED = "Our neighbours belong here."
OLD_MESSAGE = 30046
"""Discord's code for too many edits of messages that are older than an hour."""


async def test_a_community_where_newcomers_see_less_is_opened_and_refused(tmp_path: Path) -> None:
    """One server: Verified sees the hall, the review channel is opened and closed, texts and edits are refused."""
    model = hate_finding(draft="Everybody here was a newcomer once.")
    engine = Engine(model, FakeEvidence([passage()]), readers_saying(hate=0.99))
    async with served(engine, tmp_path, clock=FakeClock(datetime(2026, 1, 1, tzinfo=UTC))) as town:
        await town.set_up()
        verified, hall = _let_in_by_hand(town)
        first = await _everybodys_role(town, verified, hall)
        second = await _opened(town, verified, hall)
        await _posting_on(town)
        await _unpostable(town, first)
        await _old_message(town, second)


def _let_in_by_hand(town: NewServer) -> tuple[Any, Any]:
    """A role that everybody gets who was let in, and a hall that @everyone cannot see."""
    guild, us = town.square.guild, town.env.bot.user
    hidden, seen = discord.PermissionOverwrite(view_channel=False), discord.PermissionOverwrite(view_channel=True)
    verified = guild.create_role("Verified")
    rights: Any = {guild.default_role: hidden, verified: seen, town.staff: seen, town.helpers: seen, us: seen}
    return verified, guild.create_text_channel("hall", overwrites=rights)


async def _flag(town: NewServer, number: int, verified: Any, hall: Any) -> CaseCard:
    return await flagged(town, POSTS[number], where=hall, roles=[verified])


async def _everybodys_role(town: NewServer, verified: Any, hall: Any) -> CaseCard:
    """Nothing is taken from the hall until a manager says who is everybody here."""
    author = town.square.guild.add_member(town.env.create_user("early"), roles=[verified])
    post = await author.send(hall, POSTS[0])
    refused = await town.people["volunteer"].context_menu(hall, "Flag for moderators", post)
    assert "Antiphon takes nothing from channels and threads" in said_in(refused)
    assert [type(err.__cause__) for err in town.env.errors] == [NotAllowed]
    panel = await owners_panel(town)
    assert "gives rights that not everybody has" in await panel.choose("setup", "everybody_role", [town.staff])
    assert "Saved." in await panel.choose("setup", "everybody_role", [verified])
    await town.people["volunteer"].context_menu(hall, "Flag for moderators", post)
    card = CaseCard(town, post)
    await card.shows("Waits for your decision.", POSTS[0][:30])
    return card


async def _opened(town: NewServer, verified: Any, hall: Any) -> CaseCard:
    """Opened to Verified, the channel gets no card and the managers read why; closed again, it gets what is missing."""
    before = len(town.cards())
    await _let_see(town, verified, is_seen=True)
    card = await _flag(town, 1, verified, hall)
    told = await _said_by(town, "antiphon status", "Moderators see no new cards")
    assert "Everybody can see #room: cases are not shown there." in told
    assert "take View Channel away from Verified" in told
    assert "Moderators see no new cards" in (await owners_panel(town)).words()
    listed = await _said_by(town, "antiphon cases", "Open cases: 2")
    assert listed.count("[card]") == 1
    await _said_by(town, "antiphon status", "In review: 2")  # its drafts are there, and its card could have been
    assert len(town.cards()) == before
    assert card.places() == []
    await _let_see(town, verified, is_seen=False)
    await card.shows("Waits for your decision.", POSTS[1][:30])
    assert "Moderators see no new cards" not in await _said_by(town, "antiphon status", "In review: 2")
    return card


async def _let_see(town: NewServer, role: Any, *, is_seen: bool) -> None:
    """Somebody changes who can see the review channel."""
    guild: Any = town.env.bot.get_guild(town.square.guild.id)
    await guild.get_channel(town.room.id).set_permissions(guild.get_role(role.id), view_channel=is_seen)
    await town.env.settle()


async def _said_by(town: NewServer, command: str, words: str) -> str:
    """What the owner is answered, as soon as it holds these words."""
    async with asyncio.timeout(GUARD_SECONDS):
        while words not in (said := said_in(await town.people["owner"].slash(town.square, command))):  # noqa: ASYNC110 - asked, not told
            await asyncio.sleep(0.1)
    return said


async def _posting_on(town: NewServer) -> None:
    panel = await owners_panel(town)
    for name in ("posting_on", "posting_on_confirmed"):
        await panel.press("setup", name)


async def _unpostable(town: NewServer, card: CaseCard) -> None:
    """A text that can never be posted is refused before anybody could approve it, and mended instead of typed anew."""
    refused = await _type(town, await card.press("moderator", "Edit draft 1…"), MASKED)
    said = said_in(refused)
    assert "The text hides a link behind other words." in said
    assert MASKED in said
    answers = [refused.response, *refused.followups]
    assert not [answer for answer in answers if "Yes, post this reply" in buttons_of(answer.components)]
    (kept,) = [answer for answer in answers if "Mend this text…" in buttons_of(answer.components)]
    form = await town.press("moderator", kept, "Mend this text…")
    (field,) = parts_of_form(form.modal)
    assert field["value"] == MASKED
    shown = await _type(town, form, MENDED)
    assert "Exactly this would be posted:" in said_in(shown)
    assert "Yes, post this reply" in buttons_of(shown.response.components)
    assert "Approved" not in card.text()


async def _type(town: NewServer, form: Any, text: str) -> Any:
    return await town.people["moderator"].submit_modal(form, {"text": text})


async def _old_message(town: NewServer, card: CaseCard) -> None:
    """A card that Discord lets nobody edit any more is shown anew, as the case is now, and the old message goes."""
    (old,) = card.places()
    path = f"/channels/{town.room.id}/messages/{old.id}"
    town.env.inject_error("PATCH", path, status=429, code=OLD_MESSAGE, times=None)
    await card.press("second", "Hold")
    await card.shows("second holds the case")
    await town.until(lambda: [place.id for place in card.places()] != [old.id] and len(card.places()) == 1)
    assert old.id not in [message.id for message in town.room.history()]
    await card.press("second", "End my hold")
    await town.until(lambda: "holds the case" not in card.text())
