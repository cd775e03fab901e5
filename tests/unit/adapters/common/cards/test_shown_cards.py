"""Which version a message shows, remembered for a bounded number of messages."""

import pytest

from adapters.common.cards import shown_cards
from adapters.common.cards.shown_cards import ShownCards


async def test_what_is_being_written_into_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a second task would get another lock for the same message; of the others the oldest goes."""
    monkeypatch.setattr(shown_cards, "_REMEMBERED", 2)
    cards = ShownCards()
    written, idle = cards.of("written"), cards.of("idle")
    async with written.lock:
        for message in ("third", "fourth"):
            cards.of(message)
        assert cards.of("written") is written
        assert cards.of("idle") is not idle


async def test_what_is_new_is_kept_though_all_others_are_being_written_into(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that was given a record uses the one that the next task gets."""
    monkeypatch.setattr(shown_cards, "_REMEMBERED", 1)
    cards = ShownCards()
    async with cards.of("written").lock:
        new = cards.of("new")
        assert cards.of("new") is new
