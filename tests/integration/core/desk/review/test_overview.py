"""What waits over all communities of somebody, and what changed there, on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest
from argon2 import PasswordHasher

from bot.compose.desk import Desk
from core.desk.communities.accounts import WebAccounts
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.review.overview import DeskOverview
from core.desk.rules.closures import CloseReason
from core.desk.rules.dashboard_ports import Hidden, KeptPost, Preferences
from core.desk.store.erasure import erase_case
from core.desk.store.suggestion_documents import Preview
from core.errors import NotAllowed
from core.models import FlaggedPost, TargetGroup
from tests.fakes.desk.boards import posts_apart
from tests.fakes.desk.chores import DAY
from tests.fakes.desk.decisions import execute, take
from tests.fakes.desk.people import (
    ADMIN,
    AUDITOR,
    COMMUNITY,
    MANAGER,
    MODERATOR,
    PLATFORM,
    STRANGER,
    VOLUNTEER,
)
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock

pytestmark = pytest.mark.both_databases


async def test_what_waits_is_sorted_by_need_gravity_and_age(
    database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """What needs a decision comes before what is drafted, the gravest first, and of two alike the older one."""
    overview, queue = DeskOverview(database, desk.queries), DraftQueue(database, "worker-1")
    found = []
    for single, severity in zip(posts_apart(post, 4), (2, 5, 2, None), strict=True):
        case = await desk.intake.flag(single)
        found.append(case.id)
        clock.advance(60)
        if severity is not None:
            taken = await take(queue)
            made = suggestion_for(taken.case.post)
            await queue.store(taken, replace(made, reading=replace(made.reading, severity=severity)))
    listed = await overview.queue((MODERATOR,))
    assert [one.case_id for one in listed.cases] == [found[1], found[0], found[2], found[3]]
    assert [one.severity for one in listed.cases] == [5, 2, 2, None]
    assert listed.total == 4
    assert listed.oldest == await overview.oldest((MODERATOR,)) == listed.cases[1].opened_at
    assert (await overview.queue((AUDITOR,))).total == 4
    for nobody in (VOLUNTEER, STRANGER):
        assert (await overview.queue((nobody,))).cases == ()
        assert await overview.oldest((nobody,)) is None
    assert (await overview.queue((MODERATOR,), platform="elsewhere")).total == 0


async def test_hidden_categories_are_left_out_of_one_queue_and_wait_in_all_others(
    database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """They are counted; groups and threats add up, and since when the oldest waits is the same for everybody."""
    overview, queue = DeskOverview(database, desk.queries), DraftQueue(database, "worker-1")
    kinds = ((TargetGroup.WOMEN, 2), (TargetGroup.MIGRANTS, 5), (None, 1), (TargetGroup.MIGRANTS, 3))
    found = []
    for single, (group, severity) in zip(posts_apart(post, 4), kinds, strict=True):
        found.append((await desk.intake.flag(single)).id)
        clock.advance(60)
        taken = await take(queue)
        made = suggestion_for(taken.case.post)
        reading = replace(made.reading, target_group=group, severity=severity)
        await queue.store(taken, replace(made, reading=reading))

    async def seen(hides: Hidden) -> tuple[set[int], int]:
        listed = await overview.queue((MODERATOR,), hides=hides)
        assert listed.total == len(listed.cases)
        assert listed.oldest == await overview.oldest((MODERATOR,)) == all_.oldest
        return {found.index(one.case_id) for one in listed.cases}, listed.hidden

    all_ = await overview.queue((MODERATOR,))
    assert (all_.total, all_.hidden) == (4, 0)
    assert await seen(Hidden(frozenset({TargetGroup.MIGRANTS}))) == ({0, 2}, 2)
    assert await seen(Hidden(threats=True)) == ({0, 2, 3}, 1)
    assert await seen(Hidden(frozenset({TargetGroup.WOMEN}), threats=True)) == ({2, 3}, 2)
    assert await seen(Hidden(frozenset(TargetGroup), threats=True)) == ({2}, 3)
    assert (await overview.queue((AUDITOR,))).total == 4
    elsewhere = await overview.queue((MODERATOR,), platform="elsewhere", hides=Hidden(frozenset(TargetGroup)))
    assert elsewhere.hidden == 0


async def test_a_case_is_hidden_as_soon_as_its_group_is_known(
    database: Database, desk: Desk, post: FlaggedPost
) -> None:
    """While it is drafted, too; what is said of its new words then counts alone."""
    overview, queue = DeskOverview(database, desk.queries), DraftQueue(database, "worker-1")
    case = await desk.intake.flag(post)
    women = Hidden(frozenset({TargetGroup.WOMEN}))
    assert (await overview.queue((MODERATOR,), hides=women)).hidden == 0
    taken = await take(queue)
    made = suggestion_for(taken.case.post)
    await queue.keep(taken, preview=Preview(replace(made.reading, target_group=TargetGroup.WOMEN)))
    assert (await overview.queue((MODERATOR,), hides=women)).hidden == 1
    await queue.store(taken, replace(made, reading=replace(made.reading, target_group=TargetGroup.MUSLIMS)))
    listed = await overview.queue((MODERATOR,), hides=women)
    assert [one.case_id for one in listed.cases] == [case.id]


async def test_preferences_are_kept_with_one_account(database: Database) -> None:
    """And with no other one; a category of a later version is not hidden, and a new password changes nothing."""
    who = {name: WebAccounts(database, hasher=PasswordHasher(time_cost=1, memory_cost=8)) for name in ("ane", "jon")}
    sessions = dict[str, str]()
    for name, accounts in who.items():
        await accounts.keep(name, "", (replace(MODERATOR, name=name),))
        sessions[name] = await accounts.use_link(await accounts.link(name))
    wanted = Preferences("eu", False, True, Hidden(frozenset({TargetGroup.LGBT, TargetGroup.DISABILITIES}), True))
    await who["ane"].prefer(sessions["ane"], wanted)
    seen = await who["ane"].visitor(sessions["ane"])
    other = await who["jon"].visitor(sessions["jon"])
    assert seen is not None
    assert other is not None
    assert seen.wants == wanted
    assert other.wants == Preferences()
    await execute(database, "UPDATE accounts SET hides = 'lgbt a_later_group threats' WHERE name = 'ane'")
    await who["ane"].keep("ane", "", (MODERATOR,))
    kept = {one.name: one.wants.hides for one in await who["ane"].listed()}
    assert kept["ane"] == Hidden(frozenset({TargetGroup.LGBT}), threats=True)


async def test_changes_are_numbered_and_told_to_those_who_may_read(
    database: Database, desk: Desk, post: FlaggedPost
) -> None:
    """From any number on, each case once; a stranger hears the number alone."""
    overview = DeskOverview(database, desk.queries)
    first, second = [await desk.intake.flag(single) for single in posts_apart(post, 2)]
    start = await overview.changes((MODERATOR,), None)
    assert start.cases == ()
    await desk.decisions.close(first.id, first.version, MODERATOR, CloseReason.MISTAKE)
    later = await overview.changes((MODERATOR,), start.number)
    assert later.cases == (first.id,)
    assert later.number > start.number
    assert set((await overview.changes((MODERATOR,), 0)).cases) == {first.id, second.id}
    assert (await overview.changes((STRANGER,), start.number)).cases == ()


async def test_a_history_names_people_to_those_who_may_read(database: Database, desk: Desk, post: FlaggedPost) -> None:
    """With the note; nobody else reads it."""
    overview = DeskOverview(database, desk.queries)
    case = await desk.intake.flag(post)
    await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.MISTAKE, "sorted out by hand")
    moves = await overview.history(case.id, AUDITOR)
    assert moves[-1].by == MODERATOR.name
    assert moves[-1].note == "sorted out by hand"
    for nobody in (VOLUNTEER, STRANGER):
        with pytest.raises(NotAllowed):
            await overview.history(case.id, nobody)
        with pytest.raises(NotAllowed):
            await overview.check(case.id, nobody, "All of us live here.")


async def test_kept_posts_are_those_of_seven_days_with_the_group_of_the_newest_suggestion(
    database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """Newest first, closed ones too; neither erased words, nor another community's, nor a post of no message here."""
    overview, queue = DeskOverview(database, desk.queries), DraftQueue(database, "worker-1")
    old, read, found, erased, pasted, abroad = posts_apart(post, 6)
    await desk.intake.flag(old)
    clock.advance(7 * DAY)
    kept = []
    for single in (
        read,
        replace(found, flagged_how="watched channel", score=0.987),
        erased,
        replace(pasted, is_from_elsewhere=True),
        replace(abroad, ref=replace(abroad.ref, community="elsewhere")),
    ):
        kept.append(await desk.intake.flag(single))
        clock.advance(60)

    async def erase(session: Session) -> None:
        await erase_case(session, kept[2].id)

    await database.run("erase a case", erase)
    await desk.decisions.close(kept[1].id, kept[1].version, MODERATOR, CloseReason.MISTAKE)
    assert [one.group for one in await overview.kept_posts(PLATFORM, COMMUNITY, MANAGER)] == [None, None]
    taken = await take(queue)
    while taken.case.id != kept[0].id:
        taken = await take(queue)
    await queue.store(taken, suggestion_for(taken.case.post))
    channel = post.ref.channel
    assert await overview.kept_posts(PLATFORM, COMMUNITY, MANAGER) == (
        KeptPost(kept[1].id, channel, found.text, "watched channel", 0.987, kept[1].created_at, None),
        KeptPost(kept[0].id, channel, read.text, post.flagged_how, None, kept[0].created_at, TargetGroup.MIGRANTS),
    )
    for nobody in (MODERATOR, AUDITOR, VOLUNTEER, STRANGER):
        with pytest.raises(NotAllowed):
            await overview.kept_posts(PLATFORM, COMMUNITY, nobody)
    assert len(await overview.kept_posts(PLATFORM, COMMUNITY, ADMIN)) == 2
