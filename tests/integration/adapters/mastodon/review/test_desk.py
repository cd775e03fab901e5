"""Answers below cards over the real desk and the real board, and nobody's name where the public could read it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.communities.governance import CommunityGovernance
from bot.review.board import ReviewBoard
from bot.store.engine.database import Database
from core.moderation.approval import CaseState
from core.moderation.roles import Person
from tests.fakes.desk.decisions import BOLD, OWN_TEXT, one_row
from tests.fakes.mastodon.review import MastodonRoom, ReviewClient, all_in, mastodon_room, text_in
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON


@dataclass
class DeskRoom:
    """The moderators, and a board that shows the card of one case in review."""

    room: MastodonRoom
    board: ReviewBoard

    @property
    def database(self) -> Database:
        """Where the desk keeps what it knows."""
        return self.room.desk.database

    async def look(self) -> CaseState:
        """The state of the case."""
        return (await self.room.desk.now()).state

    async def write(self, who: str, text: str, below: JSON | None = None) -> list[JSON]:
        """Somebody answers below a status, the card if none is given; the board catches up."""
        told = await self.room.write(who, text, below or await self.room.card())
        self.room.desk.clock.advance(5)
        await self.board.step()
        return told


@pytest.fixture
async def desk(server: MastodonServer, desk_file: Path) -> AsyncIterator[DeskRoom]:
    """A case in review; what a client asks of the community, it asks the database, too."""
    async with mastodon_room(server, desk_file) as room:
        made = room.desk
        governance = CommunityGovernance(made.database, made.desk.live_roles)
        await room.client.close()
        room.client = ReviewClient(room.server, made.casework, governance)
        await room.client.open()
        await made.case(room.like())
        me = Person("mastodon", room.people["moderator"].id)
        await governance.configure("mastodon", room.community, {"review_channel": room.channel}, me, is_owner=True)
        board = ReviewBoard(made.database, room.client.surface, "mastodon", "board-1")
        await board.step()
        yield DeskRoom(room, board)
        assert [one for one in await room.said() if await room.town.see(one) is not None] == []
        assert {one.form.get("visibility") for one in server.asked("POST", "/api/v1/statuses")} == {"direct"}
        stranger = room.people["stranger"]
        assert [one for one in await room.said() if await room.town.see(one, stranger) is not None] == []


async def test_a_reply_is_approved_and_taken_back(desk: DeskRoom) -> None:
    """By two answers, and one; the card shows who made the decision, to who reviews."""
    (shown,) = await desk.write("moderator", f"write: {OWN_TEXT}")
    (said,) = await desk.write("moderator", "yes", shown)
    assert await desk.look() is CaseState.APPROVED
    assert await one_row(desk.database, "SELECT count(*) FROM outbox WHERE state = 'queued'") == (1,)
    assert "Approved by" in text_in(await desk.room.card())
    await desk.write("second", "undo")
    assert await desk.look() is CaseState.IN_REVIEW
    assert await one_row(desk.database, "SELECT count(*) FROM outbox WHERE state = 'queued'") == (0,)
    told = await desk.write("moderator", "undo", said)
    assert "has changed" in all_in(told) or "faster" in all_in(told)


async def test_two_persons_approve_where_two_are_needed(desk: DeskRoom) -> None:
    """The second one is shown the very text; the first alone changes nothing."""
    shown = await desk.write("moderator", f"write: {BOLD}")
    await desk.write("moderator", "yes", shown[-1])
    assert await desk.look() is CaseState.IN_REVIEW
    again = await desk.write("moderator", "approve text 1")
    await desk.write("moderator", "yes", again[-1])
    assert await desk.look() is CaseState.IN_REVIEW
    other = await desk.write("second", "approve text 1")
    assert BOLD in all_in(other)
    await desk.write("second", "yes", other[-1])
    assert await desk.look() is CaseState.APPROVED
    assert await one_row(desk.database, "SELECT count(seconded_by) FROM approvals") == (1,)


async def test_a_command_that_is_heard_twice_is_done_once(desk: DeskRoom) -> None:
    """A process that ended before it said that it dealt with it hears it again."""
    cursor = desk.room.client.cursor
    (shown,) = await desk.write("moderator", f"write: {OWN_TEXT}")
    desk.room.client.cursor = cursor
    await desk.room.client.hear_all()
    assert len(await desk.room.told("moderator")) == 1
    cursor = desk.room.client.cursor
    await desk.write("moderator", "yes", shown)
    desk.room.client.cursor = cursor
    await desk.room.client.hear_all()
    assert await desk.look() is CaseState.APPROVED
    assert await one_row(desk.database, "SELECT count(*) FROM outbox") == (1,)
    assert len(await desk.room.told("moderator")) == 2


async def test_a_closed_case_is_opened_again_by_who_closed_it(desk: DeskRoom) -> None:
    """For a short time, below what they were told."""
    (said,) = await desk.write("moderator", "not hateful")
    assert await desk.look() is CaseState.NO_REPLY
    assert "Closed" in (await desk.room.card())["spoiler_text"]
    await desk.write("moderator", "undo", said)
    assert await desk.look() is CaseState.IN_REVIEW
    assert "Open" in (await desk.room.card())["spoiler_text"]


async def test_a_role_that_was_taken_away_ends_at_once(desk: DeskRoom) -> None:
    """Its person decides nothing more, and reads no card that comes later."""
    del desk.room.desk.roles[desk.room.people["second"].id]
    told = await desk.write("second", "not hateful")
    assert await desk.look() is CaseState.IN_REVIEW
    assert "for the benefits" not in all_in(told)
    await desk.write("moderator", "hold")
    assert [each["acct"] for each in (await desk.room.card())["mentions"]] == ["moderator"]
