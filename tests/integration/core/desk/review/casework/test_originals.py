"""A post that is edited or deleted after it was flagged: its card says so, and no approved reply to it goes out."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from adapters.sample import SampleCommunity
from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.invariants.checks import check
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason, RetractReason
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from core.errors import Conflict, NotAllowed
from core.models import FlaggedPost, MessageWords, Part, PartKind, Priority
from tests.fakes.desk.boards import posts_apart
from tests.fakes.desk.decisions import OWN_TEXT, card_of, drafted, propose, take
from tests.fakes.desk.people import MODERATOR, OTHER_MODERATOR, PLATFORM
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock


async def test_a_deletion_is_shown_and_moves_nothing_by_itself(front: Casework, in_review: Case) -> None:
    """Gone, and there again as it was flagged; no decision in flight is lost by it."""
    ref = in_review.post.ref
    for text, is_gone in ((None, True), (in_review.post.text, False)):
        await front.original_changed(ref, text)
        card = await card_of(front, in_review)
        assert (card.is_original_gone, card.is_original_edited) == (is_gone, False)
        assert (card.state, card.version) == (CaseState.IN_REVIEW, in_review.version)
    await front.original_changed(replace(ref, message="unknown"), None)


NEW_WORDS = "I was angry: they are all vermin."


async def _seen(front: Casework, _: Desk, post: FlaggedPost) -> None:
    await front.original_changed(post.ref, NEW_WORDS)


async def _flagged(_: Casework, desk: Desk, post: FlaggedPost) -> None:
    await desk.intake.flag(replace(post, text=NEW_WORDS))


@pytest.mark.parametrize("told", [_seen, _flagged], ids=["seen edited", "flagged again"])
@pytest.mark.parametrize("before", [CaseState.IN_REVIEW, CaseState.APPROVED, CaseState.NEEDS_PERSON])
async def test_an_edited_post_is_answered_anew(
    front: Casework,
    desk: Desk,
    queue: DraftQueue,
    outbox: Outbox,
    platform: SampleCommunity,
    post: FlaggedPost,
    clock: FakeClock,
    database: Database,
    told: Callable[[Casework, Desk, FlaggedPost], Awaitable[None]],
    before: CaseState,
) -> None:
    """New words and new drafts; what was approved of the old ones is void; and the new reply is sent (F2)."""
    case = await drafted(desk, queue, post)
    shown = await propose(front, case, OWN_TEXT)
    if before is not CaseState.IN_REVIEW:
        await front.approve(shown.id, MODERATOR)
    platform.edit(post.ref.message, NEW_WORDS)
    if before is CaseState.NEEDS_PERSON:
        clock.advance(15)
        assert [delivery.state for delivery in await outbox.send_due()] == [CaseState.NEEDS_PERSON]
    await told(front, desk, post)
    card = await card_of(front, case)
    assert (card.state, card.post.text, card.drafts, card.claims) == (CaseState.QUEUED, NEW_WORDS, (), ())
    assert (card.is_post_renewed, card.is_original_edited) == (True, False)
    assert card.post.thread[-1].text == post.text
    with pytest.raises(Conflict, match="has changed since you saw it"):
        await front.approve(shown.id, MODERATOR)
    taken = await take(queue)
    assert taken.case.post.text == NEW_WORDS
    again = await queue.store(taken, suggestion_for(taken.case.post))
    clock.advance(15)
    assert await outbox.send_due() == []
    await front.approve((await propose(front, again, OWN_TEXT)).id, MODERATOR)
    clock.advance(15)
    assert [delivery.state for delivery in await outbox.send_due()] == [CaseState.POSTED]
    assert await check(database) == {}


async def test_an_edit_while_drafts_are_made_begins_them_anew(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, database: Database
) -> None:
    """The worker can store nothing that it made of the old words; without a draft for the new ones a person looks."""
    await desk.intake.flag(post)
    taken = await take(queue)
    await front.original_changed(post.ref, NEW_WORDS)
    with pytest.raises(Conflict):
        await queue.store(taken, suggestion_for(taken.case.post))
    again = await take(queue)
    assert again.case.post.text == NEW_WORDS
    await queue.store(again, suggestion_for(again.case.post))
    await front.original_changed(post.ref, f"{NEW_WORDS} Truly.")
    third = await take(queue)
    case = await queue.store(third, replace(suggestion_for(third.case.post), drafts=()))
    card = await card_of(front, case)
    assert (card.state, card.drafts) == (CaseState.NEEDS_PERSON, ())
    assert [turn.text for turn in card.post.thread].count(post.text) == 1
    assert await check(database) == {}


async def test_hidden_words_are_taken_in_when_somebody_flags_the_post_again(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """What the refusal says to do leads on, and in no circle."""
    case = await drafted(desk, queue, replace(post, revision="at noon"))
    await front.original_changed(post.ref, "", revision="at one")
    assert (await card_of(front, case)).is_original_edited
    with pytest.raises(NotAllowed, match="was changed after") as caught:
        await propose(front, case, OWN_TEXT)
    assert "Flag the post again" in caught.value.remedy
    await desk.intake.flag(replace(post, text=NEW_WORDS, revision="at one"))
    taken = await take(queue)
    again = await queue.store(taken, suggestion_for(taken.case.post))
    assert (await front.approve((await propose(front, again, OWN_TEXT)).id, MODERATOR)).card.state is CaseState.APPROVED


@pytest.mark.parametrize(
    "reason", [CloseReason.NOT_HATEFUL, CloseReason.MISTAKE, CloseReason.SILENCE, CloseReason.PREACHY]
)
@pytest.mark.parametrize("how", ["flagged again", "by the card"])
async def test_a_moderator_opens_a_closed_case_again(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock, reason: CloseReason, how: str
) -> None:
    """However late: a slip of one tap can be mended; whoever else flags the post opens nothing (F10)."""
    case = await drafted(desk, queue, post)
    closed = await front.close(case.id, case.version, MODERATOR, reason)
    clock.advance(3600)
    assert (await desk.intake.flag(replace(post, flagged_by="anybody"))).state is closed.state
    assert (await desk.intake.flag(replace(post, flagged_by="moderator_two", priority=Priority.DETECTED))).state is (
        closed.state
    )
    if how == "flagged again":
        opened = await desk.intake.flag(replace(post, flagged_by=OTHER_MODERATOR.user))
        assert (opened.id, opened.state) == (case.id, CaseState.IN_REVIEW)
    else:
        opened_card = await front.reopen(case.id, closed.version, OTHER_MODERATOR)
        assert (opened_card.state, len(opened_card.drafts)) == (CaseState.IN_REVIEW, 2)
    now = await desk.queries.case(case.id)
    assert (await front.approve((await propose(front, now, OWN_TEXT)).id, MODERATOR)).card.state is CaseState.APPROVED


@pytest.mark.both_databases
async def test_the_posts_whose_changes_matter_are_those_of_open_and_of_answered_cases(
    front: Casework, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """The newest last, so that a platform remembers these."""
    cases = []
    for one in posts_apart(post, 4):
        clock.advance(1)
        cases.append(await desk.intake.flag(one))
    await front.close(cases[1].id, cases[1].version, MODERATOR, CloseReason.MISTAKE)
    refs = [case.post.ref for case in cases]
    assert await front.posts(PLATFORM, 10) == [refs[0], refs[2], refs[3]]
    assert await front.posts(PLATFORM, 1) == [refs[3]]
    assert await front.posts("elsewhere", 10) == []


async def test_hidden_words_are_compared_by_their_last_edit(front: Casework, desk: Desk, post: FlaggedPost) -> None:
    """A platform that tells only when a post was edited says twice that it was, and once that it was not."""
    case = await desk.intake.flag(replace(post, ref=replace(post.ref, message="901"), revision="at noon"))
    for revision, is_edited in (("at one", True), ("at noon", False)):
        await front.original_changed(case.post.ref, "", revision=revision)
        card = await front.card(case.id, MODERATOR)
        assert card.is_original_edited is is_edited


async def test_what_a_post_quotes_is_no_edit_and_stays_when_its_own_words_change(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The words that its author can edit are compared; drafted anew, it is read with what it quotes."""
    quoted = Part(PartKind.QUOTED, "They all steal.", "mill_pond", "Mill Pond")
    words = MessageWords.of([Part(PartKind.OWN, "so true"), quoted])
    said = replace(post, ref=replace(post.ref, message="901"), text=words.text, words=words)
    case = await drafted(desk, queue, said)
    await front.original_changed(case.post.ref, "so true")
    assert not (await card_of(front, case)).is_original_edited
    await front.close(case.id, case.version, MODERATOR, CloseReason.NOT_HATEFUL)
    await front.original_changed(case.post.ref, "every word is true")
    now = (await desk.queries.case(case.id)).post
    assert now.text == "every word is true\n\nThey all steal."
    assert [(part.kind, part.name) for part in now.words.parts] == [("own", ""), ("quoted", "Mill Pond")]
    assert now.words.parts[1].author.startswith("p-")


