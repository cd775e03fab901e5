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
from core.models import Action, Draft, Evidence, Intent, Origin, PostRef, Receipt, Scores, Source, TargetGroup, Verdict
from core.moderation.approval import CaseState
from core.moderation.cards import Card, Holder, Waiting
from core.moderation.origins import ReviewOfPrepared
from tests.fakes.discord.messages import buttons_of, components_of, proposal_layout, read_as_discord_shows, texts_of
from tests.fakes.ports.cards import AT, CASE_ID, DRAFTS, NOTICE, PROPOSAL, REVIEWED, samples
from tools.discord_cards import PAGE, page

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
        post=replace(base.post, text=f"{_SECRET}{draw(_NASTY)} " * draw(st.sampled_from([1, 20]))),
        gist=draw(st.none() | _NASTY),
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
    assert _SECRET in shown
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
    """The first draft stands there in full; the others say how they are opened, and each can be approved and edited."""
    components = card_layout(_extreme(), "en").to_components()
    within_limits(components)
    shown = "\n".join(texts_of(components))
    assert "1" + "w" * 1999 in shown
    assert shown.count("This draft is too long for the card.") == 4
    assert {f"{verb} draft {n}…" for verb in ("Approve", "Edit") for n in range(1, 6)} <= set(buttons_of(components))


@pytest.mark.parametrize("notes", range(0, 20, 3))
def test_receipts_of_lower_ranks_go_before_notes_and_notes_before_the_best_receipts(notes: int) -> None:
    """With more and more notes the card loses the least important first."""
    fact = Receipt("f" * 80, "m-1", Verdict.SUPPORTED, 0.9)
    drafts = tuple(
        replace(DRAFTS[0], rank=rank, text="w" * 250, receipts=(replace(fact, sentence=f"{rank}{fact.sentence}"),) * 6)
        for rank in (1, 2)
    )
    card = replace(REVIEWED, drafts=drafts, notes=tuple(f"{n} " + "n" * 100 for n in range(notes)))
    shown = "\n".join(texts_of(card_layout(card, "en").to_components()))
    assert shown.count("“1fff") == 6
    assert shown.count("Note: ") == notes or shown.count("“2fff") == 0
    assert shown.count("“2fff") < 6 or notes < 19


def test_every_text_of_a_draft_that_is_shown_is_whole() -> None:
    """A draft is never cut: half of a reply is not what would be posted."""
    for length in range(100, 2001, 100):
        drafts = tuple(replace(draft, text=f"{draft.rank}" + "w" * length) for draft in DRAFTS)
        shown = "\n".join(texts_of(card_layout(replace(REVIEWED, drafts=drafts), "en").to_components()))
        for draft in drafts:
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
    )
    components = card_layout(card, locale).to_components()
    within_limits(components)
    assert any("\\|" in text for text in texts_of(components))


def test_a_text_of_ones_own_that_waits_for_a_second_person_stands_on_the_card() -> None:
    """Whole, with who approved it and a button for this very text; one that is a draft is named by its rank."""
    own, draft = "We all live here.\nTruly.", DRAFTS[1].text
    card = replace(REVIEWED, why_two=("So.",), first_approvals=("Ane", "Jon", "Miren"), first_texts=(own, draft, ""))
    components = card_layout(card, "en").to_components()
    shown = read_as_discord_shows("\n".join(texts_of(components)))
    assert f"**Text 1, approved by Ane**\n{own}" in shown
    assert "Jon approved draft 2." in shown
    assert "Approved by Ane, Jon, Miren; a second person must approve the same text." in shown
    assert buttons_of(components)["Approve text 1…"].split(":")[1] == "approve"
    assert "Approve text 2…" not in buttons_of(components)
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


def test_the_first_words_are_the_gist_and_the_group() -> None:
    """What people read first, in a notification too, is neutral."""
    first = read_as_discord_shows(texts_of(card_layout(REVIEWED, "en").to_components())[0])
    assert first.splitlines() == [
        f"**Gist:** {REVIEWED.gist}",
        "Target group: migrants. Severity: moderate. Language: English.",
    ]


def test_scores_are_words() -> None:
    """No number stands for how good a draft is, and what could not be computed is said."""
    shown = "\n".join(texts_of(card_layout(REVIEWED, "en").to_components()))
    assert "Scores: well supported; strong argument; opposes the post; civil in tone." in shown
    assert "toxicity unverified; the judge was unsure." in shown
    assert not re.search(r"0\.\d", shown)


def test_receipts_name_their_source_as_a_link_with_verdict_and_caution() -> None:
    """A reader can open what a sentence rests on."""
    shown = "\n".join(texts_of(card_layout(REVIEWED, "en").to_components()))
    assert "supported; [OECD, International Migration Outlook, 2021](https://example.org/outlook?a=1)." in shown
    assert "Caution: It covers 25 countries only\\." in shown


@pytest.mark.parametrize(("name", "card"), samples().items(), ids=samples().keys())
def test_no_state_offers_what_its_case_does_not_allow(name: str, card: Card) -> None:
    """Buttons follow the graph of states; every card leads to “More…”."""
    labels = set(buttons_of(card_layout(card, "en").to_components()))
    can_approve = card.state is CaseState.IN_REVIEW and bool(card.drafts) and not card.post.is_from_elsewhere
    assert ("Approve draft 1…" in labels) is can_approve
    assert ("Undo" in labels) is (card.state is CaseState.APPROVED)
    assert ("Decline…" in labels) is (card.state in (CaseState.IN_REVIEW, CaseState.NEEDS_PERSON))
    assert ("Take the reply back…" in labels) is (card.state is CaseState.POSTED and card.is_original_gone)
    assert "More…" in labels


def test_words_from_elsewhere_can_only_be_copied() -> None:
    """Nothing leads to an approval, and no link to a message that is not there; the card says why."""
    card = replace(REVIEWED, post=replace(REVIEWED.post, is_from_elsewhere=True))
    card = replace(card, why_two=("So.",), first_approvals=("Ane",), first_texts=("One text.",))
    parts = card_layout(card, "en").to_components()
    offered = [*buttons_of(parts), *(control.label for control in for_menu(card, "en"))]
    assert not [label for label in offered if label.startswith(("Approve", "Edit", "Write"))]
    assert {"Regenerate…", "Decline…", "Stay silent…", "Show the drafts in full"} <= set(offered)
    shown = "\n".join(texts_of(parts))
    assert "nothing can be posted: copy what you can use" in shown
    assert "Go to the post" not in shown


@pytest.mark.parametrize(
    ("locale", "prepared", "written"),
    [
        ("en", "informs; prepared reply, reviewed by A*ne on 2026-03-02 + quotation", "written by the model"),
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
    assert written in shown
    assert "A*ne" not in shown


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
    assert buttons["Approve draft 2…"] == f"antiphon:approve:{CASE_ID}:3:2"
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
    assert "Look at: Another thing." in shown


def test_the_page_of_cards_is_what_its_command_writes() -> None:
    """The page in docs shows the cards as they are."""
    assert PAGE.read_text(encoding="utf-8") == page(), "Run: python -m tools.discord_cards"
