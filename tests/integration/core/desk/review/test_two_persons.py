"""Threats, people who are named and facts that nothing carries are approved by two persons, or by nobody."""

from dataclasses import replace

import pytest

from bot.compose.desk import Desk
from core.desk.communities.accounts import WebAccounts
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.review.approvals import AwaitsSecond, CompleteApproval
from core.desk.rules.approval import ApprovedReply, CaseState
from core.desk.rules.roles import Person, Role
from core.desk.store.cases import Case
from core.errors import Conflict, NotAllowed
from core.models import Action, Draft, FlaggedPost, Intent, Kind, Origin, Scores
from tests.fakes.desk.decisions import BOLD, OWN_TEXT, drafted, one_row, shown, take
from tests.fakes.desk.people import (
    AUDITOR,
    COMMUNITY_ID,
    KEEPER,
    MANAGER,
    MODERATOR,
    OTHER_MODERATOR,
    pseudonym_of,
)
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock


async def approved(desk: Desk, case: Case, by: Person, reply: str = BOLD) -> ApprovedReply | AwaitsSecond:
    outcome = await desk.approvals.approve((await shown(desk, case, by, reply)).id, by)
    return outcome.reply if isinstance(outcome, CompleteApproval) else outcome


async def test_a_figure_that_no_evidence_holds_needs_a_second_person(
    desk: Desk, in_review: Case, database: Database
) -> None:
    """The moderator is told before and after; the second one approves the same bytes; both are on record."""
    text = await shown(desk, in_review, reply=BOLD)
    told = text.why_two
    assert told == text.warnings == ("No evidence holds the figure “93%”.",)
    assert (await shown(desk, in_review)).why_two == ()
    first = await approved(desk, in_review, MODERATOR)
    assert isinstance(first, AwaitsSecond)
    assert first.because == told
    assert await desk.queries.case(in_review.id) == in_review
    assert await one_row(database, "SELECT count(*) FROM outbox") == (0,)
    reply = await approved(desk, in_review, OTHER_MODERATOR)
    assert isinstance(reply, ApprovedReply)
    one, two = await pseudonym_of(database, MODERATOR), await pseudonym_of(database, OTHER_MODERATOR)
    assert await one_row(database, "SELECT moderator, seconded_by, sha256 FROM approvals") == (one, two, first.sha256)
    entry = (await desk.queries.history(in_review.id))[-1]
    assert (entry.to_state, entry.actor) == (CaseState.APPROVED, two)
    assert one in entry.reason


async def test_nobody_is_two_persons(desk: Desk, in_review: Case, database: Database) -> None:
    """The same person approving again is still one, whatever was shown to them before."""
    for again in [await shown(desk, in_review, reply=BOLD) for _ in range(3)]:
        assert isinstance(await desk.approvals.approve(again.id, MODERATOR), AwaitsSecond)
    with pytest.raises(Conflict, match="You approved this text already"):
        await shown(desk, in_review, reply=BOLD)
    assert await one_row(database, "SELECT count(*) FROM first_approvals") == (1,)
    assert (await desk.queries.case(in_review.id)).state is CaseState.IN_REVIEW


async def test_two_accounts_of_one_person_are_one_person(desk: Desk, in_review: Case, database: Database) -> None:
    """Who is both by an account of the dashboard approves once, whichever of the two they use."""
    guest, people = Person("discord", "731", "Mikel"), CommunityDesk(database)
    await people.configure(COMMUNITY_ID, lambda _: {"review_channel": "discord/12"}, KEEPER)
    await people.grant(COMMUNITY_ID, guest, Role.MODERATOR, KEEPER)
    await WebAccounts(database, desk.live_roles).keep("mikel", "a long enough password", (MODERATOR, guest))
    other = await shown(desk, in_review, guest, BOLD)
    await approved(desk, in_review, MODERATOR)
    assert isinstance(await desk.approvals.approve(other.id, guest), AwaitsSecond)
    with pytest.raises(Conflict, match="approved this text already"):
        await desk.proposals.propose(in_review.id, in_review.version, guest, text=BOLD)
    assert isinstance(await approved(desk, in_review, OTHER_MODERATOR), ApprovedReply)


@pytest.mark.parametrize("action", [Action.REPORT, Action.SUPPORT_TARGET])
async def test_a_threat_or_an_attack_on_one_person_needs_two(
    desk: Desk, queue: DraftQueue, post: FlaggedPost, action: Action
) -> None:
    """Whatever the reply says; and the first who approves does not keep the case from the second."""
    case = await drafted(desk, queue, post, recommended_action=action)
    await desk.decisions.hold(case.id, MODERATOR)
    assert isinstance(await approved(desk, case, MODERATOR, OWN_TEXT), AwaitsSecond)
    assert isinstance(await approved(desk, case, OTHER_MODERATOR, OWN_TEXT), ApprovedReply)


@pytest.mark.parametrize("kind", [Kind.SUPPORT, Kind.NOTICE])
async def test_what_is_no_reply_is_approved_like_every_draft(
    desk: Desk, queue: DraftQueue, post: FlaggedPost, kind: Kind
) -> None:
    """The exact text, by two persons where the post attacks one, and nothing in it asks for a source."""
    await desk.intake.flag(post)
    taken = await take(queue)
    made = suggestion_for(taken.case.post)
    origins = (Origin.PREPARED, Origin.PREPARED)
    draft = Draft(
        1, "This is against rule 3. Please keep to it.", Intent.DENOUNCING, Scores(), origins=origins, kind=kind
    )
    made = replace(made, reading=replace(made.reading, recommended_action=Action.SUPPORT_TARGET), drafts=(draft,))
    case = await queue.store(taken, made)
    first = await approved(desk, case, MODERATOR, draft.text)
    assert isinstance(first, AwaitsSecond)
    assert first.because == ("The post attacks one person.",)
    done = await approved(desk, case, OTHER_MODERATOR, draft.text)
    assert isinstance(done, ApprovedReply)
    assert done.text.startswith(f"{draft.text}\n\n")


async def test_a_first_approval_holds_a_day(desk: Desk, in_review: Case, clock: FakeClock) -> None:
    """As long as an approval does (invariant I8)."""
    await approved(desk, in_review, MODERATOR)
    clock.advance(24 * 3600)
    assert isinstance(await approved(desk, in_review, OTHER_MODERATOR), AwaitsSecond)


async def test_a_first_approval_ends_with_the_version_of_the_case(desk: Desk, in_review: Case) -> None:
    """What was decided meanwhile, the first person has not seen."""
    await approved(desk, in_review, MODERATOR)
    assert isinstance(await approved(desk, in_review, MANAGER, OWN_TEXT), ApprovedReply)
    undone = await desk.decisions.undo(in_review.id, in_review.version + 1, MANAGER)
    assert isinstance(await approved(desk, undone, OTHER_MODERATOR), AwaitsSecond)


async def test_a_first_approval_ends_with_the_role_of_who_gave_it(
    desk: Desk, in_review: Case, database: Database
) -> None:
    """Who lost the right to approve is no first person either (invariant I7)."""
    people = CommunityDesk(database)
    await approved(desk, in_review, MODERATOR)
    await people.revoke(COMMUNITY_ID, MODERATOR, Role.MODERATOR, MANAGER)
    with pytest.raises(NotAllowed):
        await approved(desk, in_review, AUDITOR)
    assert isinstance(await approved(desk, in_review, OTHER_MODERATOR), AwaitsSecond)
    assert isinstance(await approved(desk, in_review, MANAGER), ApprovedReply)
