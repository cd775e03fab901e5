"""Answers below cards over the real desk and the real board, and nobody's name where the public could read it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.sample.community import SampleCommunity
from bot.communities.governance import CommunityGovernance
from bot.compose.desk import build_casework, build_desk
from bot.drafting.queue import DraftQueue
from bot.review.board import ReviewBoard
from bot.sending.outbox import Outbox
from bot.store.engine.database import Database, Session
from bot.store.people import communities, people
from bot.store.schema import Change
from core.models import FlaggedPost, PostRef
from core.moderation.approval import CaseState
from core.moderation.desk_ports import Casework
from core.moderation.roles import Person, Role
from tests.fakes.desk.decisions import BOLD, OWN_TEXT, one_row, take
from tests.fakes.desk.people import SECRET
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.mastodon.review import AUTHORS, MastodonRoom, ReviewClient, all_in, mastodon_room, text_in
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON

_PEOPLE = ("moderator", "second")


@dataclass
class DeskRoom:
    """The moderators over a desk with a database, whose board shows the card of one case in review."""

    room: MastodonRoom
    database: Database
    front: Casework
    board: ReviewBoard
    clock: FakeClock
    case_id: str

    async def look(self) -> CaseState:
        """The state of the case."""
        moderator = Person("mastodon", self.room.people["moderator"].id)
        return (await self.front.card(self.case_id, moderator)).state

    async def write(self, who: str, text: str, below: JSON | None = None) -> list[JSON]:
        """Somebody answers below a status, the card if none is given; the board catches up."""
        told = await self.room.write(who, text, below or await self.room.card())
        self.clock.advance(5)
        await self.board.step()
        return told


@pytest.fixture
async def desk(server: MastodonServer, tmp_path: Path) -> AsyncIterator[DeskRoom]:
    """A desk that knows two moderators; what it sends is of no matter here."""
    clock = FakeClock()
    database = await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET, clock=clock)
    try:
        async with mastodon_room(server) as room:
            yield await _begun(room, database, clock)
            assert [one for one in await room.said() if await room.town.see(one) is not None] == []
            assert {one.form.get("visibility") for one in server.asked("POST", "/api/v1/statuses")} == {"direct"}
            stranger = room.people["stranger"]
            assert [one for one in await room.said() if await room.town.see(one, stranger) is not None] == []
    finally:
        await database.close()


async def _begun(room: MastodonRoom, database: Database, clock: FakeClock) -> DeskRoom:
    flagger = room.town.add_account("ferry_rower")
    made = build_desk(database, undo_seconds=15)
    front = build_casework(made, Outbox(database, {"mastodon": SampleCommunity(clock=clock)}))

    async def settle(session: Session) -> None:
        found = await communities.ensure(session, "mastodon", room.community)
        for name in _PEOPLE:
            person = Person("mastodon", room.people[name].id, name)
            await people.grant(session, found.id, person, {Role.MODERATOR}, by="test")
        await communities.change(session, found.id, actor="test", reason="posting on", what=Change.POSTING)

    await database.run("settle", settle)
    governance = CommunityGovernance(database, made.live_roles)
    await governance.configure(
        "mastodon", room.community, {"review_channel": room.channel}, Person("mastodon", "1"), is_owner=True
    )
    ref = PostRef("mastodon", room.community, AUTHORS, room.post["id"])
    post = FlaggedPost(ref, "They do not belong here.", "77", flagger.id, "mention", author_name=f"slate@{AUTHORS}")
    case_id = (await front.flag(post)).case_id
    queue = DraftQueue(database, "worker-1")
    taken = await take(queue)
    await queue.store(taken, suggestion_for(taken.case.post))
    await room.client.close()
    room.client = ReviewClient(room.server, front, governance)
    await room.client.open()
    board = ReviewBoard(database, room.client.surface, "mastodon", "board-1")
    await board.step()
    return DeskRoom(room, database, front, board, clock, case_id)


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

    async def take_away(session: Session) -> None:
        found = await communities.ensure(session, "mastodon", desk.room.community)
        person = Person("mastodon", desk.room.people["second"].id, "second")
        await people.grant(session, found.id, person, set(), by="test")

    await desk.database.run("take a role away", take_away)
    told = await desk.write("second", "not hateful")
    assert await desk.look() is CaseState.IN_REVIEW
    assert "They do not belong here" not in all_in(told)
    await desk.write("moderator", "hold")
    assert [each["acct"] for each in (await desk.room.card())["mentions"]] == ["moderator"]
