"""What comes in: each post once, many to a commit, a raid in one case, and nothing lost for being too much."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, text

from bot.desk import Desk
from bot.draft_queue import DraftQueue
from bot.faults import installed
from bot.intake import Intake
from bot.store import campaigns, cases
from bot.store.captures import NewCase, capture_all
from bot.store.cases import Case
from bot.store.database import Database, Session
from core.errors import BadInput, Conflict, NotAllowed, StoreUnavailable
from core.models import FlaggedPost, Priority, ThreadMessage
from core.review import CaseState
from tests.fakes.chains import broken_chains
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import one_row, take
from tests.fakes.people import MODERATOR, SECRET, VOLUNTEER

RAID = "They come here, take our houses, and nobody in the town hall dares to say a word about it."
OTHERS = (
    "Somebody should tell the mayor that the bus is late again, third time this week.",
    "The new family on our street sends its children to school in clothes that no child should wear.",
    "Women who drive the ferry are the reason why it runs aground each spring and autumn.",
    "I will not buy bread from a baker who prays on a carpet, and neither should you.",
    "Whoever moved into the mill last winter has brought nothing but noise and rubbish.",
)


@pytest.fixture
def intake(database: Database) -> Intake:
    """An intake with its defaults."""
    return Intake(database)


def _posts(post: FlaggedPost, texts: Sequence[str], first: int = 1, **changes: Any) -> list[FlaggedPost]:
    return [
        replace(
            post, ref=replace(post.ref, message=f"{first + at}"), text=text, author=f"author_{first + at}", **changes
        )
        for at, text in enumerate(texts)
    ]


async def _all(intake: Intake, posts: Sequence[FlaggedPost]) -> list[Case]:
    return list(await asyncio.gather(*(intake.flag(post) for post in posts)))


async def _history(database: Database, case: Case) -> list[tuple[CaseState | None, str, str]]:
    lines = await database.run("read", lambda session: cases.history(session, case.id))
    return [(line.to_state, line.actor, line.reason) for line in lines]


async def _one(database: Database, query: str) -> object:
    return (await one_row(database, query))[0]


async def _close(database: Database, case: Case) -> None:
    async def work(session: Session) -> None:
        await cases.transition(session, case.id, case.version, CaseState.WITHDRAWN, actor="test", reason="test")

    await database.run("close", work)


async def test_a_post_flagged_many_times_at_once_by_two_processes_has_one_case(
    place: Path | URL, database: Database, post: FlaggedPost
) -> None:
    """One case for each post (I4), in whatever order and however often it comes."""
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    posts = _posts(post, [RAID, *OTHERS])
    intakes = [Intake(database), Intake(other, batch=3)]
    found = await asyncio.gather(*(intakes[turn % 2].flag(one) for turn in range(6) for one in posts))
    await other.close()
    assert len({case.id for case in found}) == len(posts) == await _one(database, "SELECT count(*) FROM cases")
    assert await _one(database, "SELECT count(*) FROM audit WHERE to_state = 'captured'") == len(posts)
    assert await broken_chains(database) == []


async def test_the_same_message_of_another_channel_or_community_is_another_post(
    intake: Intake, database: Database, post: FlaggedPost
) -> None:
    """Some platforms count messages in each chat anew."""
    refs = [post.ref, replace(post.ref, channel="elsewhere"), replace(post.ref, community="another")]
    found = await _all(intake, [replace(post, ref=ref) for ref in refs])
    assert len({case.id for case in found}) == 3
    assert {case.community_id for case in found} == {"sample/brenmoor", "sample/another"}
    shadow = await _one(database, "SELECT count(*) FROM communities WHERE name = 'another' AND NOT is_posting")
    assert shadow == 1


async def test_callers_that_wait_together_share_a_commit(intake: Intake, post: FlaggedPost) -> None:
    """A raid costs a few commits, each on the disk before anybody is answered."""
    commits = 0

    async def count(point: str) -> None:
        nonlocal commits
        commits += point == "flag: after the commit"

    with installed(count):
        await _all(intake, _posts(post, [f"{RAID} {at}" for at in range(120)]))
    assert commits <= 5


async def test_nobody_is_answered_before_the_commit(intake: Intake, post: FlaggedPost) -> None:
    """Whoever is told that a post was captured finds it after a power cut (I3)."""
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def hold(point: str) -> None:
        if point == "flag: before the commit":
            reached.set()
            await go_on.wait()

    with installed(hold):
        flagging = asyncio.create_task(intake.flag(post))
        await reached.wait()
        await asyncio.sleep(0)
        assert not flagging.done()
        go_on.set()
        assert (await flagging).state is CaseState.QUEUED


async def test_a_post_that_cannot_be_kept_fails_alone(
    intake: Intake, database: Database, post: FlaggedPost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One bad event among many neither loses the others nor is taken for captured."""
    posts, refused = _posts(post, OTHERS), OTHERS[2]

    async def failing(session: Session, new: Sequence[NewCase]) -> list[Case]:
        if any(case.post.text == refused for case in new):
            await session.execute(text("INSERT INTO turns (community_id) VALUES ('no time')"))
        return await capture_all(session, new)

    monkeypatch.setattr("bot.intake.capture_all", failing)
    answers = await asyncio.gather(*(intake.flag(one) for one in posts), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Case, Case, NotAllowed, Case, Case]
    assert await _one(database, "SELECT count(*) FROM cases") == 4


