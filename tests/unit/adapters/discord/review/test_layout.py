"""What a card says and offers: neutral first, in words, with nothing told by colour alone."""

import re
from dataclasses import replace

import pytest

from adapters.common.cards.controls import for_menu
from adapters.discord.review.items import card_layout
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card, EarlierCases, ReviewOfPrepared
from core.desk.rules.closures import CloseReason, close_reasons
from core.models import FlaggedPost, Priority
from tests.fakes.discord.messages import (
    buttons_of,
    components_of,
    phone_lines,
    proposal_layout,
    read_as_discord_shows,
    texts_of,
)
from tests.fakes.ports.cards import AT, CASE_ID, DRAFTS, PROPOSAL, REALISTIC, REVIEWED, samples


def test_a_phone_shows_the_first_approval_within_28_lines_and_closing_right_below() -> None:
    """A card of the usual length, with its whole post: the buttons that decide are in sight together."""
    lines = phone_lines(card_layout(REALISTIC, "en").to_components())
    approve, closing = (next(n for n, line in enumerate(lines, 1) if f"[{what}" in line) for what in ("Appr", "Hold"))
    assert approve <= 28
    assert "[Not hateful]".replace(" ", "\N{NO-BREAK SPACE}") in lines[closing - 1]
    assert lines[closing].startswith("[Close…]")
    assert closing - approve <= 2
    assert "Caution: Do not suggest that" in "\n".join(lines[:approve])
    assert len(lines) <= 31


@pytest.mark.parametrize("name", ["Posted", "Shadowed", "Declined", "Left without a reply", "Expired", "Retracted"])
def test_a_closed_card_has_three_lines_and_says_closed_first(name: str) -> None:
    """What was posted or decided, by whom and when: the open cases are found between them."""
    (text,) = texts_of(card_layout(samples()[name], "en").to_components())
    assert text.startswith("**Closed 01234:**")
    assert len(text.splitlines()) <= 3
    assert "<t:" in text
    (first, *_) = texts_of(card_layout(REVIEWED, "en").to_components())
    assert first.startswith("**Open 01234:**")


@pytest.mark.parametrize("name", ["Approved", "Approved in shadow mode", "Being sent", "Needs a person", "Failed"])
def test_what_was_approved_and_by_whom_is_on_the_card(name: str) -> None:
    """From the approval on; a colleague can judge it while it can still be taken back."""
    shown = read_as_discord_shows("\n".join(texts_of(card_layout(samples()[name], "en").to_components())))
    assert PROPOSAL.text in "\n\n".join(shown.splitlines()) or PROPOSAL.text.replace("\n\n", "\n") in shown
    assert "**Approved by Ane, <t:1772452800:f>.**" in shown
    assert DRAFTS[1].text not in shown


@pytest.mark.parametrize("name", ["Posted", "Shadowed", "Retracted"])
def test_a_closed_card_keeps_what_was_approved(name: str) -> None:
    """In shadow mode it is all that the trial period leaves to look at; that mode is said once."""
    shown = read_as_discord_shows("\n".join(texts_of(card_layout(samples()[name], "en").to_components())))
    assert "“Most newcomers work." in shown
    assert "Approved by Ane, <t:1772452800:f>." in shown
    assert shown.casefold().count("shadow") == (1 if name == "Shadowed" else 0)


@pytest.mark.parametrize(("gist", "is_ours"), [("they are v3rmin", True), ("They take the houses.", False)])
def test_a_gist_with_a_slur_or_of_a_model_is_covered_and_never_notified(gist: str, is_ours: bool) -> None:
    """Only a sentence of our own cards stands openly where notifications begin."""
    card = replace(REVIEWED, gist=gist, is_gist_ours=is_ours)
    shown = "\n".join(texts_of(card_layout(card, "en").to_components()))
    assert f"||{gist}||".replace(".|", "\\.|") in shown
    assert gist[:9] not in str(card_layout(card, "en", covers_all=True).to_components())


def test_a_name_that_is_a_slur_is_covered_and_no_name_of_an_author_is_notified() -> None:
    """Names are words of others, too."""
    for name, shown in (("v3rmin_hunter v3rmin", "||v3rmin"), ("slate*roof", "By slate\\*roof")):
        card = replace(REVIEWED, post=replace(REVIEWED.post, author_name=name))
        assert shown in "\n".join(texts_of(card_layout(card, "en").to_components()))
        assert name[:5] not in str(card_layout(card, "en", covers_all=True).to_components())


