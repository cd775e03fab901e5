"""A raid is one case with a count: which posts fold into it, which never do, and when what it was like is forgotten."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import URL

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.intake import Intake
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.store import campaigns, cases
from core.desk.store.cases import Case
from core.errors import Conflict, NotAllowed
from core.models import FlaggedPost, Priority
from tests.fakes.desk.audit_log import broken_chains
from tests.fakes.desk.decisions import one_row, take
from tests.fakes.desk.people import MODERATOR, SECRET, STRANGER, VOLUNTEER
from tests.fakes.desk.raids import OTHERS, RAID, flag_all, history_of, posts_of, value_of
from tests.fakes.machine.clock import FakeClock


@pytest.fixture
def intake(database: Database) -> Intake:
    return Intake(database)


async def _close(database: Database, case: Case) -> None:
    async def work(session: Session) -> None:
        await cases.transition(session, case.id, case.version, CaseState.WITHDRAWN, actor="test", reason="test")

    await database.run("close", work)


async def test_a_raid_becomes_one_case_with_a_count(intake: Intake, database: Database, post: FlaggedPost) -> None:
    """Moderators see a raid once, and how large it is; everybody who took part keeps a case."""
    copies = [RAID, RAID.upper(), RAID + " 😡", RAID.replace("houses", "hous3s"), "Look: " + RAID]
    found = await flag_all(intake, [*posts_of(post, copies), *posts_of(post, OTHERS, first=10)])
    assert [str(case.state) for case in found] == ["queued", *["folded"] * 4, *["queued"] * 5]
    lead = found[0]
    assert await value_of(database, f"SELECT campaign_id FROM cases WHERE id = '{lead.id}'") == found[1].campaign_id
    campaign = await database.run("read", lambda session: campaigns.load(session, found[1].campaign_id or ""))
    assert (campaign.lead_case_id, campaign.posts) == (lead.id, 5)
    assert (await history_of(database, found[1]))[1] == (
        CaseState.FOLDED,
        "desk",
        f"near-identical to the post of case {lead.id}, which stands for both",
    )
    assert await value_of(database, "SELECT count(*) FROM jobs") == 6
    assert await broken_chains(database) == []


async def test_a_raid_goes_on_in_other_processes_and_after_a_restart(
    place: Path | URL, database: Database, post: FlaggedPost
) -> None:
    """What a campaign is like is kept in the database, not in a process."""
    first, *later = posts_of(post, [RAID, RAID + "!", RAID.lower()])
    lead = await Intake(database).flag(first)
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    found = [await Intake(other).flag(one) for one in later]
    await other.close()
    assert [case.state for case in found] == [CaseState.FOLDED] * 2
    assert len({case.campaign_id for case in found}) == 1
    assert (
        await value_of(database, f"SELECT count(*) FROM campaigns WHERE lead_case_id = '{lead.id}' AND posts = 3") == 1
    )


async def test_two_processes_that_begin_one_raid_at_once_find_one_lead(
    place: Path | URL, database: Database, post: FlaggedPost
) -> None:
    """Captures of one community take turns, so that two first posts do not miss each other."""
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    intakes = [Intake(database, batch=2), Intake(other, batch=2)]
    posts = posts_of(post, [RAID] * 12)
    found = await asyncio.gather(*(intakes[at % 2].flag(one) for at, one in enumerate(posts)))
    await other.close()
    assert Counter(str(case.state) for case in found) == {"folded": 11, "queued": 1}


async def test_posts_of_other_communities_and_after_the_window_begin_anew(
    intake: Intake, post: FlaggedPost, clock: FakeClock
) -> None:
    """A campaign belongs to one community and one day."""
    first, second, third, fourth = posts_of(post, [RAID] * 4)
    elsewhere = replace(second, ref=replace(second.ref, community="another"))
    assert (await intake.flag(first)).state is CaseState.QUEUED
    assert (await intake.flag(elsewhere)).state is CaseState.QUEUED
    clock.advance(24 * 3600 - 1)
    assert (await intake.flag(third)).state is CaseState.FOLDED
    clock.advance(1)
    assert (await intake.flag(fourth)).state is CaseState.QUEUED


async def test_posts_after_the_lead_was_closed_begin_anew(
    intake: Intake, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """A decision about yesterday's post is none about today's."""
    first, second, third = posts_of(post, [RAID] * 3)
    lead = await intake.flag(first)
    await desk.decisions.close(lead.id, lead.version, MODERATOR, CloseReason.MISTAKE, "flagged by mistake")
    again = await intake.flag(second)
    assert again.state is CaseState.QUEUED
    assert (await take(queue)).case.id == again.id
    assert (await intake.flag(third)).state is CaseState.FOLDED


async def test_of_many_campaigns_that_a_post_may_join_the_first_still_open_is_taken(
    database: Database, post: FlaggedPost, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many share its bands: they are looked at in several statements, and in the order they began."""
    monkeypatch.setattr(campaigns, "_AT_ONCE", 2)
    intake = Intake(database)
    asked = list[Case]()
    for one in posts_of(post, [RAID] * 5, priority=Priority.ASKED, flagged_by=VOLUNTEER.user):
        clock.advance(1)
        asked.append(await intake.flag(one))
    assert len({case.id for case in asked}) == 5
    for case in asked[:3]:
        await _close(database, case)
    joined = await intake.flag(posts_of(post, [RAID], first=9)[0])
    assert joined.state is CaseState.FOLDED
    assert asked[3].id in (await history_of(database, joined))[-1][2]


