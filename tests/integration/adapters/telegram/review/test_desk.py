"""Presses over the real desk: two persons where two are needed, undo, and nobody's name in the watched group."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.desk.database.connection import Database
from core.desk.rules.approval import CaseState
from tests.fakes.desk.decisions import BOLD, OWN_TEXT, one_row
from tests.fakes.telegram.review import TelegramRoom, telegram_room
from tests.fakes.telegram.server.server import TelegramServer

_OF_NAMES = "აბგდ"
"""Letters that no text of these tests has, so that a name in a text is a leak."""


@dataclass
class DeskRoom:
    """The moderators' chat over a desk with a database; the case of one post of the watched group is in review."""

    room: TelegramRoom

    @property
    def database(self) -> Database:
        """Where the desk keeps what it knows."""
        return self.room.desk.database

    async def look(self) -> CaseState:
        return (await self.room.desk.now()).state

    async def refresh(self) -> None:
        """Bring the card up to date a minute later, as the board does after every change."""
        self.room.client.ticks.now += 60
        (place,) = self.room.client.surface._sent.values()
        await self.room.client.surface.show(await self.room.desk.now(), str(self.room.chat), place)

    async def write(self, who: str, text: str) -> None:
        """Somebody has their own reply proposed, by the answer to a prompt."""
        await self.room.press(who, self.room.card, "Edit draft 1…")
        await self.room.write(who, text, self.room.cards[-1])


@pytest.fixture
async def desk(server: TelegramServer, desk_file: Path) -> AsyncIterator[DeskRoom]:
    """A case in review, and people whose names would be seen."""
    async with telegram_room(server, desk_file) as room:
        for number, name in enumerate(room.people):
            server.state.users[room.people[name]]["first_name"] = _OF_NAMES[number] * 5
        await room.show()
        yield DeskRoom(room)


async def test_a_reply_is_approved_and_taken_back(desk: DeskRoom) -> None:
    """By two deliberate actions, and one; the decision shows who made it, in the moderators' chat."""
    await desk.write("moderator", OWN_TEXT)
    await desk.room.press("moderator", desk.room.cards[-1], "Yes, post this reply")
    assert await desk.look() is CaseState.APPROVED
    assert await one_row(desk.database, "SELECT count(*) FROM outbox WHERE state = 'queued'") == (1,)
    await desk.refresh()
    assert "Approved by" in desk.room.card["text"]
    await desk.room.press("second", desk.room.card, "Undo")
    assert await desk.look() is CaseState.IN_REVIEW
    assert await one_row(desk.database, "SELECT count(*) FROM outbox WHERE state = 'queued'") == (0,)


async def test_two_persons_approve_where_two_are_needed(desk: DeskRoom) -> None:
    """The second one reads the very text on the card; the first alone changes nothing."""
    await desk.write("moderator", BOLD)
    await desk.room.press("moderator", desk.room.cards[-1], "Yes, and ask a second person")
    assert await desk.look() is CaseState.IN_REVIEW
    await desk.refresh()
    assert BOLD.replace("93%", "") not in desk.room.card["text"]
    assert "93% of us are glad" in desk.room.card["text"]
    await desk.room.press("moderator", desk.room.card, "Approve text 1…")
    assert await desk.look() is CaseState.IN_REVIEW
    await desk.room.press("second", desk.room.card, "Approve text 1…")
    await desk.room.press("second", desk.room.told("second")[-1], "Yes, post this reply")
    assert await desk.look() is CaseState.APPROVED
    assert await one_row(desk.database, "SELECT count(seconded_by) FROM approvals") == (1,)


async def test_a_closed_case_is_opened_again_by_who_closed_it(desk: DeskRoom) -> None:
    """For a few seconds, where they are told that it is closed."""
    await desk.room.press("moderator", desk.room.card, "Not hateful")
    assert await desk.look() is not CaseState.IN_REVIEW
    await desk.room.press("moderator", desk.room.told("moderator")[-1], "Undo")
    assert await desk.look() is CaseState.IN_REVIEW


async def test_nothing_of_the_review_reaches_the_watched_group(desk: DeskRoom) -> None:
    """Whatever moderators are called and whatever they press: no request there but to ask who they are."""
    for who in desk.room.people:
        for label in ("Hold", "More…", "Close…", "Regenerate…"):
            data = next((row for row in _data(desk.room.card) if label in row[0]), None)
            if data is not None:
                await desk.room.press(who, desk.room.card, label)
    await desk.write("moderator", BOLD)
    await desk.room.press("moderator", desk.room.cards[-1], "Yes, and ask a second person")
    await desk.refresh()
    asked = [one for one in desk.room.server.requests if str(one.params.get("chat_id")) == desk.room.community]
    assert not [one.method for one in asked if not one.method.startswith("get")]
    assert desk.room.town.of_bot(desk.room.group) == []
    assert any(set(_OF_NAMES) & set(one["text"]) for one in desk.room.cards)


def _data(message: dict[str, object]) -> list[tuple[str, str]]:
    markup = message.get("reply_markup")
    assert isinstance(markup, dict)
    return [(one["text"], one["callback_data"]) for row in markup["inline_keyboard"] for one in row]
