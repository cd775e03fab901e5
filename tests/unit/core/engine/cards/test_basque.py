"""Replies to claims in Basque: names take their endings, and posts get what answers them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from core.engine.cards.answers import MOST, PLACE, Answer
from core.engine.cards.bank import (
    UNCHANGED,
    ArgumentCard,
    Changes,
    FittingReply,
    general_cards,
    load_stereotypes,
    prepared_id,
)
from core.engine.cards.basque import claims, replies, with_answers
from core.engine.cards.router import shipped_router
from core.engine.review.assessment import with_answers_placed
from core.engine.review.candidates import Candidate
from core.engine.scoring.gates import MAX_SENTENCES
from core.engine.wording.language import detect
from core.engine.wording.target_groups import Name, basque_names, named
from core.engine.wording.text import sentences
from core.models import Intent, TargetGroup

THIEVES = "Kontuz ijitoekin, ikusten duten guztia lapurtzen dute."
BREAD = "Ogia merkeagoa zen."
LONGEST = 400


def offered(text: str, changes: Changes = UNCHANGED) -> tuple[ArgumentCard, list[FittingReply]]:
    """The first card, and what is offered under a post, the best first."""
    cards = general_cards(TargetGroup.OTHER, "eu")
    first, *others = with_answers(cards, text, shipped_router(), changes)
    assert others == list(cards[1:])
    return first, list(first.answers)


def every_reply() -> Iterator[Answer]:
    return (answer for some in replies().values() for answer in some)


def every_filled() -> Iterator[tuple[Name, str]]:
    """Each reply and what it answers, with each name that it may meet."""
    for answer in every_reply():
        for name in basque_names():
            if name.kinds & answer.kinds:
                yield from ((name, text) for text in answer.called(name))


def test_what_ships_holds_together() -> None:
    """Each claim of stereotypes and kinds that exist, with replies of two whole sentences, each once."""
    every = list(every_reply())
    texts = [answer.text for answer in every]
    assert replies().keys() == claims().keys()
    assert len(set(texts)) == len(texts) >= len(claims()) > 100
    assert not [text for text in texts if any(sign in text for sign in '0123456789?!"') or not text.endswith(".")]
    filled = [answer.called(next(n for n in basque_names() if n.kinds & answer.kinds))[0] for answer in every]
    assert not [text for text in filled if len(sentences(text)) != MAX_SENTENCES or detect(text, "eu") != "eu"]
    known = {one for claim in claims().values() for some in claim.stereotypes for one in some}
    assert known <= load_stereotypes().keys()
    kinds = {kind for name in basque_names() for kind in name.kinds}
    assert all(claim.kinds <= kinds for claim in claims().values())
    assert not [text for _, text in every_filled() if PLACE in text or "  " in text or len(text) > LONGEST]


def test_basque_names_take_their_endings() -> None:
    """An ending of the plural follows each name, which ends as it does before one: no "a", a strong r doubled."""
    endings = re.compile(rf"{re.escape(PLACE)}(?:ak|ek|ei|en|ena|ekin|entzat|ez)\b")
    for answer in every_reply():
        assert len(endings.findall(answer.text)) == answer.text.count(PLACE), answer.text
        assert len(endings.findall(answer.says)) == answer.says.count(PLACE), answer.says
    assert not [name.plural for name in basque_names() if name.plural.endswith("a")]
    assert not [name.plural for name in basque_names() if re.search(r"[^r]r$", name.plural)]


@pytest.mark.parametrize(
    ("text", "people"), [("emakumeei eta mairuek", ["emakume", "magrebtarr"]), ("ogia eta gatza", [])]
)
def test_whom_a_post_names(text: str, people: list[str]) -> None:
    """In a respectful name, in the order of the post."""
    assert [name.plural for name in named(text, "eu")] == people


def test_a_post_gets_the_replies_to_its_claim() -> None:
    """In the people's name; what a community took out makes place, and under talk about bread there is none."""
    card, found = offered(THIEVES)
    assert 1 <= len(found) <= MOST
    texts = [one.text for one in found]
    written = {answer.text for answer in replies()["thieves"]}
    assert card.originals[texts[0]] in written
    assert "ijito" in found[0].says
    assert [one.near for one in found] == sorted((one.near for one in found), reverse=True)
    assert all(0 <= one.near <= 1 and one.chance is None for one in found)
    hidden = Changes(hidden=frozenset(prepared_id("eu", text) for text in written))
    left = [card.originals.get(one.text) for one in offered(THIEVES, hidden)[1]]
    assert written.isdisjoint(left)
    assert offered(BREAD)[1] == []


def test_a_demand_is_answered_with_its_claim() -> None:
    """Both are in the reply; it needs both in the post."""
    both = claims()["criminals-deport"]
    assert both.share({"migrants/crime": 0.5, "migrants/deport": 0.4}) == pytest.approx(0.8)
    assert both.share({"migrants/crime": 0.9}) == 0
    assert claims()["criminals"].share({"migrants/crime": 0.5, "poc/crime": 0.25}) == pytest.approx(0.75)


def test_where_no_chance_is_told_replies_to_the_claim_lead() -> None:
    """Nothing says how a prepared reply suits a post there, and those to a stereotype fit under fewer posts."""
    prepared = Candidate("Prepared.", Intent.DENOUNCING, is_prepared=True)
    near = Candidate(
        "Near.", Intent.DENOUNCING, True, answer=FittingReply("Near.", "dice", Intent.DENOUNCING, near=0.9)
    )
    nearer = Candidate(
        "Nearer.", Intent.DENOUNCING, True, answer=FittingReply("Nearer.", "dice", Intent.DENOUNCING, near=0.95)
    )
    placed = sorted(with_answers_placed([prepared, near, nearer]), key=lambda one: one.order)
    assert [one.text for one in placed] == ["Nearer.", "Near.", "Prepared."]
