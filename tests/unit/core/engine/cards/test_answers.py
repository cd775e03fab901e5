"""Replies to what posts say: what ships holds together, and a post gets those that answer what it says."""

from dataclasses import replace
from functools import cache

import numpy as np

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.answers import (
    ANSWERED,
    MOST,
    PLACE,
    Answer,
    Spoken,
    answers,
    fits_of,
    shipped_vectors,
    with_answers,
)
from core.engine.cards.bank import (
    UNCHANGED,
    ArgumentCard,
    Changes,
    FittingReply,
    general_cards,
    load_stereotypes,
    prepared_id,
)
from core.engine.cards.demands import demands
from core.engine.cards.router import shipped_router
from core.engine.review.assessment import with_answers_placed
from core.engine.review.candidates import Candidate
from core.engine.scoring.gates import MAX_SENTENCES
from core.engine.wording.slurs import slurs_in
from core.engine.wording.target_groups import THOSE, named
from core.engine.wording.text import sentences
from core.models import Intent, TargetGroup
from tests.fakes.engine.embedder import FakeEmbedder
from training.corpus import DATA, rows_in

POST = "Nigerians are scammers, every last one."
DEMANDING = "Romanians steal, every last one. Deport them all."
CARDS = general_cards(TargetGroup.MIGRANTS, "en")
EMBEDDER = SentenceEmbedder()


@cache
def offered(text: str, language: str = "en", changes: Changes = UNCHANGED) -> list[FittingReply]:
    """What is offered under a post, the likeliest first."""
    first, *others = with_answers(CARDS, text, language, shipped_router(), EMBEDDER, changes)
    assert others == list(CARDS[1:])
    return list(first.answers)


def test_what_ships_holds_together() -> None:
    """Each reply once, in two whole sentences without figure, with its vectors and what it answers."""
    rows, vectors = answers(), shipped_vectors()
    assert len(rows) == len({row.text for row in rows}) == len(vectors.posts) == len(vectors.shares) > 10_000
    assert vectors.rates.shape == (len(rows), 2)
    whole = [row.text.replace(PLACE, "Poles") for row in rows]
    assert not [text for text in whole if len(sentences(text)) > MAX_SENTENCES or not text.endswith((".", "?"))]
    assert not [text for text in whole if any(sign.isdigit() for sign in text)]
    assert [bool(row.kinds) and not row.who for row in rows] == [PLACE in row.text for row in rows]
    assert not [row.says for row in rows if PLACE in row.says and not row.kinds]
    assert not [row.says for row in rows if not any(word.endswith("s") for word in row.says.split()[:2])], "a post that"
    posts = {row["id"]: row for row in rows_in(DATA / "answers" / "posts.jsonl")}
    assert posts.keys() == {prepared_id("en", row.text) for row in rows}
    assert all("post" in posts[one] for row in posts.values() for one in row.get("like", ()))
    assert {row["stereotype"] for row in posts.values() if "stereotype" in row} <= load_stereotypes().keys()
    assert not [post for row in posts.values() for post in row.get("posts", ()) if slurs_in(post)]


def test_what_readers_said_is_of_replies_to_other_posts() -> None:
    """Nor does one reply stand under a post with two verdicts. A part of one is named by its id with more behind it."""
    judged = list(rows_in(DATA / "answers" / "judged.jsonl"))
    written_to = {(row["id"], row.get("post")) for row in rows_in(DATA / "answers" / "posts.jsonl")}
    assert len({row["post"] for row in judged}) == len(judged) > 1_000
    known = {prepared_id("en", row.text) for row in answers()}
    for row in judged:
        told = [one for verdict in ("yes", "near", "no", "harm") for one in row.get(verdict, ())]
        assert len(set(told)) == len(told)
        whole = [one.removesuffix("/1").partition("+")[0] for one in told]
        assert known.issuperset(whole)
        assert written_to.isdisjoint((one, row["post"]) for one in whole)


