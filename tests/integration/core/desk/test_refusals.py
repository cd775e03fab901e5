"""What becomes a case, and what is refused at the door."""

import asyncio
from dataclasses import replace

import pytest

from bot.compose.desk import Desk, build_desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.intake import Intake, check_flag
from core.desk.rules.roles import Role
from core.desk.store.cases import set_wish
from core.errors import BadInput, LimitReached, NotAllowed, PlatformUnavailable
from core.models import FlaggedPost, Intent, Priority, Wish
from tests.fakes.desk.chores import other
from tests.fakes.desk.decisions import execute, take
from tests.fakes.desk.people import AUDITOR, MODERATOR, PLATFORM, STRANGER, VOLUNTEER
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.roles import FakeRoles


async def test_a_private_message_is_never_a_case(desk: Desk, post: FlaggedPost) -> None:
    """Antiphon speaks where everybody reads along, and writes to nobody (reliability, T22)."""
    with pytest.raises(NotAllowed, match="direct messages") as caught:
        await desk.intake.flag(replace(post, is_private=True))
    assert caught.value.remedy
    assert await desk.queries.cases() == []


async def test_one_person_flags_so_many_an_hour_and_then_reads_when_to_go_on(
    database: Database, post: FlaggedPost, clock: FakeClock
) -> None:
    """A brigade of one must not fill the queue; the hour slides, and others are not held up."""
    desk = build_desk(database, flags_per_hour=2)
    await desk.intake.flag(other(post, "1"))
    clock.advance(600)
    await desk.intake.flag(other(post, "2"))
    with pytest.raises(NotAllowed, match="2 posts in the last hour") as caught:
        await desk.intake.flag(other(post, "3"))
    assert "Minutes to wait: 50." in caught.value.remedy
    assert await desk.intake.flag(other(post, "2")) in await desk.queries.cases()
    await desk.intake.flag(other(post, "4", by="river_bend"))
    clock.advance(3001)
    await desk.intake.flag(other(post, "3"))
    assert len(await desk.queries.cases()) == 4


async def test_who_is_not_named_counts_for_their_community(database: Database, post: FlaggedPost) -> None:
    """As the administrators behind a group: those of one group take nobody's turn in another."""
    desk = build_desk(database, flags_per_hour=1)
    here = replace(post, flagged_by="")
    await desk.intake.flag(other(here, "1", by=""))
    with pytest.raises(LimitReached):
        await desk.intake.flag(other(here, "2", by=""))
    elsewhere = replace(here, ref=replace(here.ref, community="another"))
    await desk.intake.flag(other(elsewhere, "3", by=""))
    assert len(await desk.queries.cases()) == 2


async def test_what_a_machine_detects_is_never_refused_for_its_number(database: Database, post: FlaggedPost) -> None:
    """Work is shed after capture, never before (invariants I3 and I16)."""
    desk = build_desk(database, flags_per_hour=1)
    detected = replace(post, flagged_by="filter", priority=Priority.DETECTED)
    await desk.intake.flag(other(post, "1", by="filter"))
    for message in ("2", "3", "4"):
        await desk.intake.flag(other(detected, message, by="filter"))
    assert len(await desk.queries.cases()) == 4
    with pytest.raises(NotAllowed):
        await desk.intake.flag(other(post, "5", by="filter"))


# A draft on demand


async def test_anybody_flags_and_volunteers_or_more_ask_for_a_draft(desk: Desk, post: FlaggedPost) -> None:
    """Who may not is told what they can do instead, and nothing was kept; their flag is as good as any."""
    asked = replace(post, priority=Priority.ASKED)
    for by in (STRANGER, AUDITOR):
        with pytest.raises(NotAllowed, match="A draft at once") as caught:
            await desk.intake.flag(replace(asked, flagged_by=by.user))
        assert "Flag the post" in caught.value.remedy
    assert await desk.queries.cases() == []
    flagged = await desk.intake.flag(replace(post, flagged_by=STRANGER.user))
    assert (await desk.queries.case(flagged.id)).post.priority is Priority.FLAGGED
    for number, by in enumerate((VOLUNTEER, MODERATOR), start=1):
        await desk.intake.flag(replace(other(asked, f"{number}"), flagged_by=by.user))
    assert len(await desk.queries.cases()) == 3


