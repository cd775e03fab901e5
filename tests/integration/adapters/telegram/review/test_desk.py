"""Presses over the real desk: two persons where two are needed, undo, and nobody's name in the watched group."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.desk.decisions import BOLD
from tests.fakes.telegram.review import TelegramRoom, telegram_room
from tests.fakes.telegram.server.server import TelegramServer

_OF_NAMES = "აბგდ"
"""Letters that no text of these tests has, so that a name in a text is a leak."""


@dataclass
class DeskRoom:
    """The moderators' chat over a desk with a database; the case of one post of the watched group is in review."""

    room: TelegramRoom

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
