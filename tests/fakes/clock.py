"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FakeClock:
    """Call it for the time now, aware; it moves only by ``advance`` or ``now``."""

    def __init__(self, now: datetime = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The time now."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)