async def test_words_from_elsewhere_stand_for_no_campaign_and_join_none(
    intake: Intake, database: Database, post: FlaggedPost
) -> None:
    """To them nothing can be posted: near-identical posts would wait for a reply that never comes."""
    brought, first, joining, later = posts_of(post, [RAID] * 4)
    brought, later = replace(brought, is_from_elsewhere=True), replace(later, is_from_elsewhere=True)
    one = await intake.flag(brought)
    found = [one, *[await intake.flag(own) for own in (first, joining, later)]]
    assert [str(case.state) for case in found] == ["queued", "queued", "folded", "queued"]
    assert [case.post.is_from_elsewhere for case in found] == [True, False, False, True]
    leads = await one_row(database, "SELECT count(*), max(lead_case_id) FROM campaigns")
    assert leads == (1, found[1].id)
    assert (await intake.flag(brought)).post == one.post


async def test_a_moderator_takes_a_folded_case_out(
    intake: Intake, desk: Desk, database: Database, post: FlaggedPost
) -> None:
    """What was folded wrongly gets a draft of its own; the count is right again."""
    lead, folded = await flag_all(intake, posts_of(post, [RAID, RAID]))
    with pytest.raises(NotAllowed):
        await intake.split_out(folded.id, folded.version, VOLUNTEER)
    with pytest.raises(NotAllowed) as refused:
        await intake.split_out(folded.id, folded.version - 1, STRANGER)
    assert "folded" not in str(refused.value)
    split = await intake.split_out(folded.id, folded.version, MODERATOR)
    assert (split.state, (await desk.queries.case(split.id)).campaign_id) == (CaseState.QUEUED, None)
    assert await value_of(database, f"SELECT posts FROM campaigns WHERE lead_case_id = '{lead.id}'") == 1
    with pytest.raises(Conflict):
        await intake.split_out(folded.id, folded.version, MODERATOR)
    with pytest.raises(NotAllowed):
        await intake.split_out(lead.id, lead.version, MODERATOR)


async def test_what_posts_were_like_is_forgotten_after_the_window(
    intake: Intake, database: Database, clock: FakeClock, post: FlaggedPost
) -> None:
    """No trace of a text outlives its use; campaigns of several posts keep their count."""
    await flag_all(intake, posts_of(post, [RAID, RAID, *OTHERS]))
    assert RAID[:9] not in str(await value_of(database, "SELECT min(band) FROM campaign_bands"))
    clock.advance(timedelta(hours=25).total_seconds())
    await intake.admit_waiting()
    assert await value_of(database, "SELECT count(*) FROM campaign_bands") == 0
    assert await one_row(database, "SELECT count(*), max(posts) FROM campaigns") == (1, 2)


async def test_an_erased_post_is_forgotten_at_once(intake: Intake, database: Database, post: FlaggedPost) -> None:
    """Nobody's erased text is what others are compared with."""
    first, second = posts_of(post, [RAID, RAID])
    lead = await intake.flag(first)
    await database.run("forget", lambda session: campaigns.forget_lead(session, lead.id))
    assert await value_of(database, "SELECT count(*) FROM campaign_bands") == 0
    assert (await intake.flag(second)).state is CaseState.QUEUED
