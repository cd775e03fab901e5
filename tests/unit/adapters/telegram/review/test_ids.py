"""What a button of Telegram carries."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adapters.telegram
from adapters.common.cards.acts import Act, Target
from adapters.common.cards.controls import OTHERS, Control
from adapters.common.decisions.press import Options
from adapters.telegram.review.ids import MOST_BYTES, ButtonData, carried_by, carried_data
from adapters.telegram.review.layout import keyboard, options_keyboard
from core.desk.rules.closures import CloseReason, RetractReason
from core.models import Intent

_CASES = st.text("0123456789abcdef", min_size=32, max_size=32)
_EXTRAS = ["", "0", "12", OTHERS, "any", "0123456789abcdef", "t0123456789abcde"]
_EXTRAS += [*(one.value for one in Intent), *(one.name for one in CloseReason), *(one.name for one in RetractReason)]
_OWNERS = st.none() | st.integers(1, 2**52)
"""Telegram's numbers of users have 52 bits at most."""


@given(st.sampled_from(Act), _CASES, st.integers(0, 10**9), st.sampled_from(_EXTRAS), _OWNERS)
def test_a_button_says_what_it_was_made_of(act: Act, case_id: str, version: int, extra: str, owner: int | None) -> None:
    """It is all that is left after a restart, and fits into what Telegram keeps."""
    target = Target(act, case_id, version, extra)
    data = carried_data(target, owner)
    assert carried_by(data) == ButtonData(target, owner)
    assert len(data.encode()) <= MOST_BYTES


@pytest.mark.parametrize("raw", ["", "close", "h", "?" + "A" * 22 + "1.", "h" + "A" * 22 + "1.x.y.z"])
def test_what_is_none_of_ours_is_left_alone(raw: str) -> None:
    """Panels have buttons of their own."""
    assert carried_by(raw) is None


@given(st.lists(st.text(min_size=1, max_size=60), max_size=12))
def test_buttons_stand_in_rows_that_a_phone_shows(labels: list[str]) -> None:
    """Each once, in their order, in short rows; a long one has a row to itself."""
    made = keyboard([Control(Act.HOLD, label) for label in labels], "0" * 32, 1)
    rows = [] if made is None else made.inline_keyboard
    assert len([button for row in rows for button in row]) == len(labels)
    for row in rows:
        assert 0 < len(row) <= 3
        assert len(row) == 1 or sum(len(button.text) for button in row) <= 30
        assert all(len(button.text) <= 34 for button in row)


def test_every_reason_fits_on_a_button() -> None:
    """Whatever is chosen comes back as it was offered."""
    target = Target(Act.CLOSE_AS, "0" * 32, 1)
    rows = tuple((one.name, one.name) for one in CloseReason)
    made = options_keyboard(Options(target, "Why?", rows), 2**52)
    carried = [carried_by(str(row[0].callback_data)) for row in made.inline_keyboard]
    assert carried == [ButtonData(replace(target, extra=value), 2**52) for value, _ in rows]


def test_nothing_is_ever_answered_in_the_way_that_all_can_read() -> None:
    """The library's short cuts would answer an ephemeral message, and a guest's question, in public."""
    files = list(Path(adapters.telegram.__file__).parent.rglob("*.py"))
    assert files
    for path in files:
        assert not re.search(r"\.reply_\w+\(|answer_guest|answerGuest", path.read_text(encoding="utf-8")), path