@pytest.mark.parametrize(("revision", "said"), [("at one", "was changed after"), (None, "is gone")])
async def test_a_reply_to_a_post_that_changed_is_refused_before_anybody_approves_it(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, revision: str | None, said: str
) -> None:
    """Where its new words are hidden, or there are none: at the proposal, and at the press on an earlier one."""
    case = await drafted(desk, queue, replace(post, revision="at noon"))
    shown = await propose(front, case, OWN_TEXT)
    await front.original_changed(case.post.ref, None if revision is None else "", revision=revision or "")
    for refused in (lambda: propose(front, case, OWN_TEXT), lambda: front.approve(shown.id, MODERATOR)):
        with pytest.raises(NotAllowed, match=said) as caught:
            await refused()
        assert caught.value.remedy
    assert (await desk.queries.case(case.id)).state is CaseState.IN_REVIEW


@pytest.mark.parametrize(("text", "state"), [("I was angry.", CaseState.QUEUED), (None, CaseState.NEEDS_PERSON)])
async def test_an_approved_reply_to_a_post_that_changed_never_goes_out(
    front: Casework,
    outbox: Outbox,
    platform: SampleCommunity,
    in_review: Case,
    clock: FakeClock,
    text: str | None,
    state: CaseState,
) -> None:
    """Even where the platform still gives out the old text; a person is asked at once."""
    await front.approve((await propose(front, in_review, OWN_TEXT)).id, MODERATOR)
    before = platform.thread()
    await front.original_changed(in_review.post.ref, text)
    card = await card_of(front, in_review)
    assert card.state is state
    clock.advance(60)
    assert await outbox.send_due() == []
    assert platform.thread() == before


async def test_a_posted_reply_whose_post_changed_can_be_retracted_from_the_card(
    front: Casework, outbox: Outbox, in_review: Case, clock: FakeClock
) -> None:
    """The card says so, and the case stays posted until somebody decides."""
    await front.approve((await propose(front, in_review, OWN_TEXT)).id, MODERATOR)
    clock.advance(16)
    await outbox.send_due()
    await front.original_changed(in_review.post.ref, None)
    card = await card_of(front, in_review)
    assert (card.state, card.is_original_gone) == (CaseState.POSTED, True)
    assert (
        await front.retract(card.case_id, card.version, MODERATOR, RetractReason.OTHER, "gone")
    ).state is CaseState.RETRACTED