@pytest.mark.parametrize(
    ("post", "flagger", "said"),
    [
        (REVIEWED.post, "Jon", "by Jon"),
        (REVIEWED.post, "", "by a member"),
        (replace(REVIEWED.post, priority=Priority.DETECTED), "", "by the filter"),
        (replace(REVIEWED.post, flagged_how="report"), "", "by a report"),
    ],
)
def test_a_card_says_who_wrote_where_and_what_flagged_it(post: FlaggedPost, flagger: str, said: str) -> None:
    """As every moderation tool does; a mention of the channel and a mark of time, both by the reader's app."""
    shown = "\n".join(texts_of(card_layout(replace(REVIEWED, post=post, flagger=flagger), "en").to_components()))
    assert f"By slate\\_roof · <#222> · flagged <t:1772452800:R> {said}\n" in shown
    assert "Earlier: 3 (2 answered, 1 not hateful)." in shown


def test_a_text_of_ones_own_that_waits_for_a_second_person_stands_on_the_card() -> None:
    """Whole, with who approved it and a button for this very text; one that is a draft is named by its rank."""
    own, draft = "We all live here.\nTruly.", DRAFTS[0].text
    card = replace(REVIEWED, why_two=("So.",), first_approvals=("Ane", "Jon", "Miren"), first_texts=(own, draft, ""))
    components = card_layout(card, "en").to_components()
    shown = read_as_discord_shows("\n".join(texts_of(components)))
    assert f"**Text 1, approved by Ane**\n{own}" in shown
    assert "Jon approved draft 1." in shown
    assert "Approved by Ane, Jon, Miren; a second person must approve the same text." in shown
    assert buttons_of(components)["Approve text 1…"].split(":")[1] == "approve"
    assert "Approve text 2…" not in buttons_of(components)
    folded = buttons_of(card_layout(replace(card, first_texts=(own, DRAFTS[1].text, "")), "en").to_components())
    assert "Approve text 2…" in folded  # a draft that is not on the card stands there as a text
    other = card_layout(replace(card, first_texts=("Something else.", draft, "")), "en").to_components()
    assert buttons_of(other)["Approve text 1…"] != buttons_of(components)["Approve text 1…"]


def test_what_is_not_known_of_the_post_is_left_out() -> None:
    """No target without a group, no gist before the post was read, and no line about earlier cases where none is."""
    graded = replace(REVIEWED, target_group=None, earlier=EarlierCases())
    said = "\n".join(texts_of(card_layout(graded, "en").to_components()))
    assert "Severity: moderate · English" in said and "Target:" not in said and "arlier" not in said
    unread = replace(graded, state=CaseState.QUEUED, severity=None, gist=None, advice=None, drafts=())
    said = "\n".join(texts_of(card_layout(unread, "en").to_components()))
    assert "Language: English" in said and "Gist" not in said


def test_scores_are_words() -> None:
    """No number stands for how good a draft is, and what could not be computed is said."""
    shown = "\n".join(texts_of(card_layout(REVIEWED, "en").to_components()))
    assert "2 sources; 1 warning; partly supported; strong argument; opposes the post; civil in tone." in shown
    assert not re.search(r"0\.\d", shown)
    second = texts_of(card_layout(replace(REVIEWED, drafts=DRAFTS[1:]), "en").to_components())
    assert "tone not checked; another draft may be better." in "\n".join(second)


@pytest.mark.parametrize(("name", "card"), samples().items(), ids=samples().keys())
def test_no_state_offers_what_its_case_does_not_allow(name: str, card: Card) -> None:
    """Buttons follow the graph of states; every card leads to “More…”."""
    labels = set(buttons_of(card_layout(card, "en").to_components()))
    can_approve = card.state is CaseState.IN_REVIEW and bool(card.drafts) and not card.post.is_from_elsewhere
    assert ("Approve draft 1…" in labels) is can_approve
    assert ("Undo" in labels) is (card.state is CaseState.APPROVED)
    is_to_write = card.lacks_draft and card.is_writable
    can_be_judged = not (card.may_be_posted or card.post.is_from_elsewhere or is_to_write)
    assert ("Not hateful" in labels) is (CloseReason.NOT_HATEFUL in close_reasons(card.state) and can_be_judged)
    is_stuck = card.state in {CaseState.NEEDS_PERSON, CaseState.FAILED}
    assert ("Put it in review again" in labels) is (is_stuck and not card.may_be_posted and not is_to_write)
    assert ("Write a reply of your own…" in labels) is is_to_write
    assert ({"The reply is there", "The reply is not there"} <= labels) is card.may_be_posted
    assert ("Close…" in labels) is bool(close_reasons(card.state))
    assert ("Take the reply back…" in labels) is (card.state is CaseState.POSTED)
    assert "More…" in labels


