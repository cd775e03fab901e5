"""What people of a platform are shown of a case: by who they are, in what language, and nothing of any other case."""

from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.common.cards.contents import sections
from adapters.common.words.markup import no_address
from adapters.sample import SampleCommunity
from adapters.web.speech import reader_for
from adapters.web.views import case_view
from bot.compose.desk import Desk, build_casework, build_desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person, Role
from core.desk.rules.shortfalls import for_people
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from core.errors import Conflict, NotAllowed, PlatformUnavailable
from core.i18n.catalogs import translated
from core.i18n.sentences import sentence
from core.models import FlaggedPost, PostRef, Priority
from tests.fakes.desk.decisions import card_of, drafted, execute, take
from tests.fakes.desk.people import FLAGGER, MODERATOR, OTHER_MODERATOR, PLATFORM, STRANGER, VOLUNTEER
from tests.fakes.engine.suggestions import DRAFT_TEXTS, suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.plain_markup import plain_reader
from tests.fakes.ports.roles import FakeRoles


async def test_a_moderator_sees_all_that_was_said_of_a_post(
    front: Casework, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Gist, drafts, what carries them, every claim, and who holds the case, in one answer."""
    card = await front.hold(in_review.id, MODERATOR)
    made = suggestion_for(in_review.post)
    assert (card.case_id, card.version, card.state) == (in_review.id, in_review.version, CaseState.IN_REVIEW)
    assert (card.gist, card.severity, card.language) == ("they take", 2, "en")
    assert (card.drafts, card.evidence, card.notes) == (made.drafts, made.evidence, for_people(made.degraded))
    assert (card.claims, card.argued) == (("Newcomers pay taxes.", "Newcomers work."), "Newcomers pay taxes.")
    assert card.post == in_review.post
    assert card.holder is not None
    assert (card.holder.name, card.holder.until) == ("moderator_one", clock() + timedelta(minutes=5))
    assert (await front.release(in_review.id, MODERATOR)).holder is None
    stored = await desk.queries.suggestion(in_review.id)
    assert stored is not None
    assert card.suggestion_id == stored.id


async def test_drafts_that_argue_no_claim_leave_every_claim_to_be_chosen(
    front: Casework, queue: DraftQueue, post: FlaggedPost
) -> None:
    """A larger writer argues a claim only where a person chose one; the first of its list is chosen like any other."""
    await front.intake.take_flag(post)
    taken = await take(queue)
    made = replace(suggestion_for(taken.case.post), claim=None)
    case = await queue.store(taken, made)
    card = await front.card(case.id, MODERATOR)
    assert (card.argued, card.other_claims) == (None, tuple(claim.text for claim in made.claims))
    again = await front.redraft(card.case_id, card.version, MODERATOR, claim=card.claims[0])
    assert again.state is CaseState.QUEUED


async def test_who_only_flagged_a_post_sees_how_it_stands_and_no_draft(front: Casework, in_review: Case) -> None:
    """Nor who holds it, nor what others said around the post; who did not even flag it sees nothing."""
    await front.hold(in_review.id, MODERATOR)
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
    card = await front.intake.take_flag(asked)
    assert (card.state, card.drafts) == (CaseState.QUEUED, ())
    taken = await take(queue)
    await queue.store(taken, suggestion_for(taken.case.post))
    await front.hold(card.case_id, MODERATOR)
    card = await front.card(card.case_id, VOLUNTEER)
    assert [draft.text for draft in card.drafts] == list(DRAFT_TEXTS)
    assert (len(card.evidence), card.gist, card.holder) == (1, "they take", None)
    with pytest.raises(NotAllowed):
        await front.propose(card.case_id, card.version, VOLUNTEER, rank=1)


async def test_flagging_answers_with_the_card_also_when_another_flagged_before(
    front: Casework, post: FlaggedPost
) -> None:
    """The second flagger is told how the case stands; a moderator sees all of it."""
    first = await front.intake.take_flag(post)
    assert first.waiting is not None
    assert (first.waiting.ahead, first.post.thread) == (0, ())
    again = await front.intake.take_flag(replace(post, flagged_by=VOLUNTEER.user))
    assert (again.case_id, again.state) == (first.case_id, CaseState.QUEUED)
    seen = await front.intake.take_flag(replace(post, flagged_by=MODERATOR.user))
    assert len(seen.post.thread) == len(post.thread) > 0


@pytest.mark.both_databases
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
    posted = await card_of(front, in_review)
    assert posted.reply is not None
    assert await platform.read(posted.reply) == proposed.text
    assert await front.find(posted.reply, MODERATOR) == posted
    with pytest.raises(NotAllowed):
        await front.find(posted.reply, STRANGER)


async def test_the_platform_says_at_each_click_who_somebody_is(
    database: Database, outbox: Outbox, in_review: Case
) -> None:
    """A moderator by the platform's own rights needs no grant here, and is none any more when it says so."""
    roles = FakeRoles(native=Role.MODERATOR)
    desk = build_desk(database, role_sources={PLATFORM: roles})
    front = build_casework(desk, outbox)
    native = Person(PLATFORM, "native", "Nadia")
    card = await front.hold(in_review.id, native)
    assert card.holder is not None
    assert card.holder.name == "Nadia"
    roles.now.clear()
    with pytest.raises(NotAllowed):
        await front.card(in_review.id, native)
    roles.is_down = True
    with pytest.raises(PlatformUnavailable):
        await front.close(in_review.id, in_review.version, native, CloseReason.PREACHY)
    assert (await desk.queries.case(in_review.id)).state is CaseState.IN_REVIEW


async def test_what_is_refused_can_be_said_in_the_readers_language(front: Casework, in_review: Case) -> None:
    """Taken, not allowed, outdated: each names the same people, times and states as the English."""
    assert (await front.hold(in_review.id, MODERATOR)).holder is not None
    with pytest.raises(Conflict) as taken:
        await front.propose(in_review.id, in_review.version, OTHER_MODERATOR, rank=1)
    assert taken.value.message == "moderator_one holds the case; minutes left: 5."
    assert translated(taken.value.message, "es") == "moderator_one tiene reservado el caso; minutos que quedan: 5."
    with pytest.raises(NotAllowed) as refused:
        await front.hold(in_review.id, VOLUNTEER)
    assert (translated(refused.value.message, "it"), translated(refused.value.remedy, "it")) == (
        "Qui solo moderatori e gestori possono decidere sui casi.",
        "Chiedi a una di queste persone, oppure chiedi a un gestore il ruolo di moderatore.",
    )
    await front.close(in_review.id, in_review.version, MODERATOR, CloseReason.PREACHY)
    with pytest.raises(Conflict) as outdated:
        await front.close(in_review.id, in_review.version, OTHER_MODERATOR, CloseReason.PREACHY)
    assert "moderator_one was faster" in outdated.value.message
    assert translated(outdated.value.message, "eu") == ("moderator_one azkarragoa izan da; kasua orain: baztertuta.")


async def test_a_case_of_another_version_of_antiphon_says_what_to_do(
    front: Casework, in_review: Case, database: Database
) -> None:
    """One suggestion that cannot be read hides no case."""
    await execute(database, "UPDATE suggestions SET document = '{}'")
    card = await card_of(front, in_review)
    assert card.drafts == ()
    assert "cannot be read" in card.notes[0]


async def test_a_case_whose_drafts_all_hold_a_forbidden_word_says_so(
    front: Casework, queue: DraftQueue, post: FlaggedPost
) -> None:
    """On a chat platform's card and on the page alike, in the reader's language; also as the reason in the log."""
    said = "Ez dira erakusten komunitate honek debekatutako hitz bat duten zirriborroak: 3."
    await front.intake.take_flag(post)
    taken = await take(queue)
    dropped = sentence(
        "gates: drafts dropped for a word that the community forbids: {count} ({faults})", count=3, faults="a word ×3"
    )
    case = await queue.store(taken, replace(suggestion_for(taken.case.post, texts=()), degraded=(dropped,)))
    card = await card_of(front, case)
    assert (card.state, card.drafts) == (CaseState.NEEDS_PERSON, ())
    on_card = "\n".join(section.text for section in sections(card, plain_reader("eu"), 4000))
    assert said in on_card
    assert case_view(card, reader_for("eu", no_address))["notes"] == (said,)


async def test_drafted_cases_of_others_are_not_shown_by_accident(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, in_review: Case
) -> None:
    """A card holds one case's words."""
    other = replace(
        post, ref=replace(post.ref, message="104"), text="Another post altogether, of another day.", root="104"
    )
    case = await drafted(desk, queue, other)
    assert (await card_of(front, case)).post.text == other.text
    assert (await card_of(front, in_review)).post.text == post.text


async def test_a_post_can_be_flagged_in_nobodys_name(front: Casework, post: FlaggedPost) -> None:
    """As by an administrator whom the platform hides; they may not ask for drafts, nor decide."""
    nobody = replace(post, flagged_by="", priority=Priority.FLAGGED)
    card = await front.intake.take_flag(nobody)
    assert (await front.intake.take_flag(nobody)).case_id == card.case_id
    with pytest.raises(NotAllowed):
        await front.intake.take_flag(replace(nobody, ref=replace(post.ref, message="2"), priority=Priority.ASKED))
    with pytest.raises(NotAllowed):
        await front.hold(card.case_id, Person(PLATFORM, ""))
