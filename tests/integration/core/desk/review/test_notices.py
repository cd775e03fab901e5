"""Who is called to a case, and who hears that a reply was not sent: once, not at night, and nobody else."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from adapters.sample import SampleCommunity
from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.review.board import ReviewBoard
from core.desk.review.casework import Casework
from core.desk.review.notices import Notices
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card
from core.desk.rules.closures import CloseReason
from core.desk.rules.policy import CallKind
from core.desk.schema import CommunityRow, FlaggerRow, NoticeRow
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from core.desk.store.erasure import delete_case
from core.desk.upkeep.erasure import Erasure
from core.errors import AmbiguousSend, PlatformUnavailable
from core.models import Action, FlaggedPost
from tests.fakes.desk.boards import CHANNEL, all_steps, posts_apart
from tests.fakes.desk.decisions import BOLD, approve, drafted, propose
from tests.fakes.desk.people import COMMUNITY_ID, FLAGGER, MODERATOR, OTHER_MODERATOR, PLATFORM, VOLUNTEER
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.notifier import FakeNotifier
from tests.fakes.ports.surface import FakeSurface

CALLS = {CallKind.THREAT: "911", CallKind.SECOND: "22", CallKind.WAITING: "33"}


async def set_policy(database: Database, **fields: Any) -> None:
    """What the sample community wants, with a review channel."""

    async def work(session: Session) -> None:
        row = await session.get_one(CommunityRow, COMMUNITY_ID)
        row.policy = {"review_channel": CHANNEL, "calls": {str(kind): role for kind, role in CALLS.items()}} | fields

    await database.run("set a policy", work)


@pytest.fixture
def notifier() -> FakeNotifier:
    return FakeNotifier()


@pytest.fixture
async def notices(database: Database, surface: FakeSurface, notifier: FakeNotifier) -> Notices:
    """What calls them, in a community that wants every call."""
    await set_policy(database)
    return _of(database, notifier)


def _of(database: Database, notifier: FakeNotifier, owner: str = "process-1") -> Notices:
    return Notices(database, notifier, PLATFORM, owner, poll_seconds=0.001)


# Calls


@pytest.mark.both_databases
async def test_a_threat_calls_its_role_once_with_a_link_to_the_card(
    notices: Notices, board: ReviewBoard, surface: FakeSurface, notifier: FakeNotifier, desk: Desk,
    queue: DraftQueue, post: FlaggedPost, database: Database,
) -> None:  # fmt: skip
    """Not before the card stands, and not again by another process or when the card changes."""
    case = await drafted(desk, queue, post, recommended_action=Action.REPORT)
    assert await notices.step() == 0
    await all_steps(board)
    assert await notices.step() == 1
    (place,) = surface.cards
    assert notifier.called() == [(CallKind.THREAT, "role 911")]
    (notice, _) = notifier.given[f"{case.id}:threat"]
    assert (notice.card, notice.case_id) == (place, case.id)
    assert post.text not in repr(notice)
    await desk.decisions.hold(case.id, MODERATOR)
    await all_steps(board)
    assert await notices.step() == 0
    stop = asyncio.Event()
    stop.set()
    await notices.run(stop)
    assert await _of(database, notifier, "process-2").step() == 0
    assert notifier.tried == 1


async def test_a_first_approval_calls_for_a_second_person(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, front: Casework, in_review: Case
) -> None:
    await all_steps(board)
    assert await notices.step() == 0
    proposal = await propose(front, in_review, BOLD)
    await front.approve(proposal.id, MODERATOR)
    await all_steps(board)
    assert await notices.step() == 1
    assert notifier.called() == [(CallKind.SECOND, "role 22")]


async def test_a_case_that_waits_too_long_calls_unless_somebody_holds_it(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Two hours, if the community says nothing else; while somebody looks at it, nobody is called."""
    await all_steps(board)
    clock.advance(119 * 60)
    assert await notices.step() == 0
    await desk.decisions.hold(in_review.id, MODERATOR)
    clock.advance(2 * 60)
    assert await notices.step() == 0
    clock.advance(4 * 60)
    assert await notices.step() == 1
    assert notifier.called() == [(CallKind.WAITING, "role 33")]


