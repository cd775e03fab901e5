"""Decisions on a platform of plain words: no chat platform is needed for any of them."""

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.common.cards import controls
from adapters.common.cards.controls import Act, Target
from adapters.common.cards.drafts import written
from adapters.common.decisions.flows import PRESSED, SUBMITTED
from adapters.common.decisions.press import NOTE, TEXT, run_press
from core.desk.communities.decisions import CommunityDesk
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card, Holder
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person, Role
from core.models import Action, PostRef
from tests.fakes.desk.decisions import take
from tests.fakes.desk.people import KEEPER
from tests.fakes.desk.review_desk import ReviewDesk, review_desk
from tests.fakes.ports.cards import AT, DRAFTS, NOTICE, POST_TEXT, REVIEWED, samples
from tests.fakes.ports.plain_press import PlainPress

MODERATOR = Person("plain", "1", "Ane")
SECOND = Person("plain", "2", "Jon")
FLAGGER = Person("plain", "900", "Miren")


def like(card: Card = REVIEWED, message: str = "333", **changes: Any) -> Card:
    """A card of a post of the town."""
    card = replace(card, **changes)
    return replace(card, community="town", post=replace(card.post, ref=PostRef("plain", "town", "square", message)))


@pytest.fixture
async def desk(desk_file: Path) -> AsyncIterator[ReviewDesk]:
    """A desk with one case in review, two moderators and who flagged the post."""
    async with review_desk(desk_file, "plain") as made:
        made.roles |= {"1": Role.MODERATOR, "2": Role.MODERATOR}
        await made.case(like())
        yield made


async def pressed(desk: ReviewDesk, act: Act, extra: str = "", by: Person = MODERATOR) -> PlainPress:
    """Somebody presses something on the card of the last case as it is."""
    return PlainPress(desk.casework, Target(act, desk.case_id, (await desk.now()).version, extra), by)


async def press(one: PlainPress) -> PlainPress:
    """Let it be answered."""
    await run_press(one, PRESSED[one.target.act])
    return one


async def sent(one: PlainPress) -> PlainPress:
    """Let a dialog be answered."""
    await run_press(one, SUBMITTED[one.target.act])
    return one


def test_whatever_can_be_pressed_or_sent_begins_a_flow() -> None:
    """No control may be dead, on any platform."""
    assert set(PRESSED) == set(Act)
    assert set(SUBMITTED) < set(Act)


async def test_a_draft_is_approved_in_two_actions_and_shown_exactly(desk: ReviewDesk) -> None:
    """The first press shows the whole text; the second one names what was shown."""
    shown = await press(await pressed(desk, Act.APPROVE, "1"))
    whole = f"{DRAFTS[0].text}\n\nDrafted with Antiphon, checked and approved by a moderator."
    assert f"[exactly: {whole}]" in shown.said
    assert desk.casework.decided == []
    confirm = shown.controls()["Yes, post this reply"]
    done = await press(shown.then(confirm.act, confirm.extra))
    assert desk.casework.decided == [("approve", "1", whole)]
    assert "You approved this reply. The card says what becomes of it" in done.said
    assert done.controls() == {}, "this answer is never changed, so it offers nothing that ends"
    assert "sent" not in done.said


async def test_the_quote_is_shown_with_the_text_that_would_stand_below_it(desk: ReviewDesk) -> None:
    """It is approved, too; where there is none, nothing is said of it."""
    assert "quote" not in (await press(await pressed(desk, Act.APPROVE, "1"))).said
    await desk.case(
        like(message="334", post=replace(REVIEWED.post, text=f"{POST_TEXT} It is so in my street every day."))
    )
    community = (await desk.desk.queries.case(desk.case_id)).community_id
    await CommunityDesk(desk.database).configure(community, lambda _: {"quotes": True}, KEEPER)
    shown = await press(await pressed(desk, Act.APPROVE, "1"))
    assert "Above it stands a quote of the post: “is so in my street”." in shown.said
    assert f"[exactly: {DRAFTS[0].text}" in shown.said


async def test_a_text_that_no_block_shows_exactly_comes_as_a_file(desk: ReviewDesk) -> None:
    """With the name of the platform that cannot show it, and the characters that nobody sees."""
    edited = replace(await pressed(desk, Act.EDIT, "1"), fields={TEXT: "Read\tthis."})
    shown = await sent(edited)
    assert "Plain cannot show this text as it is" in shown.said
    assert "tab (1)" in shown.said
    (file,) = shown.files
    assert file.text.startswith("Read\tthis.")


