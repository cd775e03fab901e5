"""English words for posts in other languages."""

import pytest

from core.engine.ports import EvidenceQuery
from core.engine.wording import language
from kb.ranking.queries import LANGUAGES, gloss, language_of_words, prepared_query


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Los inmigrantes nos roban el trabajo.", "es", "migrants immigration steal theft work employment jobs"),
        ("Gli immigrati ci rubano il lavoro.", "it", "migrants immigration steal theft work employment jobs"),
        ("Etorkinek lana lapurtzen digute.", "eu", "migrants immigration work employment jobs steal theft"),
        ("Les immigrés nous volent le travail.", "fr", "migrants immigration steal theft work employment jobs"),
    ],
)
def test_says_what_a_post_is_about(text: str, language: str, expected: str) -> None:
    assert gloss(text, language) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Le donne devono stare zitte.", "it"),  # whom it is about is not what it is about
        ("Bihar euria egingo du.", "eu"),
        ("Migrants steal our jobs.", "en"),
        ("Migranten stehlen uns die Arbeit.", "de"),
        ("", "es"),
    ],
)
def test_says_nothing_of_what_it_does_not_know(text: str, language: str) -> None:
    assert gloss(text, language) == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_takes_whole_words(language: str) -> None:
    """A short word inside another is another word."""
    assert gloss("romboide vidrio lanabes transistor", language) == ""


def test_a_query_that_cannot_be_read_brings_its_gloss() -> None:
    query = EvidenceQuery(("Etorkinek lana lapurtzen digute.", "Migrants pay taxes."), "Zergak ordaintzen dituzte.")
    found = prepared_query(query, frozenset({"en"}), lambda text: "en" if "pay" in text else "eu")
    about = "migrants immigration work employment jobs steal theft"
    assert found.known == (about, "Migrants pay taxes.")
    assert found.texts == (*query.queries, about)
    assert found.claim == "welfare benefits taxes"
    assert not found.is_empty


def test_a_multilingual_model_reads_the_queries_themselves() -> None:
    query = EvidenceQuery(("Etorkinek lana lapurtzen digute.", " "), "")
    found = prepared_query(query, frozenset({"en", "eu"}), lambda _: "eu")
    assert (found.texts, found.known, found.claim) == (query.queries[:1], query.queries[:1], None)


def test_nothing_to_look_for() -> None:
    assert prepared_query(EvidenceQuery(("", " "), ""), frozenset({"en"}), None).is_empty


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("women", None),
        ("women in parliament", None),
        ("gender pay gap", None),
        ("antisemitism", None),
        ("donne lavoro", "it"),
        ("refugiados", "es"),
        ("emakume lana", "eu"),
        ("Estas personas nos quitan los pisos y el trabajo.", "es"),
    ],
)
def test_a_few_words_to_look_up_wait_for_no_detector(
    monkeypatch: pytest.MonkeyPatch, text: str, told: str | None
) -> None:
    """Who looks something up does not wait for what only an unclear post needs; words of the list tell the language."""
    monkeypatch.setattr(language, "_thorough", lambda: pytest.fail("the large detector was asked"))
    assert language_of_words(text) == told