@pytest.mark.parametrize("broken", ["half a \ud83d character", "a \0 in it"])
async def test_text_that_no_database_keeps_is_refused_before_it_joins_others(
    intake: Intake, post: FlaggedPost, broken: str
) -> None:
    """The adapter is told at once, on both databases alike."""
    posts = [replace(post, text=broken), replace(post, thread=(ThreadMessage("someone", broken),))]
    for one in (*posts, replace(post, ref=replace(post.ref, message=" "))):
        with pytest.raises(BadInput) as caught:
            await intake.flag(one)
        assert caught.value.remedy


async def test_a_cancelled_caller_loses_nobody_else(intake: Intake, database: Database, post: FlaggedPost) -> None:
    """A gateway that drops one event half-way must not drop its neighbours."""
    tasks = [asyncio.create_task(intake.flag(one)) for one in _posts(post, OTHERS)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers[1], asyncio.CancelledError)
    assert [type(answer) for at, answer in enumerate(answers) if at != 1] == [Case] * 4
    assert (await intake.flag(_posts(post, OTHERS)[1])).state is CaseState.QUEUED
    assert await _one(database, "SELECT count(*) FROM cases") == 5


async def test_a_database_that_fails_answers_everybody_and_is_asked_again(
    intake: Intake, database: Database, post: FlaggedPost
) -> None:
    """Nobody waits for ever, nobody is told of a case that is not there, and the next flag works."""

    async def fail(point: str) -> None:
        if point == "flag: before the commit":
            raise OSError("the disk went away")

    posts = _posts(post, OTHERS)
    with installed(fail):
        answers = await asyncio.gather(*(intake.flag(one) for one in posts), return_exceptions=True)
    assert {type(answer) for answer in answers} == {StoreUnavailable}
    assert await _one(database, "SELECT count(*) FROM cases") == 0
    assert {case.state for case in await _all(intake, posts)} == {CaseState.QUEUED}


async def test_a_raid_becomes_one_case_with_a_count(intake: Intake, database: Database, post: FlaggedPost) -> None:
    """Moderators see a raid once, and how large it is; everybody who took part keeps a case."""
    copies = [RAID, RAID.upper(), RAID + " 😡", RAID.replace("houses", "hous3s"), "Look: " + RAID]
    found = await _all(intake, [*_posts(post, copies), *_posts(post, OTHERS, first=10)])
    assert [str(case.state) for case in found] == ["queued", *["folded"] * 4, *["queued"] * 5]
    lead = found[0]
    assert await _one(database, f"SELECT campaign_id FROM cases WHERE id = '{lead.id}'") == found[1].campaign_id
    campaign = await database.run("read", lambda session: campaigns.load(session, found[1].campaign_id or ""))
    assert (campaign.lead_case_id, campaign.posts) == (lead.id, 5)
    assert (await _history(database, found[1]))[1] == (
        CaseState.FOLDED,
        "desk",
        f"near-identical to the post of case {lead.id}, which stands for both",
    )
    assert await _one(database, "SELECT count(*) FROM jobs") == 6
    assert await broken_chains(database) == []