def test_the_vectors_are_of_the_router_that_ships() -> None:
    """Other weights of the router read the stereotypes of a post differently: the vectors are made anew with them."""
    posts = {row["id"]: row["post"] for row in rows_in(DATA / "answers" / "posts.jsonl") if "post" in row}
    router, vectors = shipped_router(), shipped_vectors()
    for at, one in list(enumerate(answers()))[::800]:
        if post := posts.get(prepared_id("en", one.text)):
            shares = np.sqrt(router.shares(post, "en"))
            largest = float(shares[vectors.stereotypes[at]] @ vectors.shares[at])
            assert largest > 0.95 * float(np.square(vectors.shares[at]).sum())
            assert np.abs(shares[vectors.stereotypes[at]] - vectors.shares[at]).max() < 0.05


def test_a_post_gets_the_replies_that_answer_it() -> None:
    """Of the same people, the likeliest first, each with its chance; under talk about bread they are less likely."""
    found = offered(POST)
    assert 1 <= len(found) <= MOST
    assert "Nigerian" in found[0].text
    chances = [one.chance or 0.0 for one in found]
    assert chances == sorted(chances, reverse=True)
    assert all(0 < chance < 1 for chance in chances)
    assert all((one.chance or 0.0) < chances[0] for one in offered("The bread was cheaper when I was young."))


def test_a_first_sentence_stands_alone_or_before_one_that_refuses_the_demand() -> None:
    """No two drafts begin with the same reply, or refuse with the same words; what was taken out refuses nothing."""
    refusals = {text: demand for demand in demands() for text, _ in demand.sentences}
    first, *_ = with_answers(CARDS, DEMANDING, "en", shipped_router(), EMBEDDER, UNCHANGED)
    said = [sentences(one.text) for one in first.answers]
    refused = [parts[-1] for parts in said if parts[-1] in refusals]
    assert refused
    assert len(set(refused)) == len(refused)
    assert {refusals[text].id for text in refused} == {"deport"}
    assert len({first.originals[one.text] for one in first.answers}) == len(first.answers)
    assert all(one.says.endswith("wants them deported") for one in first.answers if sentences(one.text)[-1] in refusals)
    hidden = frozenset(prepared_id("en", text) for text in refused)
    left = [sentences(one.text)[-1] for one in offered(DEMANDING, changes=Changes(hidden=hidden))]
    assert left
    assert not set(left) & set(refused)


def test_the_network_knows_a_reply_to_another_claim() -> None:
    """The same words fit where the post says what they answer, and not elsewhere."""
    women = ("Women pass the same driving test as men and drive buses safely.", "says that women drive badly")
    food = ("Muslims who ask for a meal without pork force nothing on anyone.", "says that Muslims force their food")
    driving = fits_of("women cant drive, keep them off the road", [women, food])
    eating = fits_of("halal in the canteen now, muslims make everyone eat their food", [women, food])
    assert driving[0] > driving[1]
    assert eating[1] > eating[0]


def test_what_readers_publish_elsewhere_counts() -> None:
    """Of two replies that are as near and fit as well, the one is likelier that readers published under other posts."""
    vectors, at = shipped_vectors(), 0
    whole = Spoken("Women drive well.", "says that women drive badly", at)
    first, features = whole._replace(is_whole=False), np.zeros((1, 8), np.float32)
    rates = vectors.rates.copy()
    rates[at] = 0.1, 0.6
    chances = replace(vectors, rates=rates).chances([whole, first], np.zeros(2, np.float32), features, 0.0)
    assert 0 < chances[0] < chances[1] < 1


def test_one_sentence_alone_is_less_likely_where_the_post_wants_something() -> None:
    """Than the same before another one, beside a post that wants nothing."""
    vectors, features, fits = shipped_vectors(), np.zeros((1, 8), np.float32), np.zeros(2, np.float32)
    first = Spoken("Women drive well.", "says that women drive badly", 0, is_whole=False)
    joined = first._replace(text="Women drive well. They keep their licences.", refuses="They keep their licences.")
    alone, both = np.log(1 / (1 / vectors.chances([first, joined], fits, features, 0.9) - 1))
    calm_alone, calm_both = np.log(1 / (1 / vectors.chances([first, joined], fits, features, 0.1) - 1))
    assert both - alone > calm_both - calm_alone


