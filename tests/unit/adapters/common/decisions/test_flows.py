"""Decisions on a platform of plain words: no chat platform is needed for any of them."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from adapters.common.cards import controls
from adapters.common.cards.acts import Act, Target
from adapters.common.cards.first_texts import written
from adapters.common.decisions.answering import answered
from adapters.common.decisions.flows import PRESSED, SUBMITTED
from adapters.common.decisions.press import NOTE, TEXT
from core.moderation.approval import CaseState
from core.moderation.cards import Card, Holder
from core.moderation.closing import CloseReason
from core.moderation.roles import Person, Role
from tests.fakes.ports.cards import CASE_ID, DRAFTS, REVIEWED
from tests.fakes.ports.casework import MemoryCasework
from tests.fakes.ports.plain_press import PlainPress

MODERATOR = Person("plain", "1", "Ane")
SECOND = Person("plain", "2", "Jon")
FLAGGER = Person("plain", "900", "Miren")


@pytest.fixture
def casework() -> MemoryCasework:
    """A desk in memory with one case in review, two moderators and who flagged the post."""
    made = MemoryCasework(roles={"1": Role.MODERATOR, "2": Role.MODERATOR})
    made.put(REVIEWED)
    return made


def pressed(casework: MemoryCasework, act: Act, extra: str = "", by: Person = MODERATOR) -> PlainPress:
    """Somebody presses something on the card as it is."""
    return PlainPress(casework, Target(act, CASE_ID, casework.cases[CASE_ID].version, extra), by)


async def press(one: PlainPress) -> PlainPress:
    """Let it be answered."""
    await answered(one, PRESSED[one.target.act])
    return one


async def sent(one: PlainPress) -> PlainPress:
    """Let a dialog be answered."""
    await answered(one, SUBMITTED[one.target.act])
    return one


def test_whatever_can_be_pressed_or_sent_begins_a_flow() -> None:
    """No control may be dead, on any platform."""
    assert set(PRESSED) == set(Act)
    assert set(SUBMITTED) < set(Act)


async def test_a_draft_is_approved_in_two_actions_and_shown_exactly(casework: MemoryCasework) -> None:
    """The first press shows the whole text; the second one names what was shown."""
    shown = await press(pressed(casework, Act.APPROVE, "1"))
    whole = f"{DRAFTS[0].text}\n\nDrafted with Antiphon, checked and approved by a moderator."
    assert f"[exactly: {whole}]" in shown.said
    assert casework.decided == []
    confirm = shown.controls()["Yes, post this reply"]
    done = await press(shown.then(confirm.act, confirm.extra))
    assert casework.decided == [("approve", "1", whole)]
    assert "You approved this reply. The card says what becomes of it" in done.said
    assert done.controls() == {}, "this answer is never changed, so it offers nothing that ends"
    assert "sent" not in done.said


async def test_the_quote_is_shown_with_the_text_that_would_stand_below_it(casework: MemoryCasework) -> None:
    """It is approved, too; where there is none, nothing is said of it."""
    assert "quote" not in (await press(pressed(casework, Act.APPROVE, "1"))).said
    casework.quote = "in my street"
    shown = await press(pressed(casework, Act.APPROVE, "1"))
    assert "Above it stands a quote of the post: “in my street”." in shown.said
    assert f"[exactly: {DRAFTS[0].text}" in shown.said


async def test_a_text_that_no_block_shows_exactly_comes_as_a_file(casework: MemoryCasework) -> None:
    """With the name of the platform that cannot show it, and the characters that nobody sees."""
    edited = replace(pressed(casework, Act.EDIT, "1"), fields={TEXT: "Read \u202ethis."})
    shown = await sent(edited)
    assert "Plain cannot show this text as it is" in shown.said
    assert "RIGHT-TO-LEFT OVERRIDE (1)" in shown.said
    (file,) = shown.files
    assert file.text.startswith("Read \u202ethis.")


async def test_a_refused_text_is_given_back(casework: MemoryCasework) -> None:
    """Nothing that somebody typed is lost."""
    refused = await sent(replace(pressed(casework, Act.EDIT, "0"), fields={TEXT: "w" * 2000}))
    assert f"[exactly: {'w' * 2000}]" in refused.said
    assert "Shorten it" in refused.said


@pytest.mark.parametrize("rank", ["0", "1"])
async def test_a_refused_text_is_mended_instead_of_typed_anew(casework: MemoryCasework, rank: str) -> None:
    """The form opens with the person's own text, and remembers the draft that it began as."""
    refused = await sent(replace(pressed(casework, Act.EDIT, rank), fields={TEXT: "w" * 2000}))
    (offered,) = [screen for screen in refused.screens if screen.controls]
    (mend,) = offered.controls
    opened = await press(replace(pressed(casework, mend.act, mend.extra)))
    (dialog,) = opened.dialogs
    assert (dialog.text, dialog.target) == ("w" * 2000, Target(Act.EDIT, CASE_ID, REVIEWED.version, rank))


