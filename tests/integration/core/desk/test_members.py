"""Flags of people without a role: only where the community allows them, and enough of them make a case."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from bot.compose.desk import Desk, build_casework, build_desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database, Session
from core.desk.review.casework import Casework
from core.desk.schema import MemberFlagRow
from core.desk.sending.outbox import Outbox
from core.desk.upkeep.erasure import Erasure
from core.errors import NotAllowed
from core.models import FlaggedPost
from tests.fakes.desk.boards import posts_apart
from tests.fakes.desk.people import COMMUNITY_ID, KEEPER, PLATFORM, VOLUNTEER
from tests.fakes.machine.clock import FakeClock


async def _allow(database: Database, needed: int = 1) -> None:
    chosen = {"members_flag": True, "flaggers_needed": needed}
    await CommunityDesk(database).configure(COMMUNITY_ID, lambda _: chosen, KEEPER)


async def _people(session: Session) -> list[Any]:
    return list(await session.scalars(select(MemberFlagRow.person_id)))


async def test_without_leave_a_member_flags_nothing(front: Casework, post: FlaggedPost, database: Database) -> None:
    """The default; a volunteer may."""
    with pytest.raises(NotAllowed, match="flag"):
        await front.intake.take_member_flag(post)
    assert await front.intake.take_member_flag(replace(post, flagged_by=VOLUNTEER.user)) is not None


async def test_so_many_different_people_make_a_case(front: Casework, post: FlaggedPost, database: Database) -> None:
    """One who flags again is still one; who comes later joins the case, and nobody is remembered."""
    await _allow(database, 3)
    for user in ("one", "one", "two"):
        assert await front.intake.take_member_flag(replace(post, flagged_by=user)) is None
    third = await front.intake.take_member_flag(replace(post, flagged_by="three"))
    fourth = await front.intake.take_member_flag(replace(post, flagged_by="four"))
    assert third is not None
    assert fourth is not None
    assert third.case_id == fourth.case_id
    assert await database.run("look", _people) == []


async def test_flags_of_yesterday_count_no_more(
    front: Casework, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """And are kept no longer; a volunteer's counts at once."""
    await _allow(database, 2)
    assert await front.intake.take_member_flag(replace(post, flagged_by="one")) is None
    clock.advance(86401)
    assert await front.intake.take_member_flag(replace(post, flagged_by="two")) is None
    assert len(await database.run("look", _people)) == 1
    assert await front.intake.take_member_flag(replace(post, flagged_by=VOLUNTEER.user)) is not None


async def test_one_member_cannot_flag_without_end(database: Database, post: FlaggedPost, outbox: Outbox) -> None:
    """The limit of an hour holds for flags that are only counted, too."""
    await _allow(database, 2)
    desk: Desk = build_desk(database, flags_per_hour=2)
    front = build_casework(desk, outbox)
    first, second, third = posts_apart(post, 3)
    for single in (first, second):
        assert await front.intake.take_member_flag(single) is None
    with pytest.raises(NotAllowed, match="2 posts"):
        await front.intake.take_member_flag(third)


async def test_an_erased_member_no_longer_counts(front: Casework, post: FlaggedPost, database: Database) -> None:
    """What they flagged is forgotten with them."""
    await _allow(database, 2)
    assert await front.intake.take_member_flag(replace(post, flagged_by="one")) is None
    await Erasure(database).erase(PLATFORM, "one")
    assert await database.run("look", _people) == []