def test_a_reply_to_a_claim_speaks_of_the_people_whom_the_post_names() -> None:
    """Only where it is true of them: what is true of a faith is not said of an age. The name begins a sentence."""
    claim = Answer(f"Calm down. {PLACE} work.", f"says that {PLACE} idle", Intent.INFORMATIVE, TargetGroup.OTHER)
    claim = replace(claim, kinds=frozenset({"migrants", "faith"}))
    for post, called in (("refugees are idle", "Refugees"), ("the Jews are idle", "Jewish people")):
        (name,) = named(post)
        assert claim.of([name]) == name
        assert claim.called(name)[0] == f"Calm down. {called} work."
    assert claim.of(named("pensioners are idle")) is None
    (children,) = named("chinese kids are idle")
    of_children = replace(claim, text=f"Children of {PLACE} may play.")
    assert of_children.called(children)[0] == "Chinese children may play."
    assert claim.claim == f"says that {THOSE} idle"
    post = "Lithuanians are lazy, the whole lot of them."
    first, *_ = with_answers(CARDS, post, "en", shipped_router(), EMBEDDER, UNCHANGED)
    said = [one.text for one in first.answers if "Lithuanian people" in one.text]
    assert said
    assert {first.originals[text] for text in said} <= {one.text for one in answers() if one.kinds}


def test_a_reply_that_speaks_of_all_fits_those_who_are_a_part_of_them() -> None:
    """What is said for trans people is said for trans women, and for Black men what is said for Black people."""
    reply = Answer("They belong.", "says that they do not belong", Intent.INFORMATIVE, TargetGroup.LGBT)
    parts = {"trans people": "trans women", "Black people": "black lads", "refugees": "Syrian refugees"}
    for whole, part in parts.items():
        assert replace(reply, who=whole).of(named(f"{part} do not belong")) is not None
        assert replace(reply, who=part).of(named(f"{whole} do not belong")) is None
    assert replace(reply, who="gay people").of(named("trans women do not belong")) is None


def test_with_another_embedding_model_the_one_that_ships_is_asked_beside_it() -> None:
    """Vectors of another model say nothing of these."""
    by_other, *_ = with_answers(CARDS, POST, "en", shipped_router(), FakeEmbedder(), UNCHANGED)
    assert list(by_other.answers) == offered(POST)


def test_in_another_language_nothing_changes() -> None:
    """Nobody wrote such replies there; nor does anything where a community took everything out."""
    cards: list[ArgumentCard] = list(CARDS)
    assert "es" not in ANSWERED
    everything = Changes(hidden=frozenset(prepared_id("en", one.text) for one in answers()))
    assert with_answers(cards, POST, "en", shipped_router(), EMBEDDER, everything) == cards
    assert with_answers(cards, POST, "es", shipped_router(), EMBEDDER, UNCHANGED) == cards
    assert with_answers([], POST, "en", shipped_router(), EMBEDDER, UNCHANGED) == []


def test_a_reply_that_answers_the_post_leads_where_a_reader_would_likelier_publish_it() -> None:
    """Else it stands right behind the prepared reply that suits the post best, and before the others."""
    best = Candidate("Best.", Intent.DENOUNCING, is_prepared=True, suits=0.9, chance=0.4)
    other = Candidate("Other.", Intent.INFORMATIVE, is_prepared=True, suits=0.5, chance=0.6)
    answer = FittingReply("Likely.", "says that", Intent.DENOUNCING, 0.7)
    likely = Candidate("Likely.", Intent.DENOUNCING, is_prepared=True, answer=answer, chance=0.7)
    unlikely = replace(likely, text="Unlikely.", chance=0.3)
    placed = with_answers_placed([other, unlikely, best, likely])
    order = [one.text for one in sorted(placed, key=lambda one: one.order)]
    assert order == ["Likely.", "Best.", "Unlikely.", "Other."]
    alone = sorted(with_answers_placed([unlikely, likely]), key=lambda one: one.order)
    assert [one.text for one in alone] == ["Likely.", "Unlikely."]
