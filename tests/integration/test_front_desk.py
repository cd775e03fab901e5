"""What people of a platform do with cases, and what they are shown of them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.sample.community import SampleCommunity
from bot.chores.expiry import Expiry
from bot.community_desk import CommunityDesk
from bot.desk import Desk
from bot.draft_queue import DraftQueue
from bot.front_desk import FrontDesk
from bot.intake import Intake
from bot.outbox import Outbox
from bot.store.cases import Case
from bot.store.database import Database
from bot.store.proposals import forget_proposals
from core.cards import Card, ProposedReply
from core.casework import Casework
from core.decline import DeclineReason
from core.errors import BadInput, Conflict, NotAllowed, PlatformUnavailable
from core.i18n import translated
from core.models import FlaggedPost, Intent, PostRef, Priority
from core.review import CaseState, text_hash
from core.roles import Operator, Person, Role
from tests.fakes import DRAFT_TEXTS, suggestion_for
from tests.fakes.chores import NOW
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import OWN_TEXT, drafted, execute, one_row, take
from tests.fakes.people import COMMUNITY_ID, MODERATOR, OTHER_MODERATOR, PLATFORM, STRANGER, VOLUNTEER
from tests.fakes.roles import FakeRoles

BOLD = "We all live here, and 93% of us are glad."
FLAGGER = Person(PLATFORM, "mill_pond", "mill_pond")
LIMIT = 300


@pytest.fixture
def platform(clock: FakeClock) -> SampleCommunity:
    return SampleCommunity(clock=clock)


@pytest.fixture
def outbox(database: Database, platform: SampleCommunity) -> Outbox:
    return Outbox(database, {PLATFORM: platform})


@pytest.fixture
def front(database: Database, desk: Desk, outbox: Outbox) -> Casework:
    return FrontDesk(database, desk, Intake(database), outbox, max_characters={PLATFORM: LIMIT})


async def _card(front: Casework, case: Case) -> Card:
    return await front.card(case.id, MODERATOR)


# Cards


async def test_a_moderator_sees_all_that_was_said_of_a_post(
    front: Casework, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Gist, drafts, what carries them, every claim, and who holds the case, in one answer."""
    card = await front.claim(in_review.id, MODERATOR)
    made = suggestion_for(in_review.post)
    assert (card.case_id, card.version, card.state) == (in_review.id, in_review.version, CaseState.IN_REVIEW)
    assert (card.gist, card.severity, card.language) == ("they take", 2, "en")
    assert (card.drafts, card.evidence, card.notes) == (made.drafts, made.evidence, made.degraded)
    assert card.claims == ("Newcomers pay taxes.", "Newcomers work.")
    assert card.post == in_review.post
    assert card.holder is not None
    assert (card.holder.name, card.holder.until) == ("moderator_one", clock() + timedelta(minutes=5))
    assert (await front.release(in_review.id, MODERATOR)).holder is None
    stored = await desk.suggestion(in_review.id)
    assert stored is not None
    assert card.suggestion_id == stored.id


async def test_who_only_flagged_a_post_sees_how_it_stands_and_no_draft(front: Casework, in_review: Case) -> None:
    """Nor who holds it, nor what others said around the post; who did not even flag it sees nothing."""
    await front.claim(in_review.id, MODERATOR)
    card = await front.card(in_review.id, FLAGGER)
    assert (card.state, card.post.text) == (CaseState.IN_REVIEW, in_review.post.text)
    assert (card.drafts, card.holder, card.gist, card.post.thread, card.evidence) == ((), None, None, (), ())
    for nobody in (STRANGER, VOLUNTEER):
        with pytest.raises(NotAllowed):
            await front.card(in_review.id, nobody)


