"""Closing a case: what can be undone, by whom and how long, and what is remembered of a post that is not hateful."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.compose.desk import Desk, build_desk
from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.intake import Intake
from core.desk.invariants.checks import check
from core.desk.review.casework import note_original
from core.desk.rules.approval import CaseState
from core.desk.rules.careful_watch import FindLabel
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person
from core.desk.store import people
from core.desk.store.cases import Case
from core.desk.store.outbox import newest
from core.desk.upkeep.erasure import Erasure
from core.desk.upkeep.retention import FoldedCases
from core.errors import NotAllowed
from core.models import FlaggedPost, PostRef, Priority
from tests.fakes.desk.chores import DAY, NOW
from tests.fakes.desk.decisions import BOLD, approve, approve_first, drafted, one_row, take
from tests.fakes.desk.people import COMMUNITY, COMMUNITY_ID, MANAGER, MODERATOR, OTHER_MODERATOR, PLATFORM
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock

RAID = "They take our houses and our jobs, and nobody in this town dares to say it aloud any more."
EDITED = "Sorry, that was wrong of me. Let us talk about the harvest festival instead, it is on Sunday."


@pytest.fixture
def intake(database: Database) -> Intake:
    """An intake that folds near-identical posts of a day."""
    return Intake(database, campaign_hours=24)


@pytest.fixture
async def found(intake: Intake, queue: DraftQueue, desk: Desk, post: FlaggedPost) -> Case:
    """A post that the filter found; it waits for a draft."""
    return await intake.flag(replace(post, text=RAID, score=0.9, priority=Priority.DETECTED))


def again(post: FlaggedPost, message: str, text: str = f"{RAID} !", **changes: object) -> FlaggedPost:
    """Another message, which says nearly the same if nothing else is given."""
    ref = PostRef(post.ref.platform, post.ref.community, post.ref.channel, message)
    return replace(post, ref=ref, text=text, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("reason", [CloseReason.OFF_TONE, CloseReason.SILENCE, CloseReason.MISTAKE])
async def test_every_closing_can_be_undone_by_its_author_within_the_undo_window(
    desk: Desk, in_review: Case, database: Database, clock: FakeClock, reason: CloseReason
) -> None:
    """The case is back with its drafts, and both decisions stand in its history."""
    closed = await desk.decisions.close(in_review.id, in_review.version, MODERATOR, reason)
    with pytest.raises(NotAllowed, match="Only the person who closed"):
        await desk.decisions.undo(closed.id, closed.version, OTHER_MODERATOR)
    clock.advance(15)
    undone = await desk.decisions.undo(closed.id, closed.version, MODERATOR)
    assert undone.state is CaseState.IN_REVIEW
    moves = [(line.to_state, line.reason) for line in await desk.queries.history(closed.id)]
    assert moves[-2][0] is closed.state
    assert moves[-1] == (CaseState.IN_REVIEW, "decision undone")
    await approve(desk, undone)
    assert await check(database, looks_at_schema=False) == {}


async def test_after_the_window_a_decision_stands(desk: Desk, in_review: Case, clock: FakeClock) -> None:
    """Others have seen it by then."""
    closed = await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.PREACHY)
    clock.advance(16)
    with pytest.raises(NotAllowed, match="for 15 seconds only"):
        await desk.decisions.undo(closed.id, closed.version, MODERATOR)
    assert (await desk.queries.case(closed.id)).state is CaseState.DECLINED


async def test_an_approval_is_not_given_again_by_undoing_its_withdrawal(
    desk: Desk, in_review: Case, database: Database
) -> None:
    """Its reply was cancelled, and the audit log says why; it is approved anew or not at all (invariant I8)."""
    await approve(desk, in_review)
    why = "the person asked us to"
    closed = await desk.decisions.close(in_review.id, in_review.version + 1, OTHER_MODERATOR, CloseReason.MISTAKE, why)
    state, error = await one_row(database, "SELECT state, error FROM outbox")
    assert (state, "withdrawn: {why}" in str(error)) == ("cancelled", True)
    assert (await desk.queries.history(closed.id))[-1].note == why
    assert (await desk.decisions.undo(closed.id, closed.version, OTHER_MODERATOR)).state is CaseState.IN_REVIEW
    assert await one_row(database, "SELECT state FROM outbox") == ("cancelled",)
    assert await check(database, looks_at_schema=False) == {}


async def test_a_false_alarm_is_closed_before_it_costs_a_draft(
    desk: Desk, queue: DraftQueue, found: Case, database: Database
) -> None:
    """The job goes with it; undoing puts the case into the queue again."""
    closed = await desk.decisions.close(found.id, found.version, MODERATOR, CloseReason.NOT_HATEFUL)
    assert closed.state is CaseState.NO_REPLY
    assert await queue.take() is None
    undone = await desk.decisions.undo(closed.id, closed.version, MODERATOR)
    assert undone.state is CaseState.QUEUED
    assert (await take(queue)).case.id == found.id
    assert await check(database, looks_at_schema=False) == {}


async def test_the_label_of_a_find_is_taken_back_with_the_decision(desk: Desk, database: Database, found: Case) -> None:
    """The filter learns from what stands."""
    governance = Governance(database, LiveRoles(database, {}))
    closed = await desk.decisions.close(found.id, found.version, MODERATOR, CloseReason.NOT_HATEFUL)
    assert await governance.find_labels(PLATFORM, COMMUNITY) == (FindLabel(0.9, False),)
    await desk.decisions.undo(closed.id, closed.version, MODERATOR)
    assert await governance.find_labels(PLATFORM, COMMUNITY) == ()


async def test_what_is_not_hateful_is_remembered_by_its_text(
    desk: Desk, intake: Intake, found: Case, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """Days later, too: the same again only counts. A person who asks for a draft, and another text, get one."""
    await desk.decisions.close(found.id, found.version, MODERATOR, CloseReason.NOT_HATEFUL)
    clock.advance(3 * DAY)
    await intake.admit_waiting()
    same = await intake.flag(again(post, "901"))
    assert same.state is CaseState.FOLDED
    await FoldedCases(database, undo_seconds=15).do(NOW)
    assert (await desk.queries.case(same.id)).state is CaseState.NO_REPLY
    assert await one_row(database, f"SELECT posts FROM campaigns WHERE lead_case_id = '{found.id}'") == (2,)
    asked = await intake.flag(again(post, "902", priority=Priority.ASKED, flagged_by=MODERATOR.user))
    other = await intake.flag(again(post, "903", EDITED))
    assert (asked.state, other.state) == (CaseState.QUEUED, CaseState.QUEUED)
    assert await check(database, looks_at_schema=False) == {}


async def test_what_is_undone_or_forgotten_is_remembered_no_longer(
    desk: Desk, intake: Intake, found: Case, post: FlaggedPost, clock: FakeClock
) -> None:
    """A campaign is open for a day then, like any other; and a label counts for ninety days at most."""
    closed = await desk.decisions.close(found.id, found.version, MODERATOR, CloseReason.NOT_HATEFUL)
    undone = await desk.decisions.undo(closed.id, closed.version, MODERATOR)
    clock.advance(2 * DAY)
    assert (await intake.flag(again(post, "901"))).state is CaseState.QUEUED
    await desk.decisions.close(undone.id, undone.version, MODERATOR, CloseReason.NOT_HATEFUL)
    clock.advance(92 * DAY)
    await intake.admit_waiting()
    assert (await intake.flag(again(post, "902"))).state is CaseState.QUEUED


async def test_folded_posts_wait_until_the_decision_can_no_longer_be_undone(
    desk: Desk, intake: Intake, found: Case, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """Undoing one decision must not leave a hundred others behind."""
    same = await intake.flag(again(post, "901"))
    closed = await desk.decisions.close(found.id, found.version, MODERATOR, CloseReason.NOT_HATEFUL)
    chore = FoldedCases(database, undo_seconds=15)
    clock.advance(14)
    await chore.do(NOW)
    assert (await desk.queries.case(same.id)).state is CaseState.FOLDED
    await desk.decisions.undo(closed.id, closed.version, MODERATOR)
    clock.advance(60)
    await chore.do(NOW)
    assert (await desk.queries.case(same.id)).state is CaseState.FOLDED


@pytest.mark.parametrize("is_told_by_platform", [True, False])
async def test_an_edit_opens_the_case_of_a_harmless_post_again(
    desk: Desk,
    intake: Intake,
    queue: DraftQueue,
    found: Case,
    post: FlaggedPost,
    database: Database,
    is_told_by_platform: bool,
) -> None:
    """With its new words: a harmless post must not be a cover for what is written into it afterwards."""
    ref = found.post.ref

    async def tell(text: str) -> Case:
        if not is_told_by_platform:
            return await intake.flag(replace(post, text=text))
        await database.run("tell", lambda session: note_original(session, ref, text))
        return await desk.queries.case(found.id)

    await desk.decisions.close(found.id, found.version, MODERATOR, CloseReason.NOT_HATEFUL)
    assert (await tell(RAID)).state is CaseState.NO_REPLY
    opened = await tell(EDITED)
    assert (opened.state, opened.post.text) == (CaseState.QUEUED, EDITED)
    assert (await take(queue)).case.post.text == EDITED
    assert "edited after a moderator said" in (await desk.queries.history(found.id))[-2].reason
    assert await one_row(database, "SELECT original, is_hateful FROM cases") == ("unchanged", None)
    assert await check(database, looks_at_schema=False) == {}


@pytest.mark.both_databases
async def test_an_edit_that_nobody_may_read_asks_a_person(
    desk: Desk, intake: Intake, post: FlaggedPost, database: Database
) -> None:
    """Where the platform hides the words, that they changed is known by the revision."""
    case = await intake.flag(replace(post, text=RAID, revision="1"))
    await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.NOT_HATEFUL)
    for revision, state in (("1", CaseState.NO_REPLY), ("2", CaseState.NEEDS_PERSON)):
        await database.run(
            "tell",
            lambda session, now=revision: note_original(session, case.post.ref, "", now),  # type: ignore[misc]
        )
        assert (await desk.queries.case(case.id)).state is state


@pytest.mark.both_databases
async def test_a_decision_stands_beside_what_the_post_said(
    desk: Desk, intake: Intake, queue: DraftQueue, post: FlaggedPost, database: Database
) -> None:
    """Where that is a sentence of our cards without a slur; once its words are erased, nothing."""
    governance = Governance(database, LiveRoles(database, {}))
    for number, (gist, kinds) in enumerate([("They are lazy.", ("migrants/jobs",)), ("A model's words.", ())]):
        await intake.flag(replace(post, ref=replace(post.ref, message=f"7{number}"), text=f"{number} {post.text}"))
        taken = await take(queue)
        made = suggestion_for(taken.case.post)
        reading = replace(made.reading, implied_meaning=gist, stereotypes=kinds)
        case = await queue.store(taken, replace(made, reading=reading))
        await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.PREACHY)
        (found,) = [one for one in await governance.lately(PLATFORM, COMMUNITY, MODERATOR) if one.case_id == case.id]
        assert (found.gist, found.group) == (gist if kinds else "", made.reading.target_group)
    await Erasure(database).erase(PLATFORM, post.author)
    assert {one.gist for one in await governance.lately(PLATFORM, COMMUNITY, MODERATOR)} == {""}


@pytest.mark.both_databases
async def test_what_was_decided_lately_is_listed_newest_first(
    desk: Desk, in_review: Case, database: Database, clock: FakeClock
) -> None:
    """For those who may read cases, with the names that the community knows; an undone decision is no secret."""
    governance = Governance(database, LiveRoles(database, {}))
    closed = await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.PREACHY)
    clock.advance(5)
    undone = await desk.decisions.undo(closed.id, closed.version, MODERATOR)
    clock.advance(5)
    await approve(desk, undone, OTHER_MODERATOR)
    found = await governance.lately(PLATFORM, COMMUNITY, MODERATOR)
    assert [(one.by, one.state, one.reason) for one in found] == [
        (OTHER_MODERATOR.name, CaseState.APPROVED, "approved"),
        (MODERATOR.name, CaseState.IN_REVIEW, "decision undone"),
        (MODERATOR.name, CaseState.DECLINED, "declined: preachy"),
    ]
    assert {(one.case_id, one.post) for one in found} == {(in_review.id, in_review.post.ref)}
    with pytest.raises(NotAllowed, match="can read cases here"):
        await governance.lately(PLATFORM, COMMUNITY, Person(PLATFORM, "stranger"))


async def test_two_persons_are_listed_each_by_name(
    desk: Desk, in_review: Case, database: Database, clock: FakeClock
) -> None:
    """Who approved first, too; who loses a role stays readable to those who share the work, until they are erased."""
    governance = Governance(database, LiveRoles(database, {}))
    for decide, person in ((approve_first, MODERATOR), (approve, OTHER_MODERATOR)):
        clock.advance(5)
        await decide(desk, in_review, person, BOLD)
    wanted = [
        (OTHER_MODERATOR.name, f"approved, as the second person after {MODERATOR.name}"),
        (MODERATOR.name, "approved first; another person must approve the same text"),
    ]
    assert [(one.by, one.reason) for one in await governance.lately(PLATFORM, COMMUNITY, MANAGER)] == wanted
    await database.run("grant", lambda session: people.grant(session, COMMUNITY_ID, MODERATOR, [], by="test"))
    assert [(one.by, one.reason) for one in await governance.lately(PLATFORM, COMMUNITY, MANAGER)] == wanted
    await Erasure(database).erase(PLATFORM, MODERATOR.user)
    (second,) = await governance.lately(PLATFORM, COMMUNITY, MANAGER)
    assert MODERATOR.name not in second.reason
    assert await one_row(database, "SELECT count(*) FROM known_names WHERE name = 'moderator_one'") == (0,)


async def test_an_undo_counts_from_when_it_was_written(
    database: Database, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Where a platform is asked for what people wrote, the reply waits so much longer, and so does a closing."""
    slow = build_desk(database, undo_seconds=15, hearing_seconds={PLATFORM: 20})
    case = await drafted(slow, queue, post)
    reply = await approve(slow, case)
    due = await database.run("look", lambda session: newest(session, case.id))
    assert due is not None
    assert due.not_before == reply.approved_at + timedelta(seconds=35)
