"""What a post wants done to the people whom it attacks, and the sentences that refuse it."""

import pytest

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.demands import MOST, clauses, demands, wanted
from core.engine.scoring.gates import GateContext, doubts_of, fault_of
from core.engine.wording.giveaways import checkable_in
from core.engine.wording.reading_level import hard_to_read
from core.engine.wording.target_groups import named
from core.engine.wording.text import sentences
from tests.fakes.engine.brief import brief_of


def test_what_ships_may_be_sent() -> None:
    """Each demand has enough sentences to vary, each of them one plain sentence that passes the gates, said once."""
    texts = [text for demand in demands() for text, _ in demand.sentences]
    assert len({demand.id for demand in demands()}) == len(demands()) > 30
    assert len(set(texts)) == len(texts)
    assert min(len(demand.sentences) for demand in demands()) >= 6
    brief = brief_of(text="Go away.")
    for text in texts:
        context = GateContext(brief, 280, frozenset({text}))
        assert (fault_of(text, context), doubts_of(text, context)) == (None, ()), text
        states = [state for state in checkable_in(text, "en") if state != "is a crime"]
        assert (len(sentences(text)), states, hard_to_read(text, "en")) == (1, [], None), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Somalis live off our taxes. Send them back to Africa.", "deport"),
        ("gas them all", "harm"),
        ("Autistic people cannot lead. Nobody should hire them.", "no_job"),
        ("Gay couples spoil children, so no adoption for them.", "take_children"),
    ],
)
def test_a_demand_is_read(text: str, expected: str) -> None:
    """It is among the likeliest, of which there are few."""
    found = [demand.id for demand in wanted(text, SentenceEmbedder()).demands]
    assert expected in found
    assert len(found) <= MOST


def test_a_claim_wants_nothing() -> None:
    for text in ("Somalis are loud.", "Women are bad at maths, everybody knows it.", "Poles drink all day lol"):
        assert wanted(text, SentenceEmbedder()).demands == []


def test_a_sentence_is_said_of_those_of_whom_it_is_true() -> None:
    """Which comes first depends on the post, so that two posts of a day seldom get the same one."""
    (deport,) = (demand for demand in demands() if demand.id == "deport")
    only = {text for text, kinds in deport.sentences if kinds}
    assert only
    assert only <= set(deport.refused(named("gay men"), "gay men again"))
    assert not only & set(deport.refused(named("Poles"), "Poles again"))
    firsts = {next(deport.refused(named("Poles"), f"Poles {number}")) for number in range(40)}
    assert len(firsts) > len(deport.sentences) / 2


def test_clauses_are_the_last_of_a_post() -> None:
    """In which most posts say what they want; a post without any is one clause."""
    assert clauses("They smell, they shout and they steal. Throw them out!") == [
        "They smell",
        "they shout",
        "they steal",
        "Throw them out",
    ]
    assert len(clauses(" so ".join(f"they did {number}" for number in range(20)))) == 6
    assert clauses("Out!") == ["Out!"]
