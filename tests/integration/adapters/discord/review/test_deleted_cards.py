"""Cards that somebody deletes on Discord: heard of, or looked for after a time in which nobody could hear."""

from dataclasses import replace
from typing import Any

import discord
import pytest

from adapters.discord.review import surface
from adapters.discord.review.surface import DiscordReviewSurface
from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.review.board import ReviewBoard
from core.desk.rules.platforms import MessageLook
from core.desk.rules.policy import CommunityPolicy
from core.desk.schema import CommunityRow
from core.desk.store import communities
from core.errors import PlatformBusy, PlatformUnavailable
from core.models import FlaggedPost, PostRef
from tests.fakes.desk.boards import all_steps, posts_apart
from tests.fakes.discord.review import ReviewRoom
from tests.fakes.discord.server.state import GUILD_ID
from tests.fakes.discord.wire import connected_wire


def _delete_unheard(room: ReviewRoom, *places: PostRef) -> None:
    """Messages go, and Discord tells no session of it."""
    for place in places:
        del room.env.backend.messages[int(place.channel)][int(place.message)]


def _pages_asked_for(room: ReviewRoom) -> int:
    return len([call for call in room.env.http_requests if call.method == "GET" and call.path.endswith("/messages")])


async def _cards(room: ReviewRoom, count: int) -> list[PostRef]:
    return [await _card(room, f"{number:032}") for number in range(count)]


async def _card(room: ReviewRoom, case_id: str) -> PostRef:
    return await room.client.surface.show(room.like(case_id=case_id), str(room.channel.id), None)


async def test_the_desk_hears_of_a_deleted_card(room: ReviewRoom) -> None:
    """And of nothing that is deleted in other channels."""
    room.governance.policies[room.community] = CommunityPolicy(review_channel=str(room.channel.id))
    place = await room.show()
    square = room.channel.guild.create_text_channel("square")
    guild = room.channel.guild
    rights = guild.create_role("Admin", permissions=discord.Permissions(administrator=True))
    admin = guild.add_member(room.env.create_user("admin"), roles=[rights])
    said = await room.people["stranger"].send(square, "hello")
    await room.people["stranger"].delete(said)
    await admin.delete(room.message)
    assert room.casework.gone == [PostRef("discord", room.community, str(room.channel.id), place.message)]


async def test_a_card_that_was_deleted_while_nothing_ran_comes_back_with_the_next_start(
    room: ReviewRoom, database: Database, desk: Desk, post: FlaggedPost
) -> None:
    """From a flag to the card, a stop, a deletion, a start: one question to Discord, and nothing else is written."""

    async def choose(session: Session) -> None:
        await communities.ensure(session, "discord", room.community)
        row = await session.get_one(CommunityRow, communities.community_id("discord", room.community))
        row.policy = {"review_channel": str(room.channel.id)}

    await database.run("choose a channel", choose)
    for number, one in enumerate(posts_apart(post, 3)):
        ref = PostRef("discord", room.community, str(room.channel.id), str(700 + number))
        await desk.intake.flag(replace(one, ref=ref))
    await all_steps(ReviewBoard(database, room.client.surface, "discord", "process"))
    standing = dict(room.env.backend.messages[room.channel.id])
    first, middle, last = (PostRef("discord", room.community, str(room.channel.id), str(key)) for key in standing)
    _delete_unheard(room, middle)
    await room.restart()
    pages, asked = _pages_asked_for(room), len(room.env.http_requests)
    await all_steps(ReviewBoard(database, room.client.surface, "discord", "process"))
    now = set(map(str, room.env.backend.messages[room.channel.id]))
    assert len(now) == 3
    assert {first.message, last.message} < now
    assert middle.message not in now
    assert _pages_asked_for(room) == pages + 1
    later = [call.path for call in room.env.http_requests[asked:]]
    assert not [path for path in later if path.endswith((f"/{first.message}", f"/{last.message}"))]


async def test_one_look_tells_of_a_page_and_the_next_one_of_what_is_older(
    room: ReviewRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest first, whatever else was written in between; it ends at the beginning of the channel."""
    monkeypatch.setattr(surface, "_PAGE", 3)
    oldest, old, new, newest = await _cards(room, 4)
    await room.people["moderator"].send(room.channel, "Who takes this one?")
    _delete_unheard(room, newest, oldest)
    look = room.client.surface.look
    assert await look([oldest, old, new, newest]) == MessageLook(frozenset({old, new}), frozenset({newest, oldest}))
    other = await _card(room, "f" * 32)
    another = await _card(room, "e" * 32)
    assert await look([old, new, other, another]) == MessageLook(frozenset({other, another}), frozenset())
    assert await look([old, new]) == MessageLook(frozenset({old, new}), frozenset())


async def test_a_channel_whose_history_is_closed_to_us_says_nothing_about_its_cards(room: ReviewRoom) -> None:
    """Discord shows it as empty then; every card would look deleted."""
    (place,) = await _cards(room, 1)
    known: Any = room.env.bot.get_guild(int(room.community))
    await known.get_channel(room.channel.id).set_permissions(known.me, view_channel=True, read_message_history=False)
    await room.env.settle()
    with pytest.raises(PlatformUnavailable) as caught:
        await room.client.surface.look([place])
    assert "Read Message History" in caught.value.remedy
    assert _pages_asked_for(room) == 0


async def test_a_limit_of_discord_puts_a_look_off(room: ReviewRoom) -> None:
    """It is told at once, and not waited for."""
    (place,) = await _cards(room, 1)
    room.env.inject_error("GET", "/channels/*/messages", status=429, times=None)
    with pytest.raises(PlatformBusy):
        await room.client.surface.look([place])


async def test_only_a_new_session_left_something_unheard() -> None:
    """One that is taken up again is told of everything that it missed."""
    async with connected_wire() as wire:
        listening = DiscordReviewSurface(wire.client)
        listening.listen()
        gateway = wire.server.gateway
        await gateway.drop()
        await gateway.resumed.wait()
        assert listening.unheard() == frozenset()
        await gateway.invalidate()
        seen = list[str]()

        def is_heard() -> bool:
            seen.extend(listening.unheard())
            return bool(seen)

        await wire.until(is_heard)
        assert set(seen) == {str(GUILD_ID)}