async def test_what_closed_a_case_can_be_undone_by_the_next_press(casework: MemoryCasework) -> None:
    """It stands under the sentence that says what was done."""
    done = await press(pressed(casework, Act.NOT_HATEFUL))
    assert "Closed: not hateful." in done.said
    undone = await press(done.then(done.controls()["Undo"].act))
    assert [what for what, _, _ in casework.decided] == ["close", "undo"]
    assert "the case is in review again" in undone.said


async def test_the_second_person_approves_the_very_text_of_the_first(casework: MemoryCasework) -> None:
    """Named by its bytes: a text that came into its place is never approved for it."""
    card = replace(REVIEWED, why_two=("So.",), first_approvals=("Ane",), first_texts=("One text.",))
    casework.put(card)
    (first,) = written(card)
    shown = await press(pressed(casework, Act.APPROVE, first.key, SECOND))
    assert "[exactly: One text." in shown.said
    casework.put(replace(card, first_texts=("Another text.",)))
    refused = await press(pressed(casework, Act.APPROVE, first.key, SECOND))
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
    casework: MemoryCasework, act: Act, values: tuple[str, ...], kept: tuple[object, ...]
) -> None:
    """One call of the desk for each, with the version that the person saw."""
    await press(replace(pressed(casework, act), values=values))
    assert casework.decided == [kept]


async def test_a_reason_of_ones_own_is_asked_for_first(casework: MemoryCasework) -> None:
    """And comes back under the same act, with its words."""
    asked = await press(replace(pressed(casework, Act.CLOSE_AS), values=("OTHER",)))
    (dialog,) = asked.dialogs
    assert (dialog.target.act, dialog.field, casework.decided) == (Act.CLOSE_AS, NOTE, [])
    await sent(asked.then(Act.CLOSE_AS, fields={NOTE: "Not for us."}))
    assert casework.decided == [("close", "1", (CloseReason.OTHER, "Not for us."))]


async def test_every_claim_can_be_argued_where_the_drafts_argue_none(casework: MemoryCasework) -> None:
    """A larger writer chooses by itself what it says; the only claim is then another one, too."""
    casework.put(replace(REVIEWED, argued=None))
    options = (await press(pressed(casework, Act.OTHER_CLAIM))).screens[-1].options
    assert options is not None
    assert [words for _, words in options.rows] == [f"{number}. {one}" for number, one in enumerate(REVIEWED.claims, 1)]
    await press(replace(pressed(casework, Act.CLAIM_AS), values=("1",)))
    assert casework.decided == [("redraft", "1", REVIEWED.claims[0])]
    alone = replace(REVIEWED, argued=None, claims=REVIEWED.claims[:1])
    assert Act.OTHER_CLAIM in {control.act for control in controls.for_menu(alone, "en")}
    argued = replace(alone, argued=alone.claims[0])
    assert Act.OTHER_CLAIM not in {control.act for control in controls.for_menu(argued, "en")}


async def test_options_name_what_comes_of_them(casework: MemoryCasework) -> None:
    """Every other claim by its number and words, and the one that is argued already not at all."""
    asked = await press(pressed(casework, Act.OTHER_CLAIM))
    options = asked.screens[-1].options
    assert options is not None
    assert options.target.act is Act.CLAIM_AS
    assert options.rows == (("1", "1. Newcomers work."), ("2", "2. Nobody chooses where they are born."))


async def test_an_outdated_press_shows_the_case_as_it_is(casework: MemoryCasework) -> None:
    """On the card for who may review; to one person where it happened in private."""
    old = pressed(casework, Act.UNDO)
    casework.put(replace(REVIEWED, version=9))
    told = await press(old)
    assert [card.version for card in told.cards] == [9]
    assert "The card now shows the case as it is." in told.said
    private = await press(
        replace(pressed(casework, Act.UNDO), target=old.target, is_on_card=False, screens=[], cards=[])
    )
    assert private.cards == []
    assert "This is how the case stood when you pressed" in private.said


async def test_what_the_card_says_already_is_not_said_again_below_a_refusal(casework: MemoryCasework) -> None:
    """Somebody else holds the case: who and how long, and what to do, and the card that shows the hold."""
    casework.put(replace(REVIEWED, holder=Holder("Jon", REVIEWED.opened_at)))
    told = await press(pressed(casework, Act.NOT_HATEFUL))
    assert len(told.cards) == 1 and "Jon" in told.said
    assert "The card now shows" not in told.said


@pytest.mark.parametrize(
    "target", [Target(Act.OTHER_CLAIM, CASE_ID, 3), Target(Act.APPROVE, CASE_ID, 3, "t0123456789")]
)
async def test_what_a_mere_flagger_sees_is_never_put_on_the_card_of_all(
    casework: MemoryCasework, target: Target
) -> None:
    """They see less of a case than reviewers do, whatever they press before the desk refuses it."""
    casework.put(replace(REVIEWED, version=9, is_partial=True))
    one = PlainPress(casework, target, FLAGGER)
    told = await press(one)
    assert told.cards == []