async def test_a_volunteer_who_asked_for_a_draft_is_shown_it(
    front: Casework, queue: DraftQueue, post: FlaggedPost
) -> None:
    """With what it rests on; still without the name of who holds the case."""
    asked = replace(post, priority=Priority.ASKED, flagged_by=VOLUNTEER.user)
    card = await front.flag(asked)
    assert (card.state, card.drafts) == (CaseState.QUEUED, ())
    taken = await take(queue)
    await queue.store(taken, suggestion_for(taken.case.post))
    await front.claim(card.case_id, MODERATOR)
    card = await front.card(card.case_id, VOLUNTEER)
    assert [draft.text for draft in card.drafts] == list(DRAFT_TEXTS)
    assert (len(card.evidence), card.gist, card.holder) == (1, "they take", None)
    with pytest.raises(NotAllowed):
        await front.propose(card.case_id, card.version, VOLUNTEER, rank=1)


async def test_flagging_answers_with_the_card_also_when_another_flagged_before(
    front: Casework, post: FlaggedPost
) -> None:
    """The second flagger is told how the case stands; a moderator sees all of it."""
    first = await front.flag(post)
    assert first.waiting is not None
    assert (first.waiting.ahead, first.post.thread) == (0, ())
    again = await front.flag(replace(post, flagged_by=VOLUNTEER.user))
    assert (again.case_id, again.state) == (first.case_id, CaseState.QUEUED)
    seen = await front.flag(replace(post, flagged_by=MODERATOR.user))
    assert len(seen.post.thread) == len(post.thread) > 0


async def test_a_case_is_found_by_its_post_and_by_its_reply(
    front: Casework, outbox: Outbox, platform: SampleCommunity, in_review: Case, clock: FakeClock
) -> None:
    """A menu on either message leads to the same case; on any other there is none."""
    assert await front.find(PostRef(PLATFORM, "brenmoor", "town-square", "900"), MODERATOR) is None
    found = await front.find(in_review.post.ref, MODERATOR)
    assert found is not None
    assert found.case_id == in_review.id
    proposed = await front.propose(found.case_id, found.version, MODERATOR, rank=1)
    await front.approve(proposed.id, MODERATOR)
    clock.advance(16)
    await outbox.send_due()
    posted = await _card(front, in_review)
    assert posted.reply is not None
    assert await platform.read(posted.reply) == proposed.text
    assert await front.find(posted.reply, MODERATOR) == posted
    with pytest.raises(NotAllowed):
        await front.find(posted.reply, STRANGER)


async def test_the_platform_says_at_each_click_who_somebody_is(
    database: Database, desk: Desk, outbox: Outbox, in_review: Case
) -> None:
    """A moderator by the platform's own rights needs no grant here, and is none any more when it says so."""
    roles = FakeRoles(native=Role.MODERATOR)
    front = FrontDesk(database, desk, Intake(database), outbox, role_sources={PLATFORM: roles})
    native = Person(PLATFORM, "native", "Nadia")
    card = await front.claim(in_review.id, native)
    assert card.holder is not None
    assert card.holder.name == "Nadia"
    roles.now.clear()
    with pytest.raises(NotAllowed):
        await front.card(in_review.id, native)
    roles.is_down = True
    with pytest.raises(PlatformUnavailable):
        await front.decline(in_review.id, in_review.version, native, DeclineReason.PREACHY)
    assert (await desk.case(in_review.id)).state is CaseState.IN_REVIEW


async def test_what_is_refused_can_be_said_in_the_readers_language(front: Casework, in_review: Case) -> None:
    """Taken, not allowed, outdated: each names the same people, times and states as the English."""
    held = (await front.claim(in_review.id, MODERATOR)).holder
    assert held is not None
    with pytest.raises(Conflict) as taken:
        await front.propose(in_review.id, in_review.version, OTHER_MODERATOR, rank=1)
    assert taken.value.message == f"The case is taken by moderator_one until {held.until:%H:%M} UTC."
    assert translated(taken.value.message, "es") == f"moderator_one tiene el caso hasta las {held.until:%H:%M} UTC."
    with pytest.raises(NotAllowed) as refused:
        await front.claim(in_review.id, VOLUNTEER)
    assert (translated(refused.value.message, "it"), translated(refused.value.remedy, "it")) == (
        f"{VOLUNTEER.name} non può farlo (revisionare): il ruolo volontario.",
        "Chiedi un ruolo a un gestore della comunità.",
    )
    await front.decline(in_review.id, in_review.version, MODERATOR, DeclineReason.PREACHY)
    with pytest.raises(Conflict) as outdated:
        await front.decline(in_review.id, in_review.version, MODERATOR, DeclineReason.PREACHY)
    assert "moderator_one moved it there" in outdated.value.message
    assert translated(outdated.value.message, "eu") == (
        f"Kasua orain honela dago: baztertuta ({in_review.version + 1}. bertsioa); nork aldatua: moderator_one."
    )


