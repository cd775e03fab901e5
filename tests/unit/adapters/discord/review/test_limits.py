"""A card and a proposal at their extremes: always within Discord's limits, and no word of the post stands openly."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.review.items import MAX_TEXT, card_layout
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.case_cards import (
    ApprovedText,
    Card,
    DraftProgress,
    EarlierCases,
    Holder,
    LastMove,
    ReviewOfPrepared,
)
from core.i18n.catalogs import LANGUAGES
from core.models import Action, Draft, Evidence, Intent, Origin, PostRef, Receipt, Scores, Source, TargetGroup, Verdict
from tests.fakes.discord.messages import (
    buttons_of,
    proposal_layout,
    texts_of,
)
from tests.fakes.ports.cards import AT, DRAFTS, NOTICE, PROPOSAL, REVIEWED, samples

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


@settings(max_examples=60)
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


@settings(max_examples=30)
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
        waiting=DraftProgress(worst, 10**6, 10.0**7, worst),
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


@settings(max_examples=60)
@given(st.text(min_size=1, max_size=2000), st.lists(_NASTY, max_size=30), st.lists(_NASTY, max_size=30))
def test_any_proposal_fits_and_is_shown_whole(text: str, warnings: list[str], why_two: list[str]) -> None:
    """The very text stands in the block, or in the file, byte for byte."""
    proposal = replace(PROPOSAL, text=text, warnings=tuple(warnings), why_two=tuple(why_two))
    view, files = proposal_layout(proposal, "en")
    within_limits(view.to_components())
    if files:
        assert files[0].fp.read() == text.encode()
    else:
        assert f"```\n{text}\n```" in texts_of(view.to_components())
