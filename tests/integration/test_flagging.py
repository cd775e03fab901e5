"""What becomes a case, and what is refused at the door."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.desk import Desk
from bot.flagging import check_flag
from bot.intake import Intake
from bot.store.database import Database
from core.errors import BadInput, NotAllowed
from core.models import FlaggedPost, Priority
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import one_row


def other(post: FlaggedPost, message: str, by: str = "mill_pond") -> FlaggedPost:
    """Another post of the same channel."""
    return replace(post, ref=replace(post.ref, message=message), flagged_by=by)


async def test_the_same_post_has_one_case(desk: Desk, post: FlaggedPost) -> None:
    """Events come twice and people flag at once (invariant I4)."""
    flagged = await asyncio.gather(*(desk.flag(replace(post, flagged_by=f"person_{n}")) for n in range(5)))
    assert len({case.id for case in flagged}) == 1
    assert len(await desk.cases()) == 1
    assert len(await desk.history(flagged[0].id)) == 2


async def test_the_same_id_in_another_channel_is_another_case(desk: Desk, post: FlaggedPost) -> None:
    """Telegram's message ids are unique in one chat only (invariant I4)."""
    await desk.flag(post)
    await desk.flag(replace(post, ref=replace(post.ref, channel="harbour")))
    assert len(await desk.cases()) == 2


async def test_a_new_community_is_in_shadow_mode_and_discloses(
    desk: Desk, post: FlaggedPost, database: Database
) -> None:
    """Nothing is posted anywhere before a manager says so, and who drafted it is said."""
    await desk.flag(replace(post, ref=replace(post.ref, community="harbour")))
    query = "SELECT is_posting, discloses FROM communities WHERE name = 'harbour'"
    assert [bool(value) for value in await one_row(database, query)] == [False, True]


def test_a_post_without_a_place_is_refused(post: FlaggedPost) -> None:
    """A post that cannot be answered must not be taken in as if it could."""
    with pytest.raises(BadInput):
        check_flag(replace(post, ref=replace(post.ref, message=" ")))


def test_broken_unicode_is_refused_clearly(post: FlaggedPost) -> None:
    """A lone surrogate has no bytes to hash, store or post; it must not crash half-way."""
    with pytest.raises(BadInput, match="surrogate"):
        check_flag(replace(post, text="half \ud83d"))


async def test_a_private_message_is_never_a_case(desk: Desk, post: FlaggedPost) -> None:
    """Antiphon speaks where everybody reads along, and writes to nobody (reliability, T22)."""
    with pytest.raises(NotAllowed, match="direct messages") as caught:
        await desk.flag(replace(post, is_private=True))
    assert caught.value.remedy
    assert await desk.cases() == []


async def test_one_person_flags_so_many_an_hour_and_then_reads_when_to_go_on(
    database: Database, post: FlaggedPost, clock: FakeClock
) -> None:
    """A brigade of one must not fill the queue; the hour slides, and others are not held up."""
    desk = Desk(database, intake=Intake(database, campaign_hours=0, flags_per_hour=2))
    await desk.flag(other(post, "1"))
    clock.advance(600)
    await desk.flag(other(post, "2"))
    with pytest.raises(NotAllowed, match="2 posts in the last hour") as caught:
        await desk.flag(other(post, "3"))
    assert "15:00 UTC" in caught.value.remedy
    assert await desk.flag(other(post, "2")) in await desk.cases()
    await desk.flag(other(post, "4", by="river_bend"))
    clock.advance(3001)
    await desk.flag(other(post, "3"))
    assert len(await desk.cases()) == 4


async def test_what_a_machine_detects_is_never_refused_for_its_number(database: Database, post: FlaggedPost) -> None:
    """Work is shed after capture, never before (invariants I3 and I16)."""
    desk = Desk(database, intake=Intake(database, campaign_hours=0, flags_per_hour=1))
    detected = replace(post, flagged_by="filter", priority=Priority.DETECTED)
    await desk.flag(other(post, "1", by="filter"))
    for message in ("2", "3", "4"):
        await desk.flag(other(detected, message, by="filter"))
    assert len(await desk.cases()) == 4
    with pytest.raises(NotAllowed):
        await desk.flag(other(post, "5", by="filter"))
