"""Every decision but approval, from the card: each answers with the card as it is then, and none loses a draft."""

from dataclasses import replace

import pytest

from adapters.sample import SampleCommunity
from bot.compose.desk import Desk, build_casework, build_desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason, RetractReason
from core.desk.rules.roles import Person, Role
from core.desk.sending.outbox import Outbox
from core.desk.store import accounts, people
from core.desk.store.cases import LOOK_AGAIN, Case
from core.desk.store.suggestions import DraftedBefore, drafted_before
from core.errors import Conflict
from core.i18n.catalogs import translated
from core.models import FlaggedPost, Intent
from tests.fakes.desk.decisions import OWN_TEXT, card_of, execute, propose, take
from tests.fakes.desk.people import COMMUNITY_ID, FLAGGER, MODERATOR, OTHER_MODERATOR
from tests.fakes.engine.suggestions import DRAFT_TEXTS, suggestion_for
from tests.fakes.machine.clock import FakeClock


async def test_every_other_decision_answers_with_the_card_as_it_is_then(
    front: Casework, desk: Desk, queue: DraftQueue, in_review: Case, clock: FakeClock
) -> None:
    """Redraft, decline, and a case that was declined says why."""
    queued = await front.redraft(in_review.id, in_review.version, MODERATOR, claim="Everybody was new once.")
    assert queued.state is CaseState.QUEUED
    taken = await take(queue)
    clock.advance(1)
    case = await queue.store(taken, suggestion_for(taken.case.post))
    declined = await front.close(case.id, case.version, MODERATOR, CloseReason.OTHER, "It reads like a leaflet.")
    assert (declined.state, declined.closed_because) == (CaseState.DECLINED, "declined: other")
    assert (await desk.queries.history(case.id))[-1].note == "It reads like a leaflet."