# Proposals


async def _proposed(front: Casework, case: Case, text: str = BOLD, by: Person = MODERATOR) -> ProposedReply:
    return await front.propose(case.id, case.version, by, text=text)


async def test_what_is_proposed_is_what_is_posted_byte_for_byte(
    front: Casework, desk: Desk, in_review: Case, database: Database, clock: FakeClock
) -> None:
    """With the sentence that discloses Antiphon; the approval is bound to its hash, and waits for the undo window."""
    proposed = await front.propose(in_review.id, in_review.version, MODERATOR, rank=2)
    assert re.fullmatch("[a-z0-9]{16}", proposed.id)
    assert proposed.text == (await desk.rendered(in_review.id, DRAFT_TEXTS[1])).text
    assert (proposed.reply, proposed.sha256) == (DRAFT_TEXTS[1], text_hash(proposed.text))
    assert (proposed.why_two, proposed.unsupported, proposed.is_shadow) == ((), (), False)
    assert "a warning" in proposed.warnings
    approval = await front.approve(proposed.id, MODERATOR)
    assert (approval.card.state, approval.waits_for_second) == (CaseState.APPROVED, None)
    assert approval.card.send_at == clock() + timedelta(seconds=15)
    row = await one_row(database, "SELECT text, sha256, draft_rank, edited FROM approvals")
    assert row[:3] == (proposed.text, proposed.sha256, 2)
    assert not row[3]


@pytest.mark.parametrize(
    ("rank", "text", "kept_rank", "is_edited"),
    [
        (1, f"{DRAFT_TEXTS[0]} Truly.", 1, True),
        (1, f" {DRAFT_TEXTS[0]}\n", 1, False),
        (1, DRAFT_TEXTS[1], 2, False),
        (None, DRAFT_TEXTS[0], 1, False),
        (None, OWN_TEXT, None, True),
    ],
)
async def test_an_edit_is_recorded_as_one_only_where_it_changed_the_draft(
    front: Casework, in_review: Case, database: Database, rank: int | None, text: str, kept_rank: int, is_edited: bool
) -> None:
    """A modal that was sent as it was opened approves the draft; an edit says what it began as."""
    proposed = await front.propose(in_review.id, in_review.version, MODERATOR, rank=rank, text=text)
    await front.approve(proposed.id, MODERATOR)
    found = await one_row(database, "SELECT draft_rank, edited FROM approvals")
    assert (found[0], bool(found[1])) == (kept_rank, is_edited)


async def test_an_edit_is_held_against_the_evidence_before_anybody_approves(front: Casework, in_review: Case) -> None:
    """The sentence that nothing carries is named, and so is that it needs a second person."""
    proposed = await _proposed(front, in_review)
    assert proposed.unsupported == (BOLD,)
    assert proposed.why_two == ("No evidence holds the figure “93%”.",)
    assert set(proposed.why_two) <= set(proposed.warnings)


async def test_a_text_that_cannot_be_posted_is_not_proposed(front: Casework, in_review: Case) -> None:
    """It is empty, too long with what is added to it, or no draft at all; each remedy says what to do."""
    wrong: list[tuple[int | None, str | None, str]] = [
        (None, None, "no text"),
        (7, None, "no draft of rank 7"),
        (1, " \n", "empty"),
        (None, "word " * 60, "300 at most"),
        (None, "half \ud83d", "surrogate"),
    ]
    for rank, text, said in wrong:
        with pytest.raises(BadInput, match=said) as caught:
            await front.propose(in_review.id, in_review.version, MODERATOR, rank=rank, text=text)
        assert caught.value.remedy