def test_words_from_elsewhere_can_only_be_copied() -> None:
    """Nothing leads to an approval, and no link to a message that is not there; the card says why."""
    card = replace(REVIEWED, post=replace(REVIEWED.post, is_from_elsewhere=True))
    card = replace(card, why_two=("So.",), first_approvals=("Ane",), first_texts=("One text.",))
    parts = card_layout(card, "en").to_components()
    offered = [*buttons_of(parts), *(control.label for control in for_menu(card, "en"))]
    assert not [label for label in offered if label.startswith(("Approve", "Edit", "Write"))]
    assert {"Regenerate…", "Close…", "Show the drafts in full"} <= set(offered)
    assert not {"Hold", "Not hateful"} & set(offered)
    shown = "\n".join(texts_of(parts))
    assert "Drafts to copy." in shown and "Waits for your decision." not in shown
    assert "nothing can be posted: copy what you can use" in shown
    assert "Go to the post" not in shown


@pytest.mark.parametrize(
    ("locale", "prepared", "written"),
    [
        ("en", "explains; prepared reply, reviewed by A*ne on 2026-03-02 + quotation", "written by the model"),
        ("es", "respuesta preparada, revisada por A*ne el 2026-03-02 + cita", "escrito por el modelo"),
        ("it", "risposta preparata, rivista da A*ne il 2026-03-02 + citazione", "scritto dal modello"),
        ("eu", "aurrez prestatutako erantzuna, berrikusia: A*ne (2026-03-02) + frogetatik", "ereduak idatzia"),
    ],
)
def test_each_draft_says_where_it_comes_from(locale: str, prepared: str, written: str) -> None:
    """Who approves it knows whether a person stands for it, or a model made it up; a name is never markup."""
    card = replace(REVIEWED, reviews={DRAFTS[0].prepared[0]: ReviewOfPrepared("A*ne", AT)})
    shown = "\n".join(texts_of(card_layout(card, locale).to_components()))
    assert prepared in read_as_discord_shows(shown)
    assert "A*ne" not in shown
    second = texts_of(card_layout(replace(card, drafts=DRAFTS[1:]), locale).to_components())
    assert written in "\n".join(second)


@pytest.mark.parametrize("state", CaseState)
def test_first_drafts_cannot_be_approved_in_any_state(state: CaseState) -> None:
    """What may still be replaced by a better one is not offered for approval."""
    card = replace(REVIEWED, state=state, is_preview=True)
    labels = set(buttons_of(card_layout(card, "en").to_components()))
    assert not {"Approve draft 1…", "Edit draft 1…"} & labels


def test_buttons_carry_case_and_version_and_never_a_word_of_others() -> None:
    """What a click is about is known after a restart; labels are sentences of ours."""
    view = card_layout(REVIEWED, "en")
    buttons = buttons_of(view.to_components())
    assert view.is_persistent()
    assert buttons["Approve draft 1…"] == f"antiphon:approve:{CASE_ID}:3:1"
    assert buttons["Other drafts (1)…"] == f"antiphon:show_drafts:{CASE_ID}:3:others"
    assert buttons["Hold"] == f"antiphon:hold:{CASE_ID}:3"


def test_nothing_is_told_by_colour() -> None:
    """No accent colour stands for a state, and every button has words."""
    every = components_of(card_layout(REVIEWED, "en"))
    assert all(component.get("accent_color") is None for component in every)
    assert all(component["label"] for component in every if component["type"] == 2)


def test_a_proposal_says_each_thing_once() -> None:
    """What asks for a second person is no warning again."""
    reason = "No evidence holds the figure 2019."
    proposal = replace(PROPOSAL, why_two=(reason,), warnings=(reason, "Another thing."))
    shown = read_as_discord_shows("\n".join(texts_of(proposal_layout(proposal, "en")[0].to_components())))
    assert shown.count(reason) == 1
    assert "Check: Another thing." in shown