async def test_a_raid_goes_on_in_other_processes_and_after_a_restart(
    place: Path | URL, database: Database, post: FlaggedPost
) -> None:
    """What a campaign is like is kept in the database, not in a process."""
    first, *later = _posts(post, [RAID, RAID + "!", RAID.lower()])
    lead = await Intake(database).flag(first)
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    found = [await Intake(other).flag(one) for one in later]
    await other.close()
    assert [case.state for case in found] == [CaseState.FOLDED] * 2
    assert len({case.campaign_id for case in found}) == 1
    assert await _one(database, f"SELECT count(*) FROM campaigns WHERE lead_case_id = '{lead.id}' AND posts = 3") == 1


async def test_two_processes_that_begin_one_raid_at_once_find_one_lead(
    place: Path | URL, database: Database, post: FlaggedPost
) -> None:
    """Captures of one community take turns, so that two first posts do not miss each other."""
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    intakes = [Intake(database, batch=2), Intake(other, batch=2)]
    posts = _posts(post, [RAID] * 12)
    found = await asyncio.gather(*(intakes[at % 2].flag(one) for at, one in enumerate(posts)))
    await other.close()
    assert Counter(str(case.state) for case in found) == {"folded": 11, "queued": 1}


async def test_posts_of_other_communities_and_after_the_window_begin_anew(
    intake: Intake, post: FlaggedPost, clock: FakeClock
) -> None:
    """A campaign belongs to one community and one day."""
    first, second, third, fourth = _posts(post, [RAID] * 4)
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
    first, second, third = _posts(post, [RAID] * 3)
    lead = await intake.flag(first)
    await desk.withdraw(lead.id, lead.version, MODERATOR, "flagged by mistake")
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
    for one in _posts(post, [RAID] * 5, priority=Priority.ASKED, flagged_by=VOLUNTEER.user):
        clock.advance(1)
        asked.append(await intake.flag(one))
    assert len({case.id for case in asked}) == 5
    for case in asked[:3]:
        await _close(database, case)
    joined = await intake.flag(_posts(post, [RAID], first=9)[0])
    assert joined.state is CaseState.FOLDED
    assert asked[3].id in (await _history(database, joined))[-1][2]


async def test_short_posts_fold_only_when_they_are_the_same(intake: Intake, post: FlaggedPost) -> None:
    """One word changes what a short post says."""
    found = await _all(intake, _posts(post, ["Go home", "go home!!", "Come home", "", ""]))
    assert [str(case.state) for case in found] == ["queued", "folded", "queued", "queued", "queued"]


async def test_a_draft_that_somebody_asked_for_is_neither_folded_nor_shed(
    database: Database, post: FlaggedPost
) -> None:
    """A volunteer who waits for an answer gets one."""
    intake = Intake(database, max_queued=1)
    asked = _posts(post, [RAID, RAID], first=5, priority=Priority.ASKED, flagged_by=VOLUNTEER.user)
    await intake.flag(post)
    found = await _all(intake, asked)
    assert [case.state for case in found] == [CaseState.QUEUED] * 2


async def test_words_from_elsewhere_stand_for_no_campaign_and_join_none(
    intake: Intake, database: Database, post: FlaggedPost
) -> None:
    """To them nothing can be posted: near-identical posts would wait for a reply that never comes."""
    brought, first, joining, later = _posts(post, [RAID] * 4)
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
    lead, folded = await _all(intake, _posts(post, [RAID, RAID]))
    with pytest.raises(NotAllowed):
        await intake.split_out(folded.id, folded.version, VOLUNTEER)
    split = await intake.split_out(folded.id, folded.version, MODERATOR)
    assert (split.state, (await desk.case(split.id)).campaign_id) == (CaseState.QUEUED, None)
    assert await _one(database, f"SELECT posts FROM campaigns WHERE lead_case_id = '{lead.id}'") == 1
    with pytest.raises(Conflict):
        await intake.split_out(folded.id, folded.version, MODERATOR)
    with pytest.raises(NotAllowed):
        await intake.split_out(lead.id, lead.version, MODERATOR)