async def test_words_from_elsewhere_are_drafted_and_never_approved(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, database: Database
) -> None:
    """They stand in no message: each way to an approval says so, and the drafts are there to be copied."""
    case = await drafted(desk, queue, replace(post, is_from_elsewhere=True))
    card = await _card(front, case)
    assert (card.post.is_from_elsewhere, len(card.drafts), card.why_two) == (True, 2, ())
    for how in ({"rank": 1}, {"text": OWN_TEXT}):
        with pytest.raises(NotAllowed, match="stand in no message") as caught:
            await front.propose(case.id, case.version, MODERATOR, **how)
        assert "Copy what you can use" in caught.value.remedy
    shown = await desk.rendered(case.id, OWN_TEXT)
    with pytest.raises(NotAllowed, match="stand in no message"):
        await desk.approve(case.id, case.version, shown.text, shown.sha256, MODERATOR)
    assert await one_row(database, "SELECT count(*) FROM outbox") == (0,)
    assert (await front.withdraw(case.id, case.version, MODERATOR, "copied")).state is CaseState.WITHDRAWN


async def test_only_who_was_shown_a_text_approves_it(front: Casework, desk: Desk, in_review: Case) -> None:
    """Another moderator proposes the same text, reads it, and approves that."""
    proposed = await _proposed(front, in_review, OWN_TEXT)
    with pytest.raises(NotAllowed, match="Only the person who was shown"):
        await front.approve(proposed.id, OTHER_MODERATOR)
    assert (await desk.case(in_review.id)).state is CaseState.IN_REVIEW
    with pytest.raises(Conflict, match="not waiting"):
        await front.approve("0" * 16, MODERATOR)


async def test_two_persons_each_propose_and_approve_the_same_bytes(
    front: Casework, in_review: Case, clock: FakeClock, database: Database
) -> None:
    """The card names who approved first; an edit of the second one begins anew."""
    first = await front.approve((await _proposed(front, in_review)).id, MODERATOR)
    assert first.waits_for_second == clock() + timedelta(hours=24)
    assert first.why_two == ("No evidence holds the figure “93%”.",)
    assert (first.card.state, first.card.first_approvals) == (CaseState.IN_REVIEW, ("moderator_one",))
    other = await _proposed(front, in_review, f"{BOLD} Truly.", OTHER_MODERATOR)
    assert (await front.approve(other.id, OTHER_MODERATOR)).waits_for_second is not None
    second = await _proposed(front, in_review, BOLD, OTHER_MODERATOR)
    assert (await front.approve(second.id, OTHER_MODERATOR)).card.state is CaseState.APPROVED
    assert await one_row(database, "SELECT sha256 FROM approvals") == (second.sha256,)


async def test_the_second_person_is_shown_what_the_first_one_wrote(
    front: Casework, in_review: Case, database: Database
) -> None:
    """Their part of it, on the card; approving it says where it began, as the first one's edit did."""
    begun = await front.propose(in_review.id, in_review.version, MODERATOR, rank=2, text=f" {BOLD}\n")
    await front.approve(begun.id, MODERATOR)
    card = await front.card(in_review.id, OTHER_MODERATOR)
    assert (card.first_approvals, card.first_texts) == (("moderator_one",), (BOLD,))
    second = await _proposed(front, in_review, card.first_texts[0], OTHER_MODERATOR)
    assert second.sha256 == begun.sha256
    assert (await front.approve(second.id, OTHER_MODERATOR)).card.first_texts == ()
    row = await one_row(database, "SELECT sha256, draft_rank, edited FROM approvals")
    assert (row[:2], bool(row[2])) == ((begun.sha256, 2), True)