async def test_a_refused_text_is_given_back(desk: ReviewDesk) -> None:
    """Nothing that somebody typed is lost."""
    refused = await sent(replace(await pressed(desk, Act.EDIT, "0"), fields={TEXT: "w" * 2000}))
    assert f"[exactly: {'w' * 2000}]" in refused.said
    assert "Shorten it" in refused.said


@pytest.mark.parametrize("rank", ["0", "1"])
async def test_a_refused_text_is_mended_instead_of_typed_anew(desk: ReviewDesk, rank: str) -> None:
    """The form opens with the person's own text, and remembers the draft that it began as."""
    refused = await sent(replace(await pressed(desk, Act.EDIT, rank), fields={TEXT: "w" * 2000}))
    (offered,) = [screen for screen in refused.screens if screen.controls]
    (mend,) = offered.controls
    opened = await press(replace(await pressed(desk, mend.act, mend.extra)))
    (dialog,) = opened.dialogs
    assert (dialog.text, dialog.target) == (
        "w" * 2000,
        Target(Act.EDIT, desk.case_id, (await desk.now()).version, rank),
    )


async def test_what_closed_a_case_can_be_undone_by_the_next_press(desk: ReviewDesk) -> None:
    """It stands under the sentence that says what was done."""
    done = await press(await pressed(desk, Act.NOT_HATEFUL))
    assert "Closed: not hateful." in done.said
    undone = await press(done.then(done.controls()["Undo"].act))
    assert [what for what, _, _ in desk.casework.decided] == ["close", "undo"]
    assert "the case is in review again" in undone.said


async def test_the_second_person_approves_the_very_text_of_the_first(desk: ReviewDesk) -> None:
    """Named by its bytes: a text that came into its place is never approved for it."""
    card = await desk.case(like(message="334", why_two=("So.",), first_approvals=("Ane",), first_texts=("One text.",)))
    (first,) = written(card)
    shown = await press(await pressed(desk, Act.APPROVE, first.key, SECOND))
    assert "[exactly: One text." in shown.said
    desk.clock.advance(25 * 3600)
    await desk.approve(desk.ane, "Another text.")
    refused = await press(await pressed(desk, Act.APPROVE, first.key, SECOND))
    assert "Nobody's approval of this text waits any more." in refused.said


@pytest.mark.parametrize(
    ("act", "values", "kept"),
    [
        (Act.REDRAFT_AS, ("any",), ("redraft", "1", None)),
        (Act.CLAIM_AS, ("1",), ("redraft", "1", REVIEWED.claims[1])),
        (Act.CLOSE_AS, ("PREACHY",), ("close", "1", (CloseReason.PREACHY, ""))),
    ],
)
async def test_what_is_chosen_is_decided(
    desk: ReviewDesk, act: Act, values: tuple[str, ...], kept: tuple[object, ...]
) -> None:
    """One call of the desk for each, with the version that the person saw."""
    await press(replace(await pressed(desk, act), values=values))
    assert desk.casework.decided == [kept]


async def test_a_reason_of_ones_own_is_asked_for_first(desk: ReviewDesk) -> None:
    """And comes back under the same act, with its words."""
    asked = await press(replace(await pressed(desk, Act.CLOSE_AS), values=("OTHER",)))
    (dialog,) = asked.dialogs
    assert (dialog.target.act, dialog.field, desk.casework.decided) == (Act.CLOSE_AS, NOTE, [])
    await sent(asked.then(Act.CLOSE_AS, fields={NOTE: "Not for us."}))
    assert desk.casework.decided == [("close", "1", (CloseReason.OTHER, "Not for us."))]


