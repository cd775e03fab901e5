"""What a reader sees of a text: disguises undone, and ordinary spellings left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.wording.encoder_text import readable


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("they are tr@sh", "they are trash"),
        ("h4te th3m", "hate them"),
        ("k i l l it", "kill it"),
        ("g.o.n.e", "gone"),
        ("noooooo way", "noo way"),
        ("#SendThemHome now", "Send Them Home now"),
        ("we1come w0men", "weicome women"),
        ("𝓰𝓸 𝓱𝓸𝓶𝓮", "go home"),
        ("gо hоmе", "go home"),
        ("two\n\nlines", "two lines"),
        ("🐷 people", "pig people"),
    ],
)
def test_a_disguise_is_undone(written: str, read: str) -> None:
    """A reader that learnt plain words sees plain words."""
    assert readable(written, "en") == read


@pytest.mark.parametrize(
    "text",
    [
        "my mp3 player is 2nd hand",
        "see you at 5pm, $20 each",
        "50% off at the shop!",
        "B4 you ask: no",
        "¿Quién viene mañana?",
        "è già così, perché no?",
        "a/c is broken",
        "ok :) !!",
    ],
)
def test_an_ordinary_spelling_stays(text: str) -> None:
    """Digits and signs of everyday writing are no disguise."""
    assert readable(text, "en") == text


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    """The result is one line, and reading it again changes no line into several."""
    read = readable(text)
    assert "\n" not in read
    assert read == read.strip()