async def test_in_quiet_hours_calls_wait_and_only_threats_may_be_let_through(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, desk: Desk, queue: DraftQueue, post: FlaggedPost,
    database: Database, clock: FakeClock,
) -> None:  # fmt: skip
    """When the hours are over, what still needs somebody calls."""
    moment = clock()
    quiet = f"{moment:%H:%M}-{moment.replace(hour=(moment.hour + 5) % 24):%H:%M}"
    await set_policy(database, quiet_hours=quiet)
    await drafted(desk, queue, post, recommended_action=Action.REPORT)
    await all_steps(board)
    clock.advance(3 * 3600)
    assert await notices.step() == 0
    await set_policy(database, quiet_hours=quiet, threats_in_quiet_hours=True)
    assert await notices.step() == 1
    clock.advance(2 * 3600)
    assert await notices.step() == 1
    assert notifier.called() == [(CallKind.THREAT, "role 911"), (CallKind.WAITING, "role 33")]


async def test_nobody_is_called_where_no_role_is_set_or_the_case_is_closed(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, desk: Desk, queue: DraftQueue, post: FlaggedPost,
    database: Database, clock: FakeClock,
) -> None:  # fmt: skip
    case = await drafted(desk, queue, post, recommended_action=Action.REPORT)
    await all_steps(board)
    await set_policy(database, calls={})
    clock.advance(5 * 3600)
    assert await notices.step() == 0
    await set_policy(database)
    await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.NOT_HATEFUL)
    assert await notices.step() == 0
    assert notifier.tried == 0


@pytest.mark.both_databases
async def test_a_refused_call_is_made_later_and_a_doubtful_one_never_twice(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, desk: Desk, queue: DraftQueue, post: FlaggedPost,
    clock: FakeClock,
) -> None:  # fmt: skip
    """A refusal says that nobody was called; silence does not, so the same key is tried, and only for a minute."""
    await drafted(desk, queue, post, recommended_action=Action.REPORT)
    await all_steps(board)
    notifier.faults = [PlatformUnavailable("closed", remedy="open it")]
    assert await notices.step() == 0
    assert await notices.step() == 0, "it rests"
    clock.advance(301)
    notifier.after = [AmbiguousSend("silence", remedy="look")]
    assert await notices.step() == 0
    clock.advance(30)
    assert await notices.step() == 1
    assert (notifier.tried, len(notifier.given)) == (3, 1)


async def test_a_doubtful_call_is_given_up_after_a_minute(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, desk: Desk, queue: DraftQueue, post: FlaggedPost,
    clock: FakeClock,
) -> None:  # fmt: skip
    """The platform may have forgotten the key: rather not at all than twice."""
    await drafted(desk, queue, post, recommended_action=Action.REPORT)
    await all_steps(board)
    notifier.faults = [TimeoutError()]
    assert await notices.step() == 0
    clock.advance(61)
    assert [await notices.step() for _ in range(2)] == [0, 0]
    assert notifier.tried == 1


