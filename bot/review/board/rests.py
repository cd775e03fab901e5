"""What the review board leaves alone for a while: a community whose platform is busy or refuses, or a single card.

Owns how long. Each community rests by itself, so that none waits for what another one's platform says.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

_LEAST_PAUSE: Final = timedelta(seconds=1)
_LONGEST_PAUSE: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class _Rest:
    """Until when something is left alone, and how often it failed in a row."""

    failures: int
    until: datetime


class Rests:
    """The rests, by the id of a community or of a case."""

    def __init__(self) -> None:
        self._rests: dict[str, _Rest] = {}

    def at(self, moment: datetime) -> set[str]:
        """What rests at a moment. What ended its rest long ago, as of a case that was closed, is forgotten."""
        self._rests = {key: rest for key, rest in self._rests.items() if moment < rest.until + _LONGEST_PAUSE}
        return {key for key, rest in self._rests.items() if moment < rest.until}

    def failed(self, key: str, moment: datetime) -> None:
        """Leave something alone that failed; longer each time."""
        failures = self._failures(key) + 1
        self._rests[key] = _Rest(failures, moment + min(_LONGEST_PAUSE, _LEAST_PAUSE * 2.0**failures))

    def busy(self, key: str, moment: datetime, seconds: float) -> None:
        """Leave something alone as long as its platform asks."""
        self._rests[key] = _Rest(self._failures(key), moment + max(_LEAST_PAUSE, timedelta(seconds=seconds)))

    def end(self, *keys: str) -> None:
        """Something works again, or may by now."""
        for key in keys:
            self._rests.pop(key, None)

    def _failures(self, key: str) -> int:
        return self._rests[key].failures if key in self._rests else 0
