"""Replies that were written to posts: what ships holds together, and a post gets those to posts that say the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.answers import ANSWERED, MOST, PLACE, Answer, answers, shipped_vectors, with_answers
from core.engine.cards.bank import UNCHANGED, ArgumentCard, Changes, Facet, general_cards, prepared_id
from core.engine.cards.router import shipped_router
from core.engine.review.assessment import with_answers_placed
from core.engine.review.candidates import Candidate
from core.engine.scoring.gates import MAX_SENTENCES
from core.engine.wording.target_groups import THOSE, named
from core.engine.wording.text import sentences
from core.models import Intent, TargetGroup
from tests.fakes.engine.embedder import FakeEmbedder
from training.corpus import DATA, rows_in

POST = "Nigerians are scammers, every last one."
CARDS = general_cards(TargetGroup.MIGRANTS, "en")


def offered(text: str, language: str = "en", changes: Changes = UNCHANGED) -> list[Facet]:
    """What is offered under a post, the likeliest first."""
    first, *others = with_answers(CARDS, text, language, shipped_router(), SentenceEmbedder(), changes)
    assert others == list(CARDS[1:])
    return [facet for facet in first.facets if facet.is_answer]


def test_what_ships_holds_together() -> None:
    """Each reply once, in two whole sentences without figure or question, with its vectors and the post it answers."""
    rows, vectors = answers(), shipped_vectors()
    assert len(rows) == len({row.text for row in rows}) == len(vectors.posts) == len(vectors.shares) > 1_500
    assert not [row.text for row in rows if len(sentences(row.text)) > MAX_SENTENCES or not row.text.endswith(".")]
    assert not [row.text for row in rows if any(sign in row.text for sign in '0123456789?"')]
    assert [bool(row.kinds) and not row.who for row in rows] == [PLACE in row.text for row in rows]
    assert not [row.says for row in rows if not row.says.startswith(("says that ", "wants "))]
    posts = {row["id"]: row for row in rows_in(DATA / "answers" / "posts.jsonl")}
    assert posts.keys() == {prepared_id("en", row.text) for row in rows}
    assert all("post" in posts[one] for row in posts.values() for one in row.get("like", ()))


def test_the_vectors_are_of_the_router_that_ships() -> None:
    """Other weights of the router read the stereotypes of a post differently: the vectors are made anew with them."""
    posts = {row["id"]: row["post"] for row in rows_in(DATA / "answers" / "posts.jsonl") if "post" in row}
    router, vectors = shipped_router(), shipped_vectors()
    for at in range(0, len([one for one in answers() if not one.kinds]), 400):
        shares = np.sqrt(router.shares(posts[prepared_id("en", answers()[at].text)], "en"))
        assert float(shares @ vectors.shares[at]) > 0.98


def test_a_post_gets_the_replies_to_posts_that_say_the_same() -> None:
    """Of the same people, the likeliest first, each with its chance; under talk about bread there are none."""
    found = offered(POST)
    assert 1 <= len(found) <= MOST
    assert "Nigerian" in found[0].texts[0][1]
    assert [facet.near for facet in found] == sorted((facet.near for facet in found), reverse=True)
    assert all(1 <= facet.near <= 2 for facet in found)
    assert offered("The bread was cheaper when I was young.") == []


def test_a_reply_to_a_claim_speaks_of_the_people_whom_the_post_names() -> None:
    """Only where it is true of them: what is true of a faith is not said of an age. The name begins a sentence."""
    claim = Answer(f"Calm down. {PLACE} work.", f"says that {PLACE} idle", Intent.INFORMATIVE, TargetGroup.OTHER)
    claim = replace(claim, kinds=frozenset({"migrants", "faith"}))
    for post, called in (("refugees are idle", "Refugees"), ("the Jews are idle", "Jewish people")):
        (name,) = named(post)
        assert claim.of([name]) == name
        assert claim.called(name)[0] == f"Calm down. {called} work."
    assert claim.of(named("pensioners are idle")) is None
    assert claim.claim == f"says that {THOSE} idle"
    post = "Lithuanians are lazy, the whole lot of them."
    first, *_ = with_answers(CARDS, post, "en", shipped_router(), SentenceEmbedder(), UNCHANGED)
    said = [text for facet in first.facets if facet.is_answer for _, text in facet.texts]
    assert said and all("Lithuanian people" in text for text in said)
    assert {first.originals[text] for text in said} <= {one.text for one in answers() if one.kinds}


def test_what_a_community_took_out_is_not_offered() -> None:
    """Another one takes its place, or none."""
    first = offered(POST)[0].texts[0][1]
    left = offered(POST, changes=Changes(hidden=frozenset({prepared_id("en", first)})))
    assert first not in [text for facet in left for _, text in facet.texts]


def test_without_the_model_or_the_language_of_the_vectors_nothing_changes() -> None:
    """Vectors of another model say nothing of these, and nobody wrote such replies in the other languages."""
    cards: list[ArgumentCard] = list(CARDS)
    assert with_answers(cards, POST, "en", shipped_router(), FakeEmbedder(), UNCHANGED) == cards
    assert "es" not in ANSWERED
    assert with_answers(cards, POST, "es", shipped_router(), SentenceEmbedder(), UNCHANGED) == cards
    assert with_answers([], POST, "en", shipped_router(), SentenceEmbedder(), UNCHANGED) == []


def test_a_reply_to_another_post_leads_where_a_reader_would_likelier_publish_it() -> None:
    """Else it stands right behind the prepared reply that suits the post best, and before the others."""
    best = Candidate("Best.", Intent.DENOUNCING, is_prepared=True, suits=0.9, chance=0.4)
    other = Candidate("Other.", Intent.INFORMATIVE, is_prepared=True, suits=0.5, chance=0.6)
    answer = Facet("says that", (), {}, near=1.7, is_answer=True)
    likely = Candidate("Likely.", Intent.DENOUNCING, is_prepared=True, facet=answer, chance=0.7)
    unlikely = replace(likely, text="Unlikely.", chance=0.3)
    placed = with_answers_placed([other, unlikely, best, likely])
    order = [one.text for one in sorted(placed, key=lambda one: one.order)]
    assert order == ["Likely.", "Best.", "Unlikely.", "Other."]
    assert with_answers_placed([likely]) == [likely]
