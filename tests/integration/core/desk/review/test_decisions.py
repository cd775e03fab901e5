"""What people decide about a case: nothing is answered without a person's decision."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.review.approvals import CompleteApproval
from core.desk.rules.approval import CaseState, text_hash
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person
from core.desk.store.cases import Case
from core.errors import BadInput, Conflict, NotAllowed
from core.models import FlaggedPost
from tests.fakes.desk.canary import move
from tests.fakes.desk.decisions import approve, execute, one_row, shown, take
from tests.fakes.desk.people import COMMUNITY_ID, MANAGER, MODERATOR, OTHER_MODERATOR, PLATFORM, pseudonym_of
from tests.fakes.engine.suggestions import DRAFT_TEXTS, suggestion_for

Decision = Callable[[Desk, Case], Awaitable[object]]


async def test_a_case_goes_from_flag_to_approval(
    desk: Desk, queue: DraftQueue, post: FlaggedPost, database: Database
) -> None:
    """The way of every reply, and each step of it in the audit log with its actor."""
    case = await desk.intake.flag(post)
    assert (case.state, case.version, case.post.text) == (CaseState.QUEUED, 2, post.text)
    taken = await take(queue)
    reviewed = await queue.store(taken, suggestion_for(taken.case.post))
    assert reviewed.state is CaseState.IN_REVIEW
    stored = await desk.queries.suggestion(case.id)
    assert stored is not None
    assert stored.suggestion == suggestion_for(taken.case.post)
    seen = await shown(desk, reviewed, reply=None, rank=1)
    reply = await approve(desk, reviewed, reply=None, rank=1)
    assert (reply.text, reply.in_reply_to) == (seen.text, post.ref)
    who, flagger = await pseudonym_of(database, MODERATOR), await pseudonym_of(database, Person(PLATFORM, "mill_pond"))
    entries = await desk.queries.history(case.id)
    assert [(entry.from_state, entry.to_state, entry.actor) for entry in entries] == [
        (None, "captured", flagger),
        ("captured", "queued", "desk"),
        ("queued", "drafting", "worker"),
        ("drafting", "in_review", "worker"),
        ("in_review", "approved", who),
    ]
    assert [entry.version for entry in entries] == [1, 2, 3, 4, 5]
    kept = "edited, draft_rank, sha256, target_sha256, moderator, seconded_by, footer, policy_version"
    row = await one_row(database, f"SELECT {kept} FROM approvals")
    version = await one_row(database, f"SELECT version FROM communities WHERE id = '{COMMUNITY_ID}'")
    footer = seen.text.removeprefix(DRAFT_TEXTS[0])
    expected = (False, 1, seen.sha256, text_hash(post.text), who, None, footer, *version)
    assert (bool(row[0]), *row[1:]) == expected


async def test_two_moderators_never_both_win(desk: Desk, in_review: Case, database: Database) -> None:
    """Of two decisions on the same version exactly one holds; the other is told who was faster (invariant I10)."""
    results = await asyncio.gather(
        approve(desk, in_review, MODERATOR),
        approve(desk, in_review, OTHER_MODERATOR),
        desk.decisions.close(in_review.id, in_review.version, MANAGER, CloseReason.OFF_TONE),
        return_exceptions=True,
    )
    conflicts = [result for result in results if isinstance(result, Conflict)]
    assert len(conflicts) == 2
    winner = (await desk.queries.history(in_review.id))[-1]
    names = {await pseudonym_of(database, person): person.name for person in (MODERATOR, OTHER_MODERATOR, MANAGER)}
    assert winner.to_state is not None
    assert all(names[winner.actor] in str(lost) and winner.to_state in str(lost) for lost in conflicts)
    approvals = await one_row(database, "SELECT count(*) FROM approvals")
    assert approvals == (1 if winner.to_state is CaseState.APPROVED else 0,)


@pytest.mark.both_databases
async def test_of_a_hundred_approvals_at_once_one_wins(desk: Desk, in_review: Case, database: Database) -> None:
    """The others are told who was faster, and the one who won that they did, whichever database it is (I10)."""
    people = [MODERATOR, OTHER_MODERATOR, MANAGER]
    texts = [await shown(desk, in_review, person) for person in people]
    results = await asyncio.gather(
        *(desk.approvals.approve(texts[turn % 3].id, people[turn % 3]) for turn in range(100)), return_exceptions=True
    )
    winners = [result.reply for result in results if isinstance(result, CompleteApproval)]
    lost = [result for result in results if isinstance(result, Conflict)]
    assert (len(winners), len(lost)) == (1, 99)
    names = {await pseudonym_of(database, person): person.name for person in people}
    own = [conflict for conflict in lost if str(conflict).startswith("You decided this already (approved).")]
    others = [conflict for conflict in lost if names[winners[0].moderator] in str(conflict)]
    pressed = [people[turn % 3].name for turn in range(100)].count(names[winners[0].moderator])
    assert (len(own), len(others)) == (pressed - 1, 100 - pressed)
    assert await one_row(database, "SELECT (SELECT count(*) FROM approvals), (SELECT count(*) FROM outbox)") == (1, 1)


@pytest.mark.parametrize(
    ("reason", "state", "said"),
    [
        (CloseReason.REPEATS_SLUR, CaseState.DECLINED, "declined: repeats the slur"),
        (CloseReason.SILENCE, CaseState.NO_REPLY, "left without a reply: silence is better here"),
        (CloseReason.MISTAKE, CaseState.WITHDRAWN, "withdrawn: flagged by mistake"),
    ],
)
async def test_a_closed_case_stays_closed(
    desk: Desk, in_review: Case, reason: CloseReason, state: CaseState, said: str
) -> None:
    """After a decision, which needs its reason, no text of it can be approved (invariant I11)."""
    with pytest.raises(BadInput):
        await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.OTHER, " ")
    assert await desk.queries.case(in_review.id) == in_review
    closed = await desk.decisions.close(in_review.id, in_review.version, MODERATOR, reason)
    assert closed.state is state
    with pytest.raises(NotAllowed):
        await approve(desk, closed)
    assert [case.id for case in await desk.queries.cases(state)] == [closed.id]
    assert (await desk.queries.history(closed.id))[-1].reason == said


async def test_nothing_is_decided_while_nobody_knows_if_the_last_reply_stands(
    desk: Desk, in_review: Case, database: Database
) -> None:
    """A second approval could post it twice (invariant I2); once it is settled, the case goes on."""
    await approve(desk, in_review)
    await move(database, in_review, CaseState.SENDING, CaseState.UNKNOWN, CaseState.NEEDS_PERSON)
    version = in_review.version + 4
    await execute(database, "UPDATE outbox SET state = 'unknown'")
    for decision in (
        desk.decisions.reopen(in_review.id, version, MODERATOR),
        desk.decisions.close(in_review.id, version, MODERATOR, CloseReason.UNSAFE),
        desk.decisions.close(in_review.id, version, MODERATOR, CloseReason.MISTAKE, "flagged by mistake"),
    ):
        with pytest.raises(NotAllowed, match="nobody knows whether it arrived") as caught:
            await decision
        assert "Look on the platform" in caught.value.remedy
    await execute(database, "UPDATE outbox SET state = 'failed'")
    await approve(desk, await desk.decisions.reopen(in_review.id, version, MODERATOR))


async def test_a_case_that_is_not_there_is_said_so(desk: Desk) -> None:
    """A mistyped id is a clear answer, never an empty one."""
    for call in (desk.queries.case, desk.queries.history, desk.queries.suggestion):
        with pytest.raises(BadInput, match="no case nothing"):
            await call("nothing")
    for decide in (desk.decisions.hold, desk.decisions.release):
        with pytest.raises(BadInput, match="no case nothing"):
            await decide("nothing", MODERATOR)
