"""How many posts somebody looked at: told to that person alone, and gone with the process.

Nothing of it is stored, logged or shown to anybody else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final

from aiohttp import web

HOURS: Final = 12
"""How far back the count goes: as long as a session can last."""
_BREAK_SECONDS: Final = 600.0
_UNTIL_BREAK: Final = 20


class Exposure:
    """The posts that each account looked at lately.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._looked: defaultdict[str, dict[str, float]] = defaultdict(dict)

    def look(self, account: str, case_id: str) -> int:
        """Count the post of a case once; how many it makes without a break where one is due, otherwise 0."""
        self.posts(account)
        self._looked[account].setdefault(case_id, self._clock())
        run, before = 0, self._clock()
        for moment in reversed(self._looked[account].values()):
            if before - moment >= _BREAK_SECONDS:
                break
            run, before = run + 1, moment
        return run if run >= _UNTIL_BREAK else 0

    def posts(self, account: str) -> int:
        """How many posts it looked at in the last ``HOURS``."""
        since = self._clock() - HOURS * 3600
        self._looked[account] = {case: moment for case, moment in self._looked[account].items() if moment > since}
        return len(self._looked[account])


EXPOSURE: Final = web.AppKey("exposure", Exposure)
