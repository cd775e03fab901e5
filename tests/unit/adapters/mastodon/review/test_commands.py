"""What moderators type: the words in each language, and what is no command."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.common.cards.acts import Act
from adapters.common.cards.controls import Control
from adapters.mastodon.review.commands import (
    Command,
    Word,
    close_reason_in,
    command_in,
    retract_reason_in,
    typed,
    typed_all,
)
from adapters.mastodon.speech.markup import MastodonMarkup
from core.i18n.catalogs import LANGUAGES, translated
from core.moderation.closing import CloseReason, RetractReason, why_closed


@pytest.mark.parametrize("word", Word)
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_word_is_understood_as_it_is_typed(word: Word, language: str) -> None:
    """In any language of ours, with a capital letter, a full stop, or the name of Antiphon around it."""
    said = typed(word, language)
    for text in (said, said.capitalize(), f"{said}.", f"@antiphon {said}", f"{said} @antiphon"):
        found = command_in(text, ["antiphon"])
        assert found is not None
        assert typed(found.word, language) == said


def test_no_two_words_are_typed_alike() -> None:
    """Within a language, so that each can be told from the others."""
    for language in LANGUAGES:
        assert len({typed(word, language).casefold() for word in Word}) == len(Word)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("approve 2", Command(Word.APPROVE, 2)),
        ("@antiphon @ana approve", Command(Word.APPROVE)),
        ("@antiphon\napprove  2.", Command(Word.APPROVE, 2)),
        ("approve text 2", Command(Word.APPROVE_TEXT, 2)),
        ("Edit 2: They live here.\n\nAll of them: yes.", Command(Word.EDIT, 2, "They live here.\n\nAll of them: yes.")),
        ("write:They live here", Command(Word.WRITE, None, "They live here")),
        ("edit\u2060 2:\u2060 x", Command(Word.EDIT, 2, "x")),
        ("DECLINE: Preachy", Command(Word.DECLINE, None, "Preachy")),
        ("decline off tone", Command(Word.DECLINE, None, "off tone")),
        ("redraft facts", Command(Word.REDRAFT, None, "facts")),
        ("Yes!", Command(Word.YES)),
        ("Approve 1!", Command(Word.APPROVE, 1)),
        ("approve1", Command(Word.APPROVE, 1)),
        ("edit2: They live here.", Command(Word.EDIT, 2, "They live here.")),
        ("show 2", Command(Word.SHOW, 2)),
        ("NOT hateful!", Command(Word.NOT_HATEFUL)),
    ],
)
def test_a_command_is_read(text: str, command: Command) -> None:
    """With its number and its words."""
    assert command_in(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@antiphon",
        "2",
        "approve 2 or 3",
        "approve222",
        "approve -2",
        "approve 222",
        "approve: now",
        "yes 2",
        "yes: I do",
        "yes but",
        "I would not approve 2",
        "hold on",
        "show me: what",
        "decline because they preach",
        "more or less",
        "not posted yet",
        "close friends",
        "undo\n\nor maybe not",
    ],
)
def test_anything_else_is_no_command(text: str) -> None:
    """Nothing is guessed."""
    assert command_in(text) is None


@given(st.text(max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    """People write what they want."""
    command_in(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_reasons_are_understood_in_each_language(language: str) -> None:
    """As the answer names them."""
    for reason in CloseReason:
        assert close_reason_in(translated(why_closed(reason), language).capitalize()) is reason
    for why in RetractReason:
        assert retract_reason_in(why.value) is why


def test_every_act_of_a_card_can_be_typed() -> None:
    """And what is typed is read as a command, an ellipsis standing for a text."""
    for act in Act:
        if act in (Act.REDRAFT_AS, Act.CLAIM_AS):  # a choice names its own answers
            continue
        extra = "silence" if act is Act.CLOSE_AS else "1"
        (said,) = typed_all([Control(act, "label", extra=extra)], "en")
        assert command_in(said.replace("…", "a text"), []) is not None


def test_first_texts_are_numbered_in_their_order() -> None:
    """As the card numbers them."""
    keys = [Control(Act.APPROVE, "", extra=f"t{digit * 15}") for digit in "ab"]
    assert typed_all([*keys, Control(Act.APPROVE, "", extra="3")], "en") == [
        "approve text 1",
        "approve text 2",
        "approve 3",
    ]


def test_what_is_copied_from_us_is_what_was_meant() -> None:
    """The signs that nobody sees do not come back in a reply."""
    shown = MastodonMarkup("home.example", "https://home.example").exact("Look: at 14:05, #4.")
    assert shown is not None
    copied = shown.split("\n")[1]
    assert command_in(f"edit 1: {copied}") == Command(Word.EDIT, 1, "Look: at 14:05, #4.")
