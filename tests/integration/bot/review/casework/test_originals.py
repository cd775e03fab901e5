"""A post that is edited or deleted after it was flagged: its card says so, and no approved reply to it goes out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.sample.community import SampleCommunity
from bot.compose.desk import Desk
from bot.drafting.queue import DraftQueue
from bot.sending.outbox import Outbox
from bot.store.cases.cases import Case
from core.models import FlaggedPost, MessageWords, Part, PartKind
from core.moderation.approval import CaseState
from core.moderation.closing import CloseReason, RetractReason
from core.moderation.desk_ports import Casework
from tests.fakes.desk.boards import posts_apart
from tests.fakes.desk.decisions import OWN_TEXT, card_of, drafted, propose
from tests.fakes.desk.people import MODERATOR, PLATFORM
from tests.fakes.machine.clock import FakeClock


async def test_a_change_of_the_post_is_shown_and_moves_nothing_by_itself(front: Casework, in_review: Case) -> None:
    """Edited, gone, and as it was flagged again; no decision in flight is lost by it."""
    ref = in_review.post.ref
    for text, seen in (("I was angry.", (True, False)), (None, (False, True)), (in_review.post.text, (False, False))):
        await front.original_changed(ref, text)
        card = await card_of(front, in_review)
        assert (card.is_original_edited, card.is_original_gone) == seen
        assert (card.state, card.version) == (CaseState.IN_REVIEW, in_review.version)
    await front.original_changed(replace(ref, message="unknown"), None)


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


async def test_who_approves_a_reply_to_a_changed_post_is_warned(front: Casework, in_review: Case) -> None:
    """Nothing would be sent."""
    await front.original_changed(in_review.post.ref, "I was angry.")
    assert "was changed after it was flagged" in (await propose(front, in_review, OWN_TEXT)).warnings[0]


@pytest.mark.parametrize("text", ["I was angry.", None])
async def test_an_approved_reply_to_a_post_that_changed_never_goes_out(
    front: Casework, outbox: Outbox, platform: SampleCommunity, in_review: Case, clock: FakeClock, text: str | None
) -> None:
    """Even where the platform still gives out the old text; a person is asked at once."""
    await front.approve((await propose(front, in_review, OWN_TEXT)).id, MODERATOR)
    before = platform.thread()
    await front.original_changed(in_review.post.ref, text)
    card = await card_of(front, in_review)
    assert card.state is CaseState.NEEDS_PERSON
    assert card.closed_because.startswith("The post that the reply answers")
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