async def test_every_claim_can_be_argued_where_the_drafts_argue_none(desk: ReviewDesk) -> None:
    """A larger writer chooses by itself what it says; the only claim is then another one, too."""
    await desk.case(like(message="334", argued=None))
    options = (await press(await pressed(desk, Act.OTHER_CLAIM))).screens[-1].options
    assert options is not None
    assert [words for _, words in options.rows] == [f"{number}. {one}" for number, one in enumerate(REVIEWED.claims, 1)]
    await press(replace(await pressed(desk, Act.CLAIM_AS), values=("1",)))
    assert desk.casework.decided == [("redraft", "1", REVIEWED.claims[0])]
    alone = replace(REVIEWED, argued=None, claims=REVIEWED.claims[:1])
    assert Act.OTHER_CLAIM in {control.act for control in controls.for_menu(alone, "en")}
    argued = replace(alone, argued=alone.claims[0])
    assert Act.OTHER_CLAIM not in {control.act for control in controls.for_menu(argued, "en")}


async def test_options_name_what_comes_of_them(desk: ReviewDesk) -> None:
    """Every other claim by its number and words, and the one that is argued already not at all."""
    asked = await press(await pressed(desk, Act.OTHER_CLAIM))
    options = asked.screens[-1].options
    assert options is not None
    assert options.target.act is Act.CLAIM_AS
    assert options.rows == (("1", "1. Newcomers work."), ("2", "2. Nobody chooses where they are born."))


async def test_an_outdated_press_shows_the_case_as_it_is(desk: ReviewDesk) -> None:
    """On the card for who may review; to one person where it happened in private."""
    old = await pressed(desk, Act.UNDO)
    now = await desk.moved()
    told = await press(old)
    assert [card.version for card in told.cards] == [now.version]
    assert "The card now shows the case as it is." in told.said
    private = await press(
        replace(await pressed(desk, Act.UNDO), target=old.target, is_on_card=False, screens=[], cards=[])
    )
    assert private.cards == []
    assert "This is how the case stood when you pressed" in private.said


async def test_what_the_card_says_already_is_not_said_again_below_a_refusal(desk: ReviewDesk) -> None:
    """Somebody else holds the case: who and how long, and what to do, and the card that shows the hold."""
    await desk.case(like(message="334", holder=Holder("Ane", AT)))
    told = await press(await pressed(desk, Act.NOT_HATEFUL, by=SECOND))
    assert len(told.cards) == 1 and "Ane holds the case" in told.said
    assert "The card now shows" not in told.said


@pytest.mark.parametrize(("act", "extra"), [(Act.OTHER_CLAIM, ""), (Act.APPROVE, "t0123456789")])
async def test_what_a_mere_flagger_sees_is_never_put_on_the_card_of_all(desk: ReviewDesk, act: Act, extra: str) -> None:
    """They see less of a case than reviewers do, whatever they press before the desk refuses it."""
    one = await pressed(desk, act, extra, FLAGGER)
    await desk.moved()
    told = await press(one)
    assert told.cards == []


async def test_an_unforeseen_error_is_told_without_its_words(
    desk: ReviewDesk, caplog: pytest.LogCaptureFixture
) -> None:
    """It may quote somebody; the log has its kind and place."""
    desk.casework.trouble = ValueError("somebody's words")
    told = await press(await pressed(desk, Act.HOLD))
    assert "Antiphon could not finish this." in told.said
    assert "ValueError" in caplog.text
    assert "somebody's words" not in told.said + caplog.text


async def test_an_answer_that_cannot_be_given_is_logged(desk: ReviewDesk, caplog: pytest.LogCaptureFixture) -> None:
    """Who pressed waits for nothing then; nothing is decided twice."""
    one = replace(await pressed(desk, Act.HOLD), trouble=ConnectionError())
    with caplog.at_level(logging.WARNING):
        await press(one)
    assert [what for what, _, _ in desk.casework.decided] == ["hold"]
    assert "ConnectionError" in caplog.text


async def test_what_is_long_comes_in_a_file_and_the_post_covered(desk: ReviewDesk) -> None:
    """A message has a limit on every platform."""
    await desk.case(like(message="334", post=replace(REVIEWED.post, text="w" * 3000)))
    shown = await press(await pressed(desk, Act.SHOW_POST))
    (file,) = shown.files
    assert file.is_covered
    assert "w" * 3000 in file.text
    drafts = await press(await pressed(desk, Act.SHOW_DRAFTS))
    assert drafts.files == []
    assert DRAFTS[0].text in drafts.said


