"""The page of Telegram's cards says what the cards say."""

from __future__ import annotations

from tools.telegram_cards import PAGE, page


def test_the_page_is_what_the_command_writes() -> None:
    """If it is not: python -m tools.telegram_cards."""
    assert PAGE.read_text(encoding="utf-8") == page()