async def test_a_first_approval_stays_on_the_card_when_a_setting_changes_that_ends_none(
    front: Casework, in_review: Case, database: Database
) -> None:
    """It still holds, so the second person must see it; a change of the rules ends it on the card, too."""
    await front.approve((await _proposed(front, in_review)).id, MODERATOR)
    await CommunityDesk(database).grant(COMMUNITY_ID, STRANGER, Role.VOLUNTEER, Operator("keeper"))
    assert (await _card(front, in_review)).first_texts == (BOLD,)
    await CommunityDesk(database).set_posting(COMMUNITY_ID, False, Operator("keeper"))
    assert ((await _card(front, in_review)).first_approvals, (await _card(front, in_review)).first_texts) == ((), ())


async def test_a_first_approval_whose_time_is_over_is_shown_no_more(
    front: Casework, desk: Desk, in_review: Case, database: Database, clock: FakeClock
) -> None:
    """It counts no more; the card in the channel is told, once, and the same person can begin anew."""
    clock.advance(3600)
    await front.approve((await _proposed(front, in_review)).id, MODERATOR)
    clock.advance(24 * 3600 - 1)
    await Expiry(database, draft_hours=72).do(NOW)
    assert (await _card(front, in_review)).first_texts == (BOLD,)
    clock.advance(1)
    card = await _card(front, in_review)
    assert (card.first_approvals, card.first_texts) == ((), ())
    assert (await desk.view(in_review.id, MODERATOR)).firsts == ()
    again = await front.approve((await _proposed(front, in_review)).id, MODERATOR)
    assert again.waits_for_second == clock() + timedelta(hours=24)
    assert (await _card(front, in_review)).first_texts == (BOLD,)
    await execute(database, "UPDATE cases SET unshown = 0")
    clock.advance(24 * 3600)
    for _ in range(2):
        await Expiry(database, draft_hours=72).do(NOW)
    assert await one_row(database, "SELECT unshown FROM cases") == (1,)
    assert await one_row(database, "SELECT count(*) FROM first_approvals") == (0,)


async def test_a_first_approval_of_who_may_approve_no_more_is_not_shown(
    front: Casework, in_review: Case, database: Database
) -> None:
    """A second person would join it in vain."""
    await front.approve((await _proposed(front, in_review)).id, MODERATOR)
    await CommunityDesk(database).revoke(COMMUNITY_ID, MODERATOR, Role.MODERATOR, Operator("keeper"))
    assert (await front.card(in_review.id, OTHER_MODERATOR)).first_texts == ()


async def test_a_text_that_was_approved_without_being_proposed_is_shown_as_well(
    front: Casework, desk: Desk, in_review: Case
) -> None:
    """In a terminal, say: the second person reads it on the card all the same."""
    shown = await desk.rendered(in_review.id, BOLD)
    await desk.approve(in_review.id, in_review.version, shown.text, shown.sha256, MODERATOR)
    card = await _card(front, in_review)
    assert (card.first_approvals, card.first_texts) == (("moderator_one",), (BOLD,))


async def test_what_a_first_person_approved_is_kept_until_the_case_moves_on(
    front: Casework, in_review: Case, database: Database, clock: FakeClock
) -> None:
    """Other proposals go after a day; this one goes with the first decision, a day later at most."""
    await _proposed(front, in_review, OWN_TEXT)
    first = await _proposed(front, in_review)
    clock.advance(2 * 3600)
    await front.approve(first.id, MODERATOR)
    clock.advance(23 * 3600)
    await database.run("forget", lambda session: forget_proposals(session, 10))
    assert (await _card(front, in_review)).first_texts == (BOLD,)
    assert await one_row(database, "SELECT count(*) FROM proposals") == (1,)
    plain = await front.propose(in_review.id, in_review.version, OTHER_MODERATOR, rank=1)
    await front.approve(plain.id, OTHER_MODERATOR)
    clock.advance(25 * 3600)
    await database.run("forget", lambda session: forget_proposals(session, 10))
    assert await one_row(database, "SELECT count(*) FROM proposals") == (0,)