async def test_an_unforeseen_error_is_told_without_its_words(
    casework: MemoryCasework, caplog: pytest.LogCaptureFixture
) -> None:
    """It may quote somebody; the log has its kind and place."""
    casework.trouble = ValueError("somebody's words")
    told = await press(pressed(casework, Act.HOLD))
    assert "Antiphon could not finish this." in told.said
    assert "ValueError" in caplog.text
    assert "somebody's words" not in told.said + caplog.text


async def test_an_answer_that_cannot_be_given_is_logged(
    casework: MemoryCasework, caplog: pytest.LogCaptureFixture
) -> None:
    """Who pressed waits for nothing then; nothing is decided twice."""
    one = replace(pressed(casework, Act.HOLD), trouble=ConnectionError())
    with caplog.at_level(logging.WARNING):
        await press(one)
    assert [what for what, _, _ in casework.decided] == ["hold"]
    assert "ConnectionError" in caplog.text


async def test_what_is_long_comes_in_a_file_and_the_post_covered(casework: MemoryCasework) -> None:
    """A message has a limit on every platform."""
    casework.put(replace(REVIEWED, post=replace(REVIEWED.post, text="w" * 3000)))
    shown = await press(pressed(casework, Act.SHOW_POST))
    (file,) = shown.files
    assert file.is_covered
    assert "w" * 3000 in file.text
    drafts = await press(pressed(casework, Act.SHOW_DRAFTS))
    assert drafts.files == []
    assert DRAFTS[0].text in drafts.said


async def test_the_drafts_that_are_not_on_the_card_come_each_with_its_scores_and_buttons(
    casework: MemoryCasework,
) -> None:
    """They are folded there behind one control."""
    shown = await press(pressed(casework, Act.SHOW_DRAFTS, controls.OTHERS))
    (draft,) = shown.screens
    assert DRAFTS[0].text not in shown.said
    assert draft.parts[0] == (
        f"Draft 2 (asks a question; written by the model)\n{DRAFTS[1].text}\n"
        "states nothing that needs a source; fair argument; opposes the post; toxicity unverified; "
        "its place among the drafts is unsure."
    )
    assert [control.label for control in draft.controls] == ["Approve draft 2…", "Edit draft 2…"]
    assert (draft.case_id, draft.version) == (CASE_ID, REVIEWED.version)
    approve = draft.controls[0]
    asked = await press(pressed(casework, approve.act, approve.extra))
    assert DRAFTS[1].text in asked.said


async def test_what_the_drafts_lack_is_said_under_more(casework: MemoryCasework) -> None:
    """Where no draft is on the card, the card says it."""
    (menu,) = (await press(pressed(casework, Act.MORE))).screens
    assert str(menu.parts[0]).splitlines()[-1] == "Note: The judge gave no answer."
    casework.put(replace(REVIEWED, drafts=()))
    assert "The judge gave no answer." not in (await press(pressed(casework, Act.MORE))).said


async def test_the_receipts_of_one_draft_come_with_it(casework: MemoryCasework) -> None:
    """The card only counts its sources and warnings."""
    shown = await press(pressed(casework, Act.SHOW_DRAFTS, "1"))
    assert DRAFTS[1].text not in shown.said
    assert "supported; OECD, International Migration Outlook, 2021 (https://example.org/outlook?a=1)." in shown.said
    assert "Check: The second source covers some countries only." in shown.said
    gone = await press(pressed(casework, Act.SHOW_DRAFTS, "9"))
    assert "This draft is not there any more." in gone.said


async def test_the_first_of_two_persons_is_not_told_that_they_post(casework: MemoryCasework) -> None:
    """Their button asks for a second person; only the second one's posts."""
    casework.put(replace(REVIEWED, why_two=("So.",)))
    first = await press(pressed(casework, Act.APPROVE, "1"))
    (label, confirm), *_ = first.controls().items()
    assert label == "Yes, and ask a second person"
    await press(first.then(confirm.act, confirm.extra))
    second = await press(pressed(casework, Act.APPROVE, "1", SECOND))
    assert list(second.controls()) == ["Yes, post this reply"]
    assert "you are the second" in second.said


async def test_the_menu_offers_what_the_state_allows(casework: MemoryCasework) -> None:
    """A case that needs a person can be settled; one in review can be answered in one's own words."""
    in_review = await press(pressed(casework, Act.MORE))
    assert "Write a reply of your own…" in in_review.controls()
    casework.put(replace(REVIEWED, state=CaseState.NEEDS_PERSON, may_be_posted=True))
    stuck = await press(pressed(casework, Act.MORE))
    assert {"The reply is there", "The reply is not there"} <= set(stuck.controls())


@pytest.mark.parametrize(("act", "state"), [(Act.IS_POSTED, CaseState.POSTED), (Act.NOT_POSTED, CaseState.FAILED)])
async def test_who_looked_says_what_stands_there(casework: MemoryCasework, act: Act, state: CaseState) -> None:
    """And the answer says what became of the case."""
    casework.put(replace(REVIEWED, state=CaseState.NEEDS_PERSON, may_be_posted=True))
    noted = await press(pressed(casework, act))
    decided: Card = casework.cases[CASE_ID]
    assert decided.state is state
    assert noted.said.startswith("Noted.")