async def test_the_drafts_that_are_not_on_the_card_come_each_with_its_scores_and_buttons(
    desk: ReviewDesk,
) -> None:
    """They are folded there behind one control."""
    shown = await press(await pressed(desk, Act.SHOW_DRAFTS, controls.OTHERS))
    (draft,) = shown.screens
    assert DRAFTS[0].text not in shown.said
    assert draft.parts[0] == (
        f"Draft 2 (asks a question; written by the model)\n{DRAFTS[1].text}\n"
        "states nothing that needs a source; fair argument; opposes the post; tone not checked; "
        "another draft may be better."
    )
    assert [control.label for control in draft.controls] == ["Approve draft 2…", "Edit draft 2…"]
    assert (draft.case_id, draft.version) == (desk.case_id, (await desk.now()).version)
    approve = draft.controls[0]
    asked = await press(await pressed(desk, approve.act, approve.extra))
    assert DRAFTS[1].text in asked.said


async def test_what_the_drafts_lack_is_said_under_more(desk: ReviewDesk) -> None:
    """Where no draft is on the card, the card says it."""
    notes = ("claims: no draft argues the claim that was chosen",)
    said = "Note: No draft argues the claim that was chosen."
    await desk.case(like(message="334", notes=notes))
    assert said in (await press(await pressed(desk, Act.MORE))).said
    await desk.case(like(message="335", notes=notes, state=CaseState.NEEDS_PERSON, drafts=()))
    assert said not in (await press(await pressed(desk, Act.MORE))).said


async def test_the_receipts_of_one_draft_come_with_it(desk: ReviewDesk) -> None:
    """The card only counts its sources and warnings."""
    shown = await press(await pressed(desk, Act.SHOW_DRAFTS, "1"))
    assert DRAFTS[1].text not in shown.said
    assert "supported; OECD, International Migration Outlook, 2021 (https://example.org/outlook?a=1)." in shown.said
    assert "Check: The second source covers some countries only." in shown.said
    gone = await press(await pressed(desk, Act.SHOW_DRAFTS, "9"))
    assert "This draft is not there any more." in gone.said


async def test_the_first_of_two_persons_is_not_told_that_they_post(desk: ReviewDesk) -> None:
    """Their button asks for a second person; only the second one's posts."""
    await desk.case(like(message="334", why_two=("So.",)))
    first = await press(await pressed(desk, Act.APPROVE, "1"))
    (label, confirm), *_ = first.controls().items()
    assert label == "Yes, and ask a second person"
    await press(first.then(confirm.act, confirm.extra))
    second = await press(await pressed(desk, Act.APPROVE, "1", SECOND))
    assert list(second.controls()) == ["Yes, post this reply"]
    assert "you are the second" in second.said


async def test_the_menu_offers_what_the_state_allows(desk: ReviewDesk) -> None:
    """A case that needs a person can be settled; one in review can be answered in one's own words."""
    in_review = await press(await pressed(desk, Act.MORE))
    assert "Write a reply of your own…" in in_review.controls()
    await desk.case(like(samples()["Needs a person"], "334"))
    stuck = await press(await pressed(desk, Act.MORE))
    assert {"The reply is there", "The reply is not there"} <= set(stuck.controls())


@pytest.mark.parametrize(("act", "state"), [(Act.IS_POSTED, CaseState.POSTED), (Act.NOT_POSTED, CaseState.FAILED)])
async def test_who_looked_says_what_stands_there(desk: ReviewDesk, act: Act, state: CaseState) -> None:
    """And the answer says what became of the case."""
    await desk.case(like(samples()["Needs a person"], "334"))
    noted = await press(await pressed(desk, act))
    assert (await desk.now()).state is state
    assert noted.said.startswith("Noted.")


WITHOUT_DRAFT: dict[str, dict[str, Any]] = {
    "the engine offers none": {},
    "the notice alone": {"drafts": (NOTICE,), "state": CaseState.IN_REVIEW},
    "the language is unread": {
        "advice": Action.STAY_SILENT,
        "gist": None,
        "is_gist_ours": False,
        "claims": (),
        "evidence": (),
        "argued": None,
    },
}


