"""Who was told something lately, in memory, so that nobody is told the same again and again.

Owns that bounded memory. It forgets everything with the process.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

AGAIN_SECONDS: Final = 86_400.0
MOST_KEPT: Final = 5000


class ToldLately:
    """The people who were told, the latest ``most`` of them.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(self, *, most: int = MOST_KEPT, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds_now = most, seconds_now
        self._told: OrderedDict[str, float] = OrderedDict()

    def is_due(self, person: str) -> bool:
        """Whether somebody was not told within a day; from now on they were."""
        now, last = self._seconds_now(), self._told.get(person)
        if last is not None and now - last < AGAIN_SECONDS:
            return False
        self._told[person] = now
        self._told.move_to_end(person)
        if len(self._told) > self._most:
            self._told.popitem(last=False)
        return True