async def test_one_refusal_holds_up_nobody_who_flags_at_the_same_time(desk: Desk, post: FlaggedPost) -> None:
    """They share a commit, and each gets their own answer."""
    asked = replace(post, priority=Priority.ASKED)
    flags = [other(asked, "1", STRANGER.user), other(post, "2"), other(asked, "3", VOLUNTEER.user)]
    found = await asyncio.gather(*(desk.intake.flag(one) for one in flags), return_exceptions=True)
    assert [type(one).__name__ for one in found] == ["NotAllowed", "Case", "Case"]
    assert {case.post.ref.message for case in await desk.queries.cases()} == {"2", "3"}


async def test_who_asks_for_a_draft_that_waits_is_served_sooner_and_as_they_wish(
    desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """The case is one; a stranger who asks for it changes nothing."""
    await desk.intake.flag(other(post, "1"))
    clock.advance(1)
    waiting = await desk.intake.flag(other(post, "2"))
    asked = replace(other(post, "2"), priority=Priority.ASKED, wish=Wish(Intent.QUESTIONING, "es", "kind"))
    with pytest.raises(NotAllowed):
        await desk.intake.flag(replace(asked, flagged_by=STRANGER.user))
    assert (await desk.queries.case(waiting.id)).post.wish == Wish()
    await desk.intake.flag(replace(asked, flagged_by=VOLUNTEER.user))
    taken = (await take(queue)).case
    assert (taken.id, taken.post.priority, taken.post.wish) == (waiting.id, Priority.ASKED, asked.wish)


async def test_who_asks_for_what_waits_for_room_comes_first_when_there_is_some(
    database: Database, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """A full queue does not forget who asked, nor what they wish."""
    intake = Intake(database, max_queued=1, campaign_hours=0)
    for message in ("1", "2", "3"):
        await intake.flag(other(post, message))
        clock.advance(1)
    wish = Wish(Intent.POSITIVE)
    await intake.flag(replace(other(post, "3", VOLUNTEER.user), priority=Priority.ASKED, wish=wish))
    assert (await take(queue)).case.post.ref.message == "1"
    assert await intake.admit_waiting() == 1
    taken = (await take(queue)).case
    assert (taken.post.ref.message, taken.post.wish) == ("3", wish)


async def test_the_platform_is_asked_who_wants_a_draft(database: Database, post: FlaggedPost) -> None:
    """A moderator there need not be known here; while it cannot tell, nothing is taken in, and a flag is."""
    source = FakeRoles(stranger_one=Role.MODERATOR)
    desk = build_desk(database, role_sources={PLATFORM: source})
    asked = replace(post, ref=replace(post.ref, community="harbour"), priority=Priority.ASKED, flagged_by=STRANGER.user)
    await desk.intake.flag(asked)
    source.is_down = True
    with pytest.raises(PlatformUnavailable):
        await desk.intake.flag(other(asked, "2", STRANGER.user))
    await desk.intake.flag(replace(other(asked, "3", STRANGER.user), priority=Priority.FLAGGED))
    source.is_down = False
    source.now.clear()
    with pytest.raises(NotAllowed):
        await desk.intake.flag(other(asked, "4", STRANGER.user))
    assert {case.post.ref.message for case in await desk.queries.cases()} == {post.ref.message, "3"}


def test_a_wish_that_nobody_can_grant_is_refused_at_the_door(post: FlaggedPost) -> None:
    """Who asks is there to ask otherwise; a worker is not."""
    for wish in (Wish(language="fi"), Wish(tone="half \ud83d")):
        with pytest.raises(BadInput):
            check_flag(replace(post, wish=wish))


async def test_a_wish_can_change_until_the_case_is_erased(desk: Desk, database: Database, post: FlaggedPost) -> None:
    """A moderator wants other drafts than the flagger did; the last wish counts, as a whole."""
    case = await desk.intake.flag(replace(post, wish=Wish(Intent.POSITIVE, "es")))
    later = Wish(Intent.DENOUNCING, tone="firm")

    async def change(wish: Wish, case_id: str = case.id) -> None:
        await database.run("wish", lambda session: set_wish(session, case_id, wish))

    await change(later)
    assert (await desk.queries.case(case.id)).post.wish == later
    with pytest.raises(BadInput, match="too long"):
        await change(Wish(tone="x" * 121))
    with pytest.raises(BadInput, match="no case"):
        await change(later, "unknown")
    await execute(database, "UPDATE cases SET erased_at = updated_at")
    with pytest.raises(NotAllowed, match="erased"):
        await change(Wish())
    assert (await desk.queries.case(case.id)).post.wish == later