async def test_a_proposal_ends_with_the_version_that_it_was_made_for(
    front: Casework, in_review: Case, database: Database
) -> None:
    """Who clicks late is told to look at the new card, and nothing is approved."""
    old = await _proposed(front, in_review, OWN_TEXT)
    approved = await front.approve((await _proposed(front, in_review, DRAFT_TEXTS[0])).id, MODERATOR)
    for _ in range(2):
        with pytest.raises(Conflict, match="approved now") as caught:
            await front.approve(old.id, MODERATOR)
        assert "new card" in caught.value.remedy
    undone = await front.undo(in_review.id, approved.card.version, MODERATOR)
    assert undone.state is CaseState.IN_REVIEW
    with pytest.raises(Conflict, match="in review now"):
        await front.approve(old.id, MODERATOR)
    assert await one_row(database, "SELECT count(*) FROM approvals") == (1,)


async def test_a_proposal_ends_when_other_words_would_stand_under_it(
    front: Casework, in_review: Case, database: Database
) -> None:
    """What is approved must be what was shown: a community that stops disclosing changes every text."""
    proposed = await _proposed(front, in_review, OWN_TEXT)
    await CommunityDesk(database).set_disclosure(COMMUNITY_ID, False, Operator("keeper"), "our profile says it")
    with pytest.raises(Conflict, match="What is added"):
        await front.approve(proposed.id, MODERATOR)
    again = await _proposed(front, in_review, OWN_TEXT)
    assert again.text == OWN_TEXT
    assert (await front.approve(again.id, MODERATOR)).card.state is CaseState.APPROVED


async def test_a_proposal_that_was_meddled_with_is_refused(
    front: Casework, in_review: Case, database: Database
) -> None:
    """The hash was taken of what the person saw."""
    proposed = await _proposed(front, in_review, OWN_TEXT)
    await execute(database, "UPDATE proposals SET text = 'Something else.'")
    with pytest.raises(Conflict):
        await front.approve(proposed.id, MODERATOR)
    assert await one_row(database, "SELECT count(*) FROM approvals") == (0,)


async def test_shadow_mode_is_said_before_the_approval(front: Casework, in_review: Case, database: Database) -> None:
    """On the card, and again with the text that is to be approved."""
    await CommunityDesk(database).set_posting(COMMUNITY_ID, False, Operator("keeper"))
    assert (await _proposed(front, in_review, OWN_TEXT)).is_shadow
    assert (await _card(front, in_review)).is_shadow
    await CommunityDesk(database).pause(COMMUNITY_ID, Operator("keeper"))
    assert (await _card(front, in_review)).is_paused


# Other decisions


async def test_every_other_decision_answers_with_the_card_as_it_is_then(
    front: Casework, desk: Desk, queue: DraftQueue, in_review: Case, clock: FakeClock
) -> None:
    """Redraft, decline, and a case that was declined says why."""
    queued = await front.redraft(in_review.id, in_review.version, MODERATOR, claim="Everybody was new once.")
    assert queued.state is CaseState.QUEUED
    taken = await take(queue)
    clock.advance(1)
    case = await queue.store(taken, suggestion_for(taken.case.post))
    declined = await front.decline(case.id, case.version, MODERATOR, DeclineReason.OTHER, "It reads like a leaflet.")
    assert (declined.state, declined.closed_because) == (CaseState.DECLINED, "declined: other")
    assert (await desk.history(case.id))[-1].note == "It reads like a leaflet."