async def test_many_cases_are_called_to_although_only_some_are_read_at_once(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """A look reads twenty cards at most; the next one reads the others."""
    for single in posts_apart(post, 23):
        await drafted(desk, queue, single, recommended_action=Action.REPORT)
    await all_steps(board)
    assert [await notices.step() for _ in range(3)] == [20, 3, 0]


# Replies that were not sent


@pytest.mark.both_databases
async def test_an_approver_hears_once_that_the_reply_was_not_sent_and_why(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, desk: Desk, in_review: Case, clock: FakeClock,
    database: Database, platform: SampleCommunity, outbox: Outbox,
) -> None:  # fmt: skip
    """The post was deleted in the last moment, say."""
    await all_steps(board)
    await approve(desk, in_review)
    assert await notices.step() == 0
    platform.delete(in_review.post.ref.message)
    clock.advance(16)
    await outbox.send_due()
    assert await notices.step() == 1
    assert [await notices.step() for _ in range(2)] == [0, 0]
    ((notice, whom),) = notifier.given.values()
    assert (notice.kind, whom) == (None, MODERATOR.user)
    assert "gone" in notice.reason


async def test_who_takes_an_approval_back_is_not_told_but_the_other_approver_is(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, front: Casework, in_review: Case
) -> None:
    """Two approved; one of them has second thoughts."""
    await all_steps(board)
    first = await propose(front, in_review, BOLD)
    await front.approve(first.id, MODERATOR)
    second = await propose(front, in_review, BOLD, OTHER_MODERATOR)
    approved = await front.approve(second.id, OTHER_MODERATOR)
    await front.undo(in_review.id, approved.card.version, OTHER_MODERATOR)
    await notices.step()
    assert (None, MODERATOR.user) in notifier.called()
    assert (None, OTHER_MODERATOR.user) not in notifier.called()
    (told,) = [notice for notice, _ in notifier.given.values() if notice.kind is None]
    assert told.reason == "another moderator took the approval back"


async def test_a_posted_reply_tells_nobody(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, desk: Desk, in_review: Case, clock: FakeClock,
    outbox: Outbox,
) -> None:  # fmt: skip
    await all_steps(board)
    await approve(desk, in_review)
    clock.advance(16)
    await outbox.send_due()
    assert await notices.step() == 0
    assert notifier.tried == 0


async def test_what_is_a_day_old_is_not_told_any_more(
    notices: Notices, board: ReviewBoard, notifier: FakeNotifier, desk: Desk, in_review: Case, clock: FakeClock,
    platform: SampleCommunity, outbox: Outbox, database: Database,
) -> None:  # fmt: skip
    """As after an upgrade, or a long time without a connection."""
    await set_policy(database, calls={})
    await all_steps(board)
    await approve(desk, in_review)
    platform.delete(in_review.post.ref.message)
    clock.advance(16)
    await outbox.send_due()
    clock.advance(86401)
    assert await notices.step() == 0
    assert notifier.tried == 0


@pytest.mark.both_databases
async def test_a_deleted_case_takes_its_notices_along(
    notices: Notices, board: ReviewBoard, desk: Desk, queue: DraftQueue, post: FlaggedPost, database: Database
) -> None:
    """The retention deletes every row of a case."""
    case = await drafted(desk, queue, post, recommended_action=Action.REPORT)
    await all_steps(board)
    await notices.step()
    await database.run("delete", lambda session: delete_case(session, case.id))
    assert await database.run("look", lambda session: session.scalar(select(NoticeRow.kind))) is None


# People who flag


async def _flagged(front: Casework, database: Database, post: FlaggedPost, *, tells: bool = True) -> Card:
    await set_policy(database, tells_flaggers=tells)
    return await front.intake.take_flag(post)


@pytest.mark.both_databases
async def test_who_flagged_hears_once_what_became_of_it(
    notices: Notices, notifier: FakeNotifier, desk: Desk, front: Casework, post: FlaggedPost, database: Database
) -> None:
    """Everybody who flagged it; afterwards their ids are kept no longer."""
    card = await _flagged(front, database, post)
    await front.intake.take_flag(replace(post, flagged_by=VOLUNTEER.user))
    await front.intake.take_flag(replace(post, flagged_by=VOLUNTEER.user))
    assert await notices.step() == 0
    await desk.decisions.close(card.case_id, card.version, MODERATOR, CloseReason.MISTAKE)
    assert await notices.step() == 2
    assert [await notices.step() for _ in range(2)] == [0, 0]
    assert {whom for _, whom in notifier.given.values()} == {post.flagged_by, VOLUNTEER.user}
    assert {notice.outcome for notice, _ in notifier.given.values()} == {CaseState.WITHDRAWN}
    assert {notice.card for notice, _ in notifier.given.values()} == {post.ref}
    assert await database.run("look", lambda session: session.scalar(select(FlaggerRow.user))) is None


@pytest.mark.parametrize(("by", "tells"), [(FLAGGER.user, False), ("", True), (MODERATOR.user, True)])
async def test_who_flagged_is_not_told_where_nobody_wants_it(
    notices: Notices,
    notifier: FakeNotifier,
    desk: Desk,
    front: Casework,
    post: FlaggedPost,
    database: Database,
    by: str,
    tells: bool,
) -> None:
    """Off at first, and not even their id is kept; whom the platform hides; and who closed the case themselves."""
    card = await _flagged(front, database, replace(post, flagged_by=by), tells=tells)
    assert tells or await database.run("look", lambda session: session.scalar(select(FlaggerRow.user))) is None
    await desk.decisions.close(card.case_id, card.version, MODERATOR, CloseReason.MISTAKE)
    assert await notices.step() == 0
    assert notifier.tried == 0


async def test_an_erased_flagger_is_not_told(
    notices: Notices, notifier: FakeNotifier, desk: Desk, front: Casework, post: FlaggedPost, database: Database
) -> None:
    """Their id goes with them."""
    card = await _flagged(front, database, post)
    await Erasure(database).erase(PLATFORM, post.flagged_by)
    assert await database.run("look", lambda session: session.scalar(select(FlaggerRow.user))) is None
    await desk.decisions.close(card.case_id, card.version, MODERATOR, CloseReason.MISTAKE)
    assert await notices.step() == 0