async def test_what_is_too_much_is_captured_first_and_waits_visibly(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Work is shed after capture, never before; the log says so, and it goes on when there is room (I16)."""
    intake = Intake(database, max_queued=2)
    found = await _all(intake, _posts(post, OTHERS))
    assert [str(case.state) for case in found] == ["queued", "queued", "captured", "captured", "captured"]
    assert "the queue is full (2 wait)" in (await _history(database, found[2]))[0][2]
    assert await intake.admit_waiting() == 0
    await take(queue)
    assert await intake.admit_waiting() == 1
    (admitted,) = [case for case in found[2:] if (await desk.case(case.id)).state is CaseState.QUEUED]
    assert (await _history(database, admitted))[1] == (CaseState.QUEUED, "desk", "there is room in the queue")
    await take(queue)
    await take(queue)
    assert await intake.admit_waiting() == 2
    assert await _one(database, "SELECT count(*) FROM jobs") == 5
    assert await broken_chains(database) == []


async def test_waiting_cases_are_queued_once_by_two_schedulers(
    place: Path | URL, database: Database, post: FlaggedPost
) -> None:
    """Even with two leaders for a moment, no case gets two jobs and no queue overflows."""
    await _all(Intake(database, max_queued=1), _posts(post, OTHERS))
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    admitted = await asyncio.gather(*(Intake(one, max_queued=4).admit_waiting() for one in (database, other)))
    await other.close()
    assert sum(admitted) == 3
    assert await _one(database, "SELECT count(*) FROM jobs") == 4


async def test_a_community_that_is_flooded_leaves_room_for_the_others(database: Database, post: FlaggedPost) -> None:
    """The limit is each community's own."""
    intake = Intake(database, max_queued=1)
    quiet = replace(post, ref=replace(post.ref, community="quiet", message="1"), text=OTHERS[0])
    found = await _all(intake, [*_posts(post, OTHERS[1:]), quiet])
    assert [str(case.state) for case in found] == ["queued", "captured", "captured", "captured", "queued"]


async def test_what_posts_were_like_is_forgotten_after_the_window(
    intake: Intake, database: Database, clock: FakeClock, post: FlaggedPost
) -> None:
    """No trace of a text outlives its use; campaigns of several posts keep their count."""
    await _all(intake, _posts(post, [RAID, RAID, *OTHERS]))
    assert RAID[:9] not in str(await _one(database, "SELECT min(band) FROM campaign_bands"))
    clock.advance(timedelta(hours=25).total_seconds())
    await intake.admit_waiting()
    assert await _one(database, "SELECT count(*) FROM campaign_bands") == 0
    assert await one_row(database, "SELECT count(*), max(posts) FROM campaigns") == (1, 2)


async def test_an_erased_post_is_forgotten_at_once(intake: Intake, database: Database, post: FlaggedPost) -> None:
    """Nobody's erased text is what others are compared with."""
    first, second = _posts(post, [RAID, RAID])
    lead = await intake.flag(first)
    await database.run("forget", lambda session: campaigns.forget_lead(session, lead.id))
    assert await _one(database, "SELECT count(*) FROM campaign_bands") == 0
    assert (await intake.flag(second)).state is CaseState.QUEUED


async def test_people_in_the_database_are_pseudonyms(intake: Intake, database: Database, post: FlaggedPost) -> None:
    """Neither who wrote, nor who flagged, nor who spoke before them is named; one person has one pseudonym."""
    named = replace(post, author="canary_a", flagged_by="canary_b", thread=(ThreadMessage("canary_a", "Hello."),))
    case = await intake.flag(named)
    assert case.post.author == case.post.thread[0].author != case.post.flagged_by
    assert {case.post.author[:2], case.post.flagged_by[:2]} == {"p-"}
    row = await one_row(database, "SELECT author, flagged_by, thread FROM cases")
    assert "canary" not in str(row)


async def test_posts_that_wait_for_each_others_people_do_not_block_for_ever(
    place: Path | URL, database: Database, post: FlaggedPost
) -> None:
    """Two processes that meet the same people in another order both end."""
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    people = [f"person_{at}" for at in range(8)]
    posts = [
        replace(
            one, author=people[at % 8], flagged_by=people[-1 - at % 8], ref=replace(one.ref, community=f"c{at % 3}")
        )
        for at, one in enumerate(_posts(post, [f"{at} {OTHERS[at % 5]}" for at in range(24)]))
    ]
    intakes = [Intake(database, batch=4), Intake(other, batch=4)]
    async with asyncio.timeout(60):
        await asyncio.gather(*(intakes[at % 2].flag(one) for at, one in enumerate(posts)))
    await other.close()
    assert await _one(database, "SELECT count(*) FROM cases") == 24
