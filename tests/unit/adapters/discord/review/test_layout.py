"""A card at its extremes: always within Discord's limits, neutral first, with nothing told by colour alone."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.common.cards.controls import for_menu
from adapters.discord.review.layout import MAX_TEXT, card_layout
from core.i18n.catalogs import LANGUAGES
from core.models import (
    Action,
    Draft,
    Evidence,
    FlaggedPost,
    Intent,
    Origin,
    PostRef,
    Priority,
    Receipt,
    Scores,
    Source,
    TargetGroup,
    Verdict,
)
from core.moderation.approval import CLOSED, CaseState
from core.moderation.cards import ApprovedText, Card, EarlierCases, Holder, LastMove, Waiting
from core.moderation.closing import CloseReason, close_reasons
from core.moderation.origins import ReviewOfPrepared
from tests.fakes.discord.messages import (
    buttons_of,
    components_of,
    phone_lines,
    proposal_layout,
    read_as_discord_shows,
    texts_of,
)
from tests.fakes.ports.cards import AT, CASE_ID, DRAFTS, NOTICE, PROPOSAL, REALISTIC, REVIEWED, samples

_SECRET = "zqxj"
"""Stands in posts alone, so that it can be looked for."""
_NASTY = st.text(alphabet="ab |*_`~<>@#[]().:/\\-\n\u202e\u00e9\U0001f600", max_size=2000)
_SCORE = st.none() | st.floats(0, 1)
_RECEIPTS = st.lists(
    st.builds(Receipt, _NASTY, st.sampled_from([None, "e0", "e1"]), st.sampled_from(Verdict), _SCORE), max_size=50
).map(tuple)
_EVIDENCE = tuple(
    Evidence(f"e{n}", "p" * 3000, "s", Source("P" * 300, "T[](" * 90, 2020, None, "https://example.org/" + "u" * 400))
    for n in range(2)
)


@st.composite
def _drafts(draw: st.DrawFn) -> tuple[Draft, ...]:
    texts = draw(st.lists(st.one_of(_NASTY, st.just("|" * 2000), st.just("w" * 2000)), max_size=4))
    return tuple(
        Draft(
            rank,
            text,
            draw(st.sampled_from(Intent)),
            Scores(
                argument_quality=draw(_SCORE), non_toxicity=draw(_SCORE), stance=draw(_SCORE), factuality=draw(_SCORE)
            ),
            draw(_RECEIPTS),
            tuple(draw(st.lists(_NASTY, max_size=5))),
            tuple(draw(st.lists(st.sampled_from(Origin), min_size=1, max_size=3))),
            ("en-1", "en-2"),
        )
        for rank, text in enumerate(texts, start=1)
    )


@st.composite
def _cards(draw: st.DrawFn) -> Card:
    sentences = st.lists(_NASTY, max_size=6).map(tuple)
    base = draw(st.sampled_from(list(samples().values())))
    return replace(
        base,
        version=10**9,
        state=draw(st.sampled_from(CaseState)),
        post=replace(
            base.post, text=f"{_SECRET}{draw(_NASTY)} " * draw(st.sampled_from([1, 20])), author_name=draw(_NASTY)
        ),
        gist=draw(st.none() | _NASTY),
        is_gist_ours=draw(st.booleans()),
        flagger=draw(_NASTY),
        earlier=draw(st.none() | st.builds(EarlierCases, *[st.integers(0, 10**6)] * 5)),
        target_group=draw(st.none() | st.sampled_from(TargetGroup)),
        severity=draw(st.none() | st.integers(1, 5)),
        advice=draw(st.sampled_from(Action)),
        advice_reason=draw(_NASTY),
        drafts=draw(_drafts()),
        evidence=_EVIDENCE,
        is_preview=draw(st.booleans()),
        notes=draw(sentences),
        why_two=draw(sentences),
        first_approvals=draw(sentences),
        first_texts=draw(sentences),
        approved=draw(st.none() | st.builds(ApprovedText, _NASTY, st.just(("A*ne", "")), st.just(AT))),
        last_move=draw(st.none() | st.builds(LastMove, _NASTY, st.just(AT))),
        campaign_posts=draw(st.sampled_from([1, 10**6])),
        is_original_gone=draw(st.booleans()),
        is_original_edited=draw(st.booleans()),
        is_shadow=draw(st.booleans()),
        is_paused=draw(st.booleans()),
        closed_because=draw(_NASTY),
        reviews={id_: ReviewOfPrepared(draw(_NASTY), AT) for id_ in draw(st.sets(st.sampled_from(["en-1", "en-2"])))},
    )


def within_limits(components: list[dict[str, Any]]) -> None:
    """What Discord checks of a message of components, and the rules of buttons."""
    every = components_of_tree(components)
    texts = texts_of(components)
    assert len(every) <= 40
    assert sum(len(text.encode("utf-16-le")) // 2 for text in texts) <= MAX_TEXT
    assert all(texts)
    for component in every:
        assert len(component.get("custom_id", "")) <= 100
        assert len(component.get("label") or "") <= 80
        if component["type"] == 1:
            assert 1 <= len(component["components"]) <= 5
    ids = [component["custom_id"] for component in every if "custom_id" in component]
    assert len(ids) == len(set(ids))


def components_of_tree(components: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        one for component in components for one in (component, *components_of_tree(component.get("components") or []))
    ]


@settings(max_examples=60, deadline=None)
@given(_cards(), st.sampled_from(LANGUAGES))
def test_any_card_fits_and_covers_the_post(card: Card, locale: str) -> None:
    """Whatever the engine and the author wrote, in every state and language."""
    components = card_layout(card, locale).to_components()
    within_limits(components)
    shown = "\n".join(texts_of(components))
    outside = re.sub(r"(?<!\\)\|\|.*?(?<!\\)\|\|", "", re.sub(r"\\\\", "", shown), flags=re.DOTALL)
    assert (_SECRET in shown) is (card.state not in CLOSED)
    assert _SECRET not in outside
    assert _SECRET not in texts_of(components)[0]


@settings(max_examples=30, deadline=None)
@given(_cards())
def test_what_is_sent_first_holds_nothing_of_the_post(card: Card) -> None:
    """A new message is what notifies people."""
    components = card_layout(card, "en", covers_all=True).to_components()
    within_limits(components)
    assert _SECRET not in str(components)


def _extreme() -> Card:
    receipts = tuple(Receipt("s" * 500, "e0", Verdict.SUPPORTED, 0.9) for _ in range(50))
    drafts = tuple(replace(DRAFTS[0], rank=n, text=f"{n}" + "w" * 1999, receipts=receipts) for n in range(1, 5))
    drafts = (*drafts, replace(NOTICE, rank=5, text="5" + "w" * 279))
    return replace(REVIEWED, drafts=drafts, evidence=_EVIDENCE, post=replace(REVIEWED.post, text="p" * 4000))


def test_four_long_drafts_with_fifty_receipts_and_a_notice_fit() -> None:
    """The first stands there in full and can be approved and edited; the others are folded behind a control."""
    components = card_layout(_extreme(), "en").to_components()
    within_limits(components)
    shown = "\n".join(texts_of(components))
    assert "1" + "w" * 1999 in shown
    assert "wwww" not in shown.replace("1" + "w" * 1999, "")
    assert {"Approve draft 1…", "Edit draft 1…", "Other drafts (4)…", "Sources (1)…"} <= set(buttons_of(components))


def test_a_phone_shows_the_first_approval_within_25_lines_and_closing_right_below() -> None:
    """A card of the usual length: the buttons that decide are in sight together."""
    lines = phone_lines(card_layout(REALISTIC, "en").to_components())
    approve, closing = (next(n for n, line in enumerate(lines, 1) if f"[{what}" in line) for what in ("Appr", "Hold"))
    assert approve <= 25
    assert "[Not hateful]".replace(" ", "\N{NO-BREAK SPACE}") in lines[closing - 1]
    assert lines[closing].startswith("[Close…]")
    assert closing - approve <= 2
    assert "Caution: Do not suggest that" in "\n".join(lines[:approve])
    assert len(lines) <= 28


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


def test_every_text_of_a_draft_that_is_shown_is_whole() -> None:
    """A draft is never cut: half of a reply is not what would be posted."""
    for length in range(100, 2001, 100):
        draft = replace(DRAFTS[0], text=f"{DRAFTS[0].rank}" + "w" * length)
        shown = "\n".join(texts_of(card_layout(replace(REVIEWED, drafts=(draft,)), "en").to_components()))
        assert draft.text in shown or f"{draft.rank}www" not in shown


@pytest.mark.parametrize("locale", LANGUAGES)
@pytest.mark.parametrize("state", CaseState)
def test_the_most_that_can_be_said_fits_in_every_language(state: CaseState, locale: str) -> None:
    """All sentences of ours at once, and every text of others at its longest and worst to escape."""
    worst = "|" * 4000
    card = replace(
        _extreme(),
        state=state,
        gist=worst,
        advice=Action.SUPPORT_TARGET,
        advice_reason=worst,
        post=replace(REVIEWED.post, text=worst, ref=PostRef("discord", *("9" * 20,) * 3)),
        reply=PostRef("discord", *("9" * 20,) * 3),
        notes=(worst,) * 20,
        why_two=(worst,) * 20,
        first_approvals=(worst,) * 20,
        first_texts=(*(f"{n}{worst}" for n in range(19)), ""),
        closed_because=worst,
        holder=Holder(worst, AT),
        waiting=Waiting(worst, 10**6, 10.0**7, worst),
        campaign_posts=10**6,
        is_original_edited=True,
        is_shadow=True,
        is_paused=True,
        is_preview=True,
        send_at=AT,
        approved=ApprovedText(worst, (worst, worst), AT),
        last_move=LastMove(worst, AT),
        flagger=worst,
        earlier=EarlierCases(*[10**6] * 5),
    )
    components = card_layout(card, locale).to_components()
    within_limits(components)
    assert any("\\|" in text for text in texts_of(components))


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


def test_of_many_texts_that_wait_the_newest_two_stand_on_the_card() -> None:
    """There is no room for more beside four drafts; a text that two persons approved stands there once."""
    names, texts = ("Ane", "Jon", "Miren", "Iker"), ("One text", "Two text", "Three text", " Three text ")
    card = replace(_extreme(), why_two=("So.",), first_approvals=names, first_texts=texts)
    components = card_layout(card, "en").to_components()
    within_limits(components)
    shown = "\n".join(texts_of(components))
    assert "Text 1, approved by Jon" in shown
    assert "Text 2, approved by Miren" in shown
    assert "One text" not in shown
    assert shown.count("Three text") == 1


def test_the_first_words_are_the_state_the_gist_and_the_group() -> None:
    """What people read first, in a notification too, is neutral."""
    first = read_as_discord_shows(texts_of(card_layout(REVIEWED, "en").to_components())[0])
    assert first.splitlines()[:3] == [
        "**Open 01234:** Waits for your decision.",
        f"**Gist:** {REVIEWED.gist}",
        "Target: migrants · moderate · English",
    ]


def test_scores_are_words() -> None:
    """No number stands for how good a draft is, and what could not be computed is said."""
    shown = "\n".join(texts_of(card_layout(REVIEWED, "en").to_components()))
    assert "2 sources; 1 warning; well supported; strong argument; opposes the post; civil in tone." in shown
    assert not re.search(r"0\.\d", shown)
    second = texts_of(card_layout(replace(REVIEWED, drafts=DRAFTS[1:]), "en").to_components())
    assert "toxicity unverified; its place among the drafts is unsure." in "\n".join(second)


@pytest.mark.parametrize(("name", "card"), samples().items(), ids=samples().keys())
def test_no_state_offers_what_its_case_does_not_allow(name: str, card: Card) -> None:
    """Buttons follow the graph of states; every card leads to “More…”."""
    labels = set(buttons_of(card_layout(card, "en").to_components()))
    can_approve = card.state is CaseState.IN_REVIEW and bool(card.drafts) and not card.post.is_from_elsewhere
    assert ("Approve draft 1…" in labels) is can_approve
    assert ("Undo" in labels) is (card.state is CaseState.APPROVED)
    assert ("Not hateful" in labels) is (CloseReason.NOT_HATEFUL in close_reasons(card.state))
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
    assert {"Regenerate…", "Not hateful", "Close…", "Show the drafts in full"} <= set(offered)
    shown = "\n".join(texts_of(parts))
    assert "nothing can be posted: copy what you can use" in shown
    assert "Go to the post" not in shown


@pytest.mark.parametrize(
    ("locale", "prepared", "written"),
    [
        ("en", "gives facts; prepared reply, reviewed by A*ne on 2026-03-02 + quotation", "written by the model"),
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


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1, max_size=2000), st.lists(_NASTY, max_size=30), st.lists(_NASTY, max_size=30))
def test_any_proposal_fits_and_is_shown_whole(text: str, warnings: list[str], unsupported: list[str]) -> None:
    """The very text stands in the block, or in the file, byte for byte."""
    proposal = replace(
        PROPOSAL, text=text, warnings=tuple(warnings), unsupported=tuple(unsupported), why_two=tuple(warnings)
    )
    view, files = proposal_layout(proposal, "en")
    within_limits(view.to_components())
    if files:
        assert files[0].fp.read() == text.encode()
    else:
        assert f"```\n{text}\n```" in texts_of(view.to_components())


def test_a_proposal_says_each_thing_once() -> None:
    """What asks for a second person is no warning again."""
    reason = "No evidence holds the figure 2019."
    proposal = replace(PROPOSAL, why_two=(reason,), warnings=(reason, "Another thing."))
    shown = read_as_discord_shows("\n".join(texts_of(proposal_layout(proposal, "en")[0].to_components())))
    assert shown.count(reason) == 1
    assert "Check: Another thing." in shown
