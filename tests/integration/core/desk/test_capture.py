"""What comes in: each post once, many to a commit, without names, and nobody's lost for a neighbour's fault."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import URL, text

from core.desk.database.connection import Database, Session
from core.desk.intake import Intake
from core.desk.rules.approval import CaseState
from core.desk.runtime.faults import installed
from core.desk.store.captures import NewCase, capture_all
from core.desk.store.cases import Case
from core.errors import BadInput, NotAllowed, StoreUnavailable
from core.models import FlaggedPost, ThreadMessage
from tests.fakes.desk.audit_log import broken_chains
from tests.fakes.desk.decisions import one_row
from tests.fakes.desk.people import SECRET
from tests.fakes.desk.raids import OTHERS, RAID, flag_all, posts_of, value_of
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS


@pytest.fixture
def intake(database: Database) -> Intake:
    return Intake(database)


async def test_a_post_flagged_many_times_at_once_by_two_processes_has_one_case(
    place: Path | URL, database: Database, post: FlaggedPost
) -> None:
    """One case for each post (I4), in whatever order and however often it comes."""
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    posts = posts_of(post, [RAID, *OTHERS])
    intakes = [Intake(database), Intake(other, batch=3)]
    found = await asyncio.gather(*(intakes[turn % 2].flag(one) for turn in range(6) for one in posts))
    await other.close()
    assert len({case.id for case in found}) == len(posts) == await value_of(database, "SELECT count(*) FROM cases")
    assert await value_of(database, "SELECT count(*) FROM audit WHERE to_state = 'captured'") == len(posts)
    assert await broken_chains(database) == []


async def test_the_same_message_of_another_channel_or_community_is_another_post(
    intake: Intake, database: Database, post: FlaggedPost
) -> None:
    """Some platforms count messages in each chat anew; a new community posts nothing, and says who drafted."""
    refs = [post.ref, replace(post.ref, channel="elsewhere"), replace(post.ref, community="another")]
    found = await flag_all(intake, [replace(post, ref=ref) for ref in refs])
    assert len({case.id for case in found}) == 3
    assert {case.community_id for case in found} == {"sample/brenmoor", "sample/another"}
    row = await one_row(database, "SELECT is_posting, discloses FROM communities WHERE name = 'another'")
    assert [bool(value) for value in row] == [False, True]


async def test_callers_that_wait_together_share_a_commit(intake: Intake, post: FlaggedPost) -> None:
    """A raid costs a few commits, each on the disk before anybody is answered."""
    commits = 0

    async def count(point: str) -> None:
        nonlocal commits
        commits += point == "flag: after the commit"

    with installed(count):
        await flag_all(intake, posts_of(post, [f"{RAID} {at}" for at in range(120)]))
    assert commits <= 5


async def test_nobody_is_answered_before_the_commit(intake: Intake, post: FlaggedPost) -> None:
    """A person who is told that a post was captured finds it after a power cut (I3)."""
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
    posts, refused = posts_of(post, OTHERS), OTHERS[2]

    async def failing(session: Session, new: Sequence[NewCase]) -> list[Case]:
        if any(case.post.text == refused for case in new):
            await session.execute(text("INSERT INTO turns (community_id) VALUES ('no time')"))
        return await capture_all(session, new)

    monkeypatch.setattr("core.desk.intake.capture_all", failing)
    answers = await asyncio.gather(*(intake.flag(one) for one in posts), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Case, Case, NotAllowed, Case, Case]
    assert await value_of(database, "SELECT count(*) FROM cases") == 4


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
    tasks = [asyncio.create_task(intake.flag(one)) for one in posts_of(post, OTHERS)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers[1], asyncio.CancelledError)
    assert [type(answer) for at, answer in enumerate(answers) if at != 1] == [Case] * 4
    assert (await intake.flag(posts_of(post, OTHERS)[1])).state is CaseState.QUEUED
    assert await value_of(database, "SELECT count(*) FROM cases") == 5


async def test_a_database_that_fails_answers_everybody_and_is_asked_again(
    intake: Intake, database: Database, post: FlaggedPost
) -> None:
    """Nobody waits for ever, nobody is told of a case that is not there, and the next flag works."""

    async def fail(point: str) -> None:
        if point == "flag: before the commit":
            raise OSError("the disk went away")

    posts = posts_of(post, OTHERS)
    with installed(fail):
        answers = await asyncio.gather(*(intake.flag(one) for one in posts), return_exceptions=True)
    assert {type(answer) for answer in answers} == {StoreUnavailable}
    assert await value_of(database, "SELECT count(*) FROM cases") == 0
    assert {case.state for case in await flag_all(intake, posts)} == {CaseState.QUEUED}


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
        for at, one in enumerate(posts_of(post, [f"{at} {OTHERS[at % 5]}" for at in range(24)]))
    ]
    intakes = [Intake(database, batch=4), Intake(other, batch=4)]
    async with asyncio.timeout(GUARD_SECONDS):
        await asyncio.gather(*(intakes[at % 2].flag(one) for at, one in enumerate(posts)))
    await other.close()
    assert await value_of(database, "SELECT count(*) FROM cases") == 24
