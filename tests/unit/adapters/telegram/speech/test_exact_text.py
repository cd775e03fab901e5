"""Texts that Telegram would change are refused before they are sent."""

from __future__ import annotations

import pytest

from adapters.telegram.speech.exact_text import MAX_CHARACTERS, check_text
from core.errors import PlatformUnavailable


@pytest.mark.parametrize(
    "text", ["w", "w" * MAX_CHARACTERS, "\U0001f600" * (MAX_CHARACTERS // 2), "a\n\n  b", "e\u0301 \u00e9\u00a0end"]
)
def test_what_telegram_shows_as_it_is_may_be_sent(text: str) -> None:
    """Of 4,096 UTF-16 units at most."""
    check_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        " w",
        "w\n",
        "a\r\nb",
        "a\tb",
        "a\0b",
        "a\u202eb",
        "a\u2028b",
        "a\u030ab",
        "a\u200e\u200fb",
        "w" * (MAX_CHARACTERS + 1),
        "\U0001f600" * (MAX_CHARACTERS // 2) + "w",
    ],
)
def test_what_telegram_would_change_or_cut_is_refused(text: str) -> None:
    """An approved text is posted whole and as it is, or not at all."""
    with pytest.raises(PlatformUnavailable):
        check_text(text)