async def test_a_case_without_a_draft_is_reopened_or_left(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The card says what the engine found, and each way out works."""
    await desk.flag(post)
    taken = await take(queue)
    case = await queue.store(taken, suggestion_for(taken.case.post, ()))
    card = await _card(front, case)
    assert card.state is CaseState.NEEDS_PERSON
    assert "no draft to offer" in card.closed_because
    queued = await front.reopen(case.id, case.version, MODERATOR)
    assert queued.state is CaseState.QUEUED
    withdrawn = await front.withdraw(case.id, queued.version, FLAGGER, "my mistake")
    assert (withdrawn.state, withdrawn.drafts) == (CaseState.WITHDRAWN, ())


async def test_silence_is_an_answer(front: Casework, in_review: Case) -> None:
    """It needs a reason, like every end that nobody else decided."""
    with pytest.raises(BadInput):
        await front.stay_silent(in_review.id, in_review.version, MODERATOR, " ")
    silent = await front.stay_silent(in_review.id, in_review.version, MODERATOR, "It would feed him.")
    assert silent.state is CaseState.NO_REPLY


@pytest.mark.parametrize("is_posted", [True, False])
async def test_somebody_says_whether_a_lost_reply_stands(
    front: Casework, in_review: Case, database: Database, is_posted: bool
) -> None:
    """What nobody could read back is settled by a person who looked."""
    await front.approve((await _proposed(front, in_review, OWN_TEXT)).id, MODERATOR)
    await execute(database, "UPDATE cases SET state = 'needs_person'")
    await execute(database, "UPDATE outbox SET state = 'unknown'")
    card = await _card(front, in_review)
    settled = await front.settle(card.case_id, card.version, OTHER_MODERATOR, is_posted=is_posted)
    assert settled.state is (CaseState.POSTED if is_posted else CaseState.FAILED)


async def test_a_posted_reply_is_retracted_and_one_that_stands_is_said_to(
    front: Casework, outbox: Outbox, platform: SampleCommunity, in_review: Case, clock: FakeClock
) -> None:
    """Two days later the platform refuses, and the card's notes say so."""
    await front.approve((await _proposed(front, in_review, OWN_TEXT)).id, MODERATOR)
    clock.advance(16)
    await outbox.send_due()
    card = await _card(front, in_review)
    clock.advance(49 * 3600)
    refused = await front.retract(card.case_id, card.version, MODERATOR, "a pile-on")
    assert refused.state is CaseState.POSTED
    assert "still stands" in refused.notes[-1]
    clock.advance(-49 * 3600)
    gone = await front.retract(card.case_id, card.version, MODERATOR, "a pile-on")
    assert (gone.state, gone.reply) == (CaseState.RETRACTED, None)
    assert card.reply is not None
    assert await platform.read(card.reply) is None


async def test_a_folded_post_is_counted_and_can_be_drafted_on_its_own(
    database: Database, desk: Desk, outbox: Outbox, post: FlaggedPost
) -> None:
    """The lead's card says for how many posts it stands."""
    intake = Intake(database)
    front = FrontDesk(database, Desk(database, intake=intake), intake, outbox)
    lead = await front.flag(post)
    folded = await front.flag(
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
    assert (await desk.history(in_review.id))[-1].reason == "for questioning drafts"
    earlier = await desk.earlier(in_review.post.ref)
    assert (earlier.times, earlier.texts) == (1, DRAFT_TEXTS)
    clock.advance(1)
    taken = await take(queue)
    assert taken.case.post.wish.intent is Intent.QUESTIONING
    case = await queue.store(taken, suggestion_for(taken.case.post, ("Who told you so?",)))
    card = await _card(front, case)
    assert [draft.text for draft in card.drafts] == ["Who told you so?"]
    again = await front.redraft(case.id, case.version, MODERATOR)
    assert (again.state, (await desk.history(case.id))[-1].reason) == (CaseState.QUEUED, "for other drafts")
    assert (await take(queue)).case.post.wish.intent is Intent.QUESTIONING
    assert (await desk.earlier(case.post.ref)).texts == ("Who told you so?", *DRAFT_TEXTS)


@pytest.mark.parametrize("ends", ["nothing new", "given up"])
async def test_the_drafts_of_before_stand_when_no_others_come(
    front: Casework, queue: DraftQueue, in_review: Case, ends: str
) -> None:
    """Who asks for other drafts loses none."""
    await front.redraft(in_review.id, in_review.version, MODERATOR)
    taken = await take(queue)
    if ends == "nothing new":
        case = await queue.store(taken, suggestion_for(taken.case.post, ()))
    else:
        case = await queue.give_up(taken, "The model makes no sense.")
    card = await _card(front, case)
    assert (card.state, [draft.text for draft in card.drafts]) == (CaseState.IN_REVIEW, list(DRAFT_TEXTS))


# The original


async def test_a_change_of_the_post_is_shown_and_moves_nothing_by_itself(front: Casework, in_review: Case) -> None:
    """Edited, gone, and as it was flagged again; no decision in flight is lost by it."""
    ref = in_review.post.ref
    for text, seen in (("I was angry.", (True, False)), (None, (False, True)), (in_review.post.text, (False, False))):
        await front.original_changed(ref, text)
        card = await _card(front, in_review)
        assert (card.is_original_edited, card.is_original_gone) == seen
        assert (card.state, card.version) == (CaseState.IN_REVIEW, in_review.version)
    await front.original_changed(replace(ref, message="unknown"), None)


async def test_hidden_words_are_compared_by_their_last_edit(front: Casework, desk: Desk, post: FlaggedPost) -> None:
    """A platform that tells only when a post was edited says twice that it was, and once that it was not."""
    case = await desk.flag(replace(post, ref=replace(post.ref, message="901"), revision="at noon"))
    for revision, is_edited in (("at one", True), ("at noon", False)):
        await front.original_changed(case.post.ref, "", revision=revision)
        card = await front.card(case.id, MODERATOR)
        assert card.is_original_edited is is_edited


async def test_who_approves_a_reply_to_a_changed_post_is_warned(front: Casework, in_review: Case) -> None:
    """Nothing would be sent."""
    await front.original_changed(in_review.post.ref, "I was angry.")
    assert "was changed after it was flagged" in (await _proposed(front, in_review, OWN_TEXT)).warnings[0]


@pytest.mark.parametrize("text", ["I was angry.", None])
async def test_an_approved_reply_to_a_post_that_changed_never_goes_out(
    front: Casework, outbox: Outbox, platform: SampleCommunity, in_review: Case, clock: FakeClock, text: str | None
) -> None:
    """Even where the platform still gives out the old text; a person is asked at once."""
    await front.approve((await _proposed(front, in_review, OWN_TEXT)).id, MODERATOR)
    before = platform.thread()
    await front.original_changed(in_review.post.ref, text)
    card = await _card(front, in_review)
    assert card.state is CaseState.NEEDS_PERSON
    assert card.closed_because.startswith("The post that the reply answers")
    clock.advance(60)
    assert await outbox.send_due() == []
    assert platform.thread() == before


async def test_a_posted_reply_whose_post_changed_can_be_retracted_from_the_card(
    front: Casework, outbox: Outbox, in_review: Case, clock: FakeClock
) -> None:
    """The card says so, and the case stays posted until somebody decides."""
    await front.approve((await _proposed(front, in_review, OWN_TEXT)).id, MODERATOR)
    clock.advance(16)
    await outbox.send_due()
    await front.original_changed(in_review.post.ref, None)
    card = await _card(front, in_review)
    assert (card.state, card.is_original_gone) == (CaseState.POSTED, True)
    assert (await front.retract(card.case_id, card.version, MODERATOR, "gone")).state is CaseState.RETRACTED


async def test_a_case_of_another_version_of_antiphon_says_what_to_do(
    front: Casework, in_review: Case, database: Database
) -> None:
    """One suggestion that cannot be read hides no case."""
    await execute(database, "UPDATE suggestions SET document = '{}'")
    card = await _card(front, in_review)
    assert card.drafts == ()
    assert "cannot be read" in card.notes[0]


async def test_drafted_cases_of_others_are_not_shown_by_accident(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, in_review: Case
) -> None:
    """A card holds one case's words."""
    other = replace(
        post, ref=replace(post.ref, message="104"), text="Another post altogether, of another day.", root="104"
    )
    case = await drafted(desk, queue, other)
    assert (await _card(front, case)).post.text == other.text
    assert (await _card(front, in_review)).post.text == post.text
