"""What who flagged a post is told, as plain text."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.common.capture.requests import is_decided, taken_in, with_drafts
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card, DraftProgress
from core.models import Draft, Evidence, FlaggedPost, Intent, PostRef, Receipt, Scores, Source, Verdict
from tests.fakes.ports.plain_markup import plain_reader

LIMIT = 2000
POST = FlaggedPost(PostRef("discord", "1", "2", "3"), "they are vermin", "4", "5", "message menu: draft")
CARD = Card("a1", 1, CaseState.QUEUED, "1", POST, datetime(2026, 3, 2, tzinfo=UTC), waiting=DraftProgress(ahead=2))


def drafted(*texts: str, title: str = "Outlook") -> Card:
    """A case with drafts, each resting on one source."""
    receipt = Receipt("A sentence.", "e1", Verdict.SUPPORTED, 0.9)
    drafts = tuple(Draft(rank, text, Intent.QUESTIONING, Scores(), (receipt,)) for rank, text in enumerate(texts, 1))
    evidence = Evidence("e1", "A passage.", "Short.", Source("OECD", title, 2021, None, "https://example.org/a"))
    return replace(CARD, state=CaseState.IN_REVIEW, drafts=drafts, evidence=(evidence,), waiting=None)


@pytest.mark.parametrize(
    ("waiting", "said"),
    [
        (None, "Nobody can tell yet"),
        (DraftProgress(ahead=2), "Nobody can tell yet"),
        (DraftProgress(ahead=2, expected_seconds=300.0), "2 cases come first; a draft is expected in 5 minutes."),
        (DraftProgress(ahead=0, expected_seconds=30.4), "A draft is expected in 30 seconds."),
        (DraftProgress(ahead=0, expected_seconds=0.0), "A draft is expected in 1 second."),
    ],
)
def test_the_wait_is_said_as_far_as_it_is_known(waiting: DraftProgress | None, said: str) -> None:
    assert said in taken_in(replace(CARD, waiting=waiting), "en", LIMIT)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (CaseState.POSTED, "This post has a reply already."),
        (CaseState.FOLDED, "almost the same as a post that was flagged before"),
        (CaseState.DECLINED, "This case is closed."),
        (CaseState.NEEDS_PERSON, "No draft could be made"),
        (CaseState.IN_REVIEW, "It is with the moderators."),
    ],
)
def test_a_case_that_is_further_on_is_said_to_be(state: CaseState, said: str) -> None:
    """A post flagged before keeps its case."""
    assert said in taken_in(replace(CARD, state=state, waiting=None), "en", LIMIT)


def test_what_holds_back_a_reply_is_said() -> None:
    """Shadow mode and a pause; closed cases promise nothing."""
    assert "only practises" in taken_in(replace(CARD, is_shadow=True), "en", LIMIT)
    assert "paused" in taken_in(replace(CARD, is_paused=True), "en", LIMIT)
    closed = taken_in(replace(CARD, state=CaseState.DECLINED), "en", LIMIT, channel="the room")
    assert "Nothing is posted" not in closed and "the room" not in closed


def test_no_answer_repeats_the_posts_words() -> None:
    """They stay in the channel where they stand, and behind the card's cover."""
    answers = [taken_in(CARD, "en", LIMIT, channel="<#9>"), with_drafts(drafted("A reply."), plain_reader(), LIMIT)]
    assert not any("vermin" in answer for answer in answers)


def test_drafts_fit_into_one_message_the_best_first_and_whole() -> None:
    """What does not fit is not cut in the middle of a sentence; a long title is left out before a draft is."""
    said = with_drafts(drafted("a" * 900, "b" * 900, "c" * 900), plain_reader(), LIMIT)
    assert len(said) <= LIMIT
    assert "a" * 900 in said and "c" * 10 not in said and "others are too long" in said
    none = with_drafts(drafted("a" * LIMIT), plain_reader(), LIMIT)
    assert "They are too long for one message" in none and "others" not in none
    titled = with_drafts(drafted("a" * 900, title="t" * 1200), plain_reader(), LIMIT)
    assert "a" * 900 in titled and "ttt" not in titled and len(titled) <= LIMIT


def test_drafts_for_words_from_elsewhere_say_that_they_cannot_be_posted() -> None:
    """There is no message that they could answer."""
    card = drafted("A reply.")
    elsewhere = replace(card, post=replace(POST, is_from_elsewhere=True))
    assert "nothing can be posted" in with_drafts(elsewhere, plain_reader(), LIMIT)
    assert "nothing can be posted" not in with_drafts(card, plain_reader(), LIMIT)


def test_who_may_see_the_review_channel_is_led_there_from_the_drafts_too() -> None:
    """A moderator who asked for them decides there; nothing is decided about words from elsewhere."""
    card = drafted("A reply.")
    elsewhere = replace(card, post=replace(POST, is_from_elsewhere=True))
    assert "Moderators review it in #review." in with_drafts(card, plain_reader(), LIMIT, "#review")
    assert "#review" not in with_drafts(elsewhere, plain_reader(), LIMIT, "#review")


def test_a_preview_is_not_the_end() -> None:
    """Better drafts may come; a case without any more to come is decided."""
    assert not is_decided(replace(drafted("A reply."), is_preview=True))
    assert not is_decided(CARD)
    assert is_decided(drafted("A reply.")) and is_decided(replace(CARD, state=CaseState.NEEDS_PERSON))


def test_what_is_promised_stands_at_the_end() -> None:
    """Only an adapter knows whether it can tell this person again, and for how long."""
    assert taken_in(CARD, "en", LIMIT, promise="Wait here.").endswith("\nWait here.")
