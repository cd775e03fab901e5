"""A case as its page shows it, of every kind and in every language, and what a page holds before it is revealed."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.common.words.markup import no_address
from adapters.web import site
from adapters.web.site import STATIC, templates
from adapters.web.speech import language_wanted, marked_characters, reader_for
from adapters.web.views import case_view, marked, word_diff
from core.i18n.catalogs import LANGUAGES
from tests.fakes.ports.cards import samples


@pytest.mark.parametrize("kind", sorted(samples()))
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_view_holds_the_post_before_it_is_revealed(kind: str, language: str) -> None:
    """Whatever state the case is in: neither its words, nor its author's name, nor what was said before it."""
    card = samples()[kind]
    hidden = str(case_view(card, reader_for(language, no_address)) | {"card": ""})
    assert "benefits" not in hidden
    assert "slate_roof" not in hidden
    assert "Who moved in" not in hidden
    if card.post.text:
        shown = case_view(card, reader_for(language, no_address, reveals=True), is_revealed=True)
        assert card.post.text in [words for _, words, is_post in shown["turns"] if is_post]


@given(st.text(), st.text())
def test_a_difference_holds_both_texts(before: str, after: str) -> None:
    """Nothing is lost: without what came in it is the first text, without what went out the second."""
    pieces = word_diff(before, after)
    assert "".join(words for kind, words in pieces if kind != "in") == before
    assert "".join(words for kind, words in pieces if kind != "out") == after


def test_changes_that_only_spaces_part_are_one() -> None:
    """New words stand together, not one between every two that are struck out."""
    assert word_diff("Most newcomers came by train.", "Nobody counted came by bus.") == (
        ("out", "Most newcomers"),
        ("in", "Nobody counted"),
        ("same", " came by "),
        ("out", "train"),
        ("in", "bus"),
        ("same", "."),
    )


def test_a_text_of_any_length_is_compared_at_once() -> None:
    """The work is bounded: two texts of thousands of words stand for one another as a whole."""
    before, after = "a b " * 5000, "b a " * 5000
    assert word_diff(before, after) == (("out", before), ("in", after))


@given(st.text(), st.text())
def test_a_marked_passage_is_the_passage(passage: str, sentence: str) -> None:
    """Marking changes no character."""
    assert "".join(words for _, words in marked(passage, sentence)) == passage


def test_the_sentence_that_a_draft_rests_on_is_marked() -> None:
    """The one that shares the most words; none where there is none."""
    passage = "The survey ran for ten years. Newcomers pay more taxes than they draw. It had gaps."
    assert (True, "Newcomers pay more taxes than they draw.") in marked(passage, "They pay more taxes than they draw.")
    assert marked(passage, "Bees like lavender.") == ((False, passage),)


def test_characters_that_nobody_sees_are_shown_by_their_numbers() -> None:
    """A text that is approved has no place that the eye passes over."""
    assert marked_characters("a\u202eb\u200bc") == [
        ("text", "a"),
        ("hidden", "U+202E"),
        ("text", "b"),
        ("hidden", "U+200B"),
        ("text", "c"),
    ]


@pytest.mark.parametrize(
    ("asked", "given_"),
    [
        ("eu", "eu"),
        ("es-419,es;q=0.9,en;q=0.8", "es"),
        ("fr, it;q=0.5", "it"),
        ("en;q=0.1, eu;q=0.9", "eu"),
        ("de", "en"),
        ("", "en"),
        ("es;q=0, it;q=0.1", "it"),
        ("es;q=1.2.3, it", "it"),
        (";;;,,,=q" * 100, "en"),
    ],
)
def test_the_browser_is_answered_in_the_language_that_it_asks_for(asked: str, given_: str) -> None:
    """The first of ours, by weight; English otherwise."""
    assert language_wanted(asked) == given_


def test_no_template_holds_what_the_policy_forbids() -> None:
    """No style or script inside a page, no attribute that evaluates, nothing that is left unescaped (T7)."""
    made = templates()
    loader = made.loader
    assert loader is not None
    for name in loader.list_templates():
        source, _, _ = loader.get_source(made, name)
        lowered = source.lower()
        for forbidden in (
            "style=", "<style", "onclick", "onload", "onerror", "javascript:", "hx-on", "hx-vals", "hx-live",
            "hx-confirm", "js:", "|safe", "autoescape", "markup(", "http://", "https://",
        ):  # fmt: skip
            assert forbidden not in lowered, (name, forbidden)
        assert "<script src=" in source or "<script" not in source
        for trigger in lowered.split('hx-trigger="')[1:]:
            assert "[" not in trigger.partition('"')[0], name
        if "{{ csrf_header }}" in source:
            assert 'hx-headers:inherited="{{ csrf_header }}"' in source


def test_the_script_of_others_is_the_one_that_was_looked_at() -> None:
    """The file that ships is the one whose licence and source are named beside it."""
    notice = (Path(site.__file__).parent / "static" / "NOTICE").read_text(encoding="utf-8")
    assert hashlib.sha256(STATIC["htmx.min.js"]).hexdigest() in notice