@pytest.mark.parametrize("how", WITHOUT_DRAFT)
async def test_a_case_without_a_draft_is_answered_in_ones_own_words(desk: ReviewDesk, how: str) -> None:
    """In two actions, like every draft: the exact text is shown, then approved."""
    bare = like(message="334", **{"state": CaseState.NEEDS_PERSON, "drafts": (), "argued": None} | WITHOUT_DRAFT[how])
    card = await desk.case(bare)
    own = controls.for_case(card, "en")[0]
    assert own.label == "Write a reply of your own…"
    opened = await press(await pressed(desk, own.act, own.extra))
    (dialog,) = opened.dialogs
    assert (dialog.text, desk.casework.decided) == ("", [])
    shown = await sent(opened.then(dialog.target.act, dialog.target.extra, fields={TEXT: "We live here together."}))
    whole = "We live here together.\n\nDrafted with Antiphon, checked and approved by a moderator."
    assert f"[exactly: {whole}]" in shown.said
    assert (await desk.now()).state is CaseState.IN_REVIEW
    await press(shown.then(Act.CONFIRM, shown.controls()["Yes, post this reply"].extra))
    assert desk.casework.decided == [("approve", "1", whole)]
    desk.clock.advance(16)
    await desk.outbox.send_due()
    assert desk.chat.replies() == [("334", whole)]


async def test_a_case_without_a_draft_is_left_closed_or_asked_about_again(desk: ReviewDesk) -> None:
    """Each by one of the four controls under its card."""
    bare: dict[str, Any] = {"state": CaseState.NEEDS_PERSON, "drafts": (), "argued": None}
    for number, (label, state) in enumerate(
        [("Leave it without a reply", CaseState.NO_REPLY), ("Ask for drafts again", CaseState.QUEUED)]
    ):
        card = await desk.case(like(message=f"34{number}", **bare))
        offered = {control.label: control for control in controls.for_case(card, "en")}
        assert [*offered][1:] == ["Leave it without a reply", "Ask for drafts again", "Close…", "More…"]
        await press(await pressed(desk, offered[label].act, offered[label].extra))
        assert (await desk.now()).state is state


async def test_a_reply_to_a_post_of_which_nothing_is_known_is_checked_and_needs_two(desk: ReviewDesk) -> None:
    """No worker could read it; the first person is told before they approve."""
    await desk.case(like(message="334", state=CaseState.QUEUED))
    await desk.queue.give_up(await take(desk.queue), "The model makes no sense.")
    card = await desk.now()
    assert controls.for_case(card, "en")[0].extra == controls.OWN_TEXT
    shown = await sent(replace(await pressed(desk, Act.EDIT, "0"), fields={TEXT: "In 1850 there were 73% of us."}))
    assert "Nothing is known of this post." in shown.said
    assert "73" in shown.said.replace("[exactly: In 1850 there were 73% of us.", "")
    confirm = shown.controls()["Yes, and ask a second person"]
    told = await press(shown.then(confirm.act, confirm.extra))
    assert "A second person must approve the same text." in told.said
    assert (await desk.now()).first_approvals == ("Ane",)


async def test_a_reply_of_ones_own_waits_in_review_after_a_failed_send(desk: ReviewDesk) -> None:
    """It is not put back into the queue, where it would be lost."""
    bare = like(message="334", state=CaseState.NEEDS_PERSON, drafts=(), argued=None)
    await desk.case(bare)
    await desk.approve(desk.ane, "We live here together.")
    desk.chat.delete("334")
    desk.clock.advance(16)
    await desk.outbox.send_due()
    card = await desk.now()
    assert (card.state, card.lacks_draft) == (CaseState.NEEDS_PERSON, False)
    await press(await pressed(desk, Act.REOPEN))
    assert (await desk.now()).state is CaseState.IN_REVIEW


async def test_a_case_whose_drafting_fails_goes_on_without_drafts(desk: ReviewDesk) -> None:
    """The writer cannot be reached: a person takes the case out of the queue, and no worker drafts it any more."""
    await desk.case(like(message="334", state=CaseState.QUEUED))
    assert Act.REOPEN not in {control.act for control in controls.for_case(await desk.now(), "en")}
    taken = await take(desk.queue)
    await desk.queue.fail(taken, "The model cannot be reached.", is_away=True)
    card = await desk.now()
    first = controls.for_case(card, "en")[0]
    assert (card.state, first.label) == (CaseState.QUEUED, "Go on without drafts")
    await press(await pressed(desk, first.act))
    card = await desk.now()
    assert (card.state, controls.for_case(card, "en")[0].extra) == (CaseState.IN_REVIEW, controls.OWN_TEXT)
    desk.clock.advance(3600)
    assert await desk.queue.take() is None
