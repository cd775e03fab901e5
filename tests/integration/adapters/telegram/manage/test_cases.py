"""The list of open cases, and one case by its number, in a moderator's private chat."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.telegram.manage import commands
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from tests.fakes.ports.cards import POST_TEXT
from tests.fakes.telegram.review import TelegramRoom, labels_of, telegram_room
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.server.state import JSON


@pytest.fixture
async def room(server: TelegramServer, desk_file: Path) -> AsyncIterator[TelegramRoom]:
    """A case in review, and people who opened a private chat with the bot."""
    async with telegram_room(server, desk_file) as made:
        commands.install(made.client)
        made.governance.policies[made.community] = CommunityPolicy()
        made.governance.grant(made.people["moderator"], Role.MODERATOR)
        for user in made.people.values():
            made.town.say(user, None, "Hello.")
        await made.show()
        yield made


async def _told(room: TelegramRoom, who: str, words: str) -> JSON:
    room.town.command(room.people[who], None, words)
    await room.client.hear_all()
    return room.town.of_bot(room.people[who])[-1]


async def test_open_cases_are_listed_for_moderators(room: TelegramRoom) -> None:
    """By number and state, without a word of a post; others hear that they manage no group."""
    said = (await _told(room, "moderator", "cases"))["text"]
    assert "Open cases: 1" in said
    assert room.desk.number in said
    assert POST_TEXT not in said
    refused = (await _told(room, "stranger", "cases"))["text"]
    assert room.desk.number not in refused
    assert "no group that you manage" in refused


async def test_a_case_is_shown_by_its_number(room: TelegramRoom) -> None:
    """With the card's buttons, which work there; without a number people are asked for one."""
    shown = await _told(room, "moderator", f"case #{room.desk.number}")
    assert room.desk.number in shown["text"]
    assert labels_of(shown) == labels_of(room.card)
    query = room.town.press(room.people["moderator"], shown, label="Hold")
    await room.client.hear_all()
    assert room.town.answer_to(query) is not None
    assert (await room.desk.now()).holder is not None
    assert "Which case?" in (await _told(room, "moderator", "case"))["text"]
    assert "Which case?" in (await _told(room, "moderator", "case of the day"))["text"]