async def test_a_case_without_a_draft_is_reopened_or_left(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The card says what the engine found, and each way out works."""
    await desk.intake.flag(post)
    taken = await take(queue)
    case = await queue.store(taken, suggestion_for(taken.case.post, ()))
    card = await card_of(front, case)
    assert card.state is CaseState.NEEDS_PERSON
    assert "no draft to offer" in card.closed_because
    queued = await front.reopen(case.id, case.version, MODERATOR)
    assert queued.state is CaseState.QUEUED
    withdrawn = await front.close(case.id, queued.version, FLAGGER, CloseReason.MISTAKE, "my mistake")
    assert (withdrawn.state, withdrawn.drafts) == (CaseState.WITHDRAWN, ())


@pytest.mark.parametrize("is_posted", [True, False])
async def test_somebody_says_whether_a_lost_reply_stands(
    front: Casework, in_review: Case, database: Database, is_posted: bool
) -> None:
    """What nobody could read back is settled by a person who looked."""
    await front.approve((await propose(front, in_review, OWN_TEXT)).id, MODERATOR)
    await execute(database, "UPDATE cases SET state = 'needs_person'")
    await execute(database, "UPDATE outbox SET state = 'unknown'")
    card = await card_of(front, in_review)
    settled = await front.settle(card.case_id, card.version, OTHER_MODERATOR, is_posted=is_posted)
    assert settled.state is (CaseState.POSTED if is_posted else CaseState.FAILED)


async def test_a_posted_reply_is_retracted_and_one_that_stands_is_said_to(
    front: Casework, outbox: Outbox, platform: SampleCommunity, in_review: Case, clock: FakeClock
) -> None:
    """Two days later the platform refuses, and the card's notes say so."""
    await front.approve((await propose(front, in_review, OWN_TEXT)).id, MODERATOR)
    clock.advance(16)
    await outbox.send_due()
    card = await card_of(front, in_review)
    clock.advance(49 * 3600)
    refused = await front.retract(card.case_id, card.version, MODERATOR, RetractReason.OTHER, "a pile-on")
    assert refused.state is CaseState.POSTED
    assert "still there" in refused.notes[-1]
    clock.advance(-49 * 3600)
    gone = await front.retract(card.case_id, card.version, MODERATOR, RetractReason.OTHER, "a pile-on")
    assert (gone.state, gone.reply) == (CaseState.RETRACTED, None)
    assert card.reply is not None
    assert await platform.read(card.reply) is None


async def test_a_folded_post_is_counted_and_can_be_drafted_on_its_own(
    database: Database, outbox: Outbox, post: FlaggedPost
) -> None:
    """The lead's card says for how many posts it stands."""
    front = build_casework(build_desk(database, campaign_hours=24), outbox)
    lead = await front.intake.take_flag(post)
    folded = await front.intake.take_flag(
        replace(post, ref=replace(post.ref, message="104"), flagged_by=MODERATOR.user, root="104")
    )
    assert folded.state is CaseState.FOLDED
    assert (await front.card(lead.case_id, MODERATOR)).campaign_posts == 2
    apart = await front.split_out(folded.case_id, folded.version, MODERATOR)
    assert (apart.state, apart.campaign_posts) == (CaseState.QUEUED, 1)
    assert (await front.card(lead.case_id, MODERATOR)).campaign_posts == 1


# Other drafts


async def test_drafts_of_one_intent_are_wished_for(
    front: Casework, desk: Desk, queue: DraftQueue, in_review: Case, clock: FakeClock
) -> None:
    """The worker is given the wish with the post, and what was drafted before, so that the next drafts are others."""
    await front.redraft(in_review.id, in_review.version, MODERATOR, intent=Intent.QUESTIONING)
    assert (await desk.queries.history(in_review.id))[-1].reason == "for questioning drafts"
    assert await _before(desk, in_review) == DraftedBefore(1, DRAFT_TEXTS, is_told=True)
    clock.advance(1)
    taken = await take(queue)
    assert taken.case.post.wish.intent is Intent.QUESTIONING
    case = await queue.store(taken, suggestion_for(taken.case.post, ("Who told you so?",)))
    card = await card_of(front, case)
    assert [draft.text for draft in card.drafts] == ["Who told you so?"]
    again = await front.redraft(case.id, case.version, MODERATOR)
    assert (again.state, (await desk.queries.history(case.id))[-1].reason) == (CaseState.QUEUED, "for other drafts")
    assert (await take(queue)).case.post.wish.intent is Intent.QUESTIONING
    assert await _before(desk, case) == DraftedBefore(2, ("Who told you so?", *DRAFT_TEXTS), is_told=True)


async def _before(desk: Desk, case: Case) -> DraftedBefore:
    return await desk.database.run("read what was drafted", lambda session: drafted_before(session, case.id))


async def test_who_presses_late_on_a_decision_of_their_own_reads_which_it_was(
    front: Casework, outbox: Outbox, database: Database, in_review: Case, clock: FakeClock
) -> None:
    """Approved, taken back, posted since, closed; also on another platform, where they have another account."""
    seen = in_review.version

    async def told(by: Person = MODERATOR) -> str:
        with pytest.raises(Conflict) as late:
            await front.close(in_review.id, seen, by, CloseReason.PREACHY)
        return f"{late.value.message} {late.value.remedy}"

    mine = "Nothing more was done; look at the case as it is now."
    approved = await front.approve((await propose(front, in_review, OWN_TEXT)).id, MODERATOR)
    assert await told() == f"You decided this already (approved). {mine}"
    assert (await told(OTHER_MODERATOR)).startswith("moderator_one was faster: the case is approved")
    undone = await front.undo(in_review.id, approved.card.version, MODERATOR)
    assert await told() == f"You changed this case since (approval taken back): it is in review now. {LOOK_AGAIN}"
    seen = undone.version
    await front.approve((await front.propose(in_review.id, seen, MODERATOR, text=OWN_TEXT)).id, MODERATOR)
    clock.advance(16)
    await outbox.send_due()
    assert await told() == f"You decided this already (approved). The case is posted now. {mine}"
    assert "faster" not in await told(OTHER_MODERATOR)
    elsewhere = Person("elsewhere", "31", "one")
    roles = [Role.MODERATOR]
    await database.run("grant", lambda session: people.grant(session, COMMUNITY_ID, elsewhere, roles, by="test"))
    assert "already" not in await told(elsewhere)
    both = (MODERATOR, elsewhere)
    await database.run("make an account", lambda session: accounts.keep(session, "one", "", both))
    assert await told(elsewhere) == await told()
    posted = await card_of(front, in_review)
    await front.retract(in_review.id, posted.version, MODERATOR, RetractReason.HARM)
    with pytest.raises(Conflict) as late:
        await front.retract(in_review.id, posted.version, MODERATOR, RetractReason.HARM)
    assert late.value.message == "You decided this already (taken back: it makes things worse)."
    assert translated(late.value.message, "es") == "Ya lo habías decidido (retirada: empeora las cosas)."


async def test_drafts_that_somebody_asked_for_are_no_decision_of_theirs(
    front: Casework, queue: DraftQueue, in_review: Case, clock: FakeClock
) -> None:
    """Who presses below the drafts that were there before reads that the case has changed, and no name of their own."""
    await front.redraft(in_review.id, in_review.version, MODERATOR)
    for state in ("queued", "in review"):
        with pytest.raises(Conflict, match=f"^The case has changed since you saw it: it is {state} now"):
            await front.close(in_review.id, in_review.version, MODERATOR, CloseReason.PREACHY)
        if state == "queued":
            clock.advance(1)
            taken = await take(queue)
            await queue.store(taken, suggestion_for(taken.case.post))
