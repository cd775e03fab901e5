"""What people call communities and channels: asked of their platforms, remembered for an hour."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeAlias

Named: TypeAlias = tuple[str, str, str]
"""The ``PostRef.platform``, community and channel of what has a name; the community's own where the channel is ""."""
Ask: TypeAlias = Callable[[str, str, str], Awaitable[str]]
"""Is given what has a name, and gives it; "" where nobody can tell it now."""
_KEPT_SECONDS, _AGAIN_SECONDS = 3600.0, 60.0
_WAIT_SECONDS: Final = 1.0
_MOST_KEPT: Final = 5000


async def unnamed(_platform: str, _community: str, _channel: str) -> str:
    """No name, where there is nobody to ask."""
    return ""


class Names:
    """The names that pages show.

    Args:
        ask: asks the platform.
        seconds_now: seconds that only grow.
    """

    def __init__(self, ask: Ask = unnamed, *, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._ask, self._seconds_now = ask, seconds_now
        self._known: dict[Named, str] = {}
        self._again_at: dict[Named, float] = {}
        self._asking: set[asyncio.Task[None]] = set()

    async def learn(self, wanted: Iterable[Named]) -> None:
        """Ask for the names that are not known or old, for a second at most; a later answer is for the next page."""
        now = self._seconds_now()
        due = [one for one in dict.fromkeys(wanted) if now >= self._again_at.get(one, now)]
        if not due:
            return
        if len(self._again_at) + len(due) > _MOST_KEPT:
            self._known.clear()
            self._again_at.clear()
        self._again_at |= dict.fromkeys(due, now + _AGAIN_SECONDS)
        tasks = {asyncio.create_task(self._ask_for(one)) for one in due}
        self._asking |= tasks
        done, _ = await asyncio.wait(tasks, timeout=_WAIT_SECONDS)
        for task in done:
            task.result()

    async def _ask_for(self, wanted: Named) -> None:
        try:
            if name := await self._ask(*wanted):
                self._known[wanted] = name
                self._again_at[wanted] = self._seconds_now() + _KEPT_SECONDS
        finally:
            self._asking.discard(asyncio.current_task())

    def of(self, platform: str, community: str, channel: str = "") -> str:
        """The name, as its platform has it; "" where it is not known. With the id where two have the same."""
        name, id_ = self._known.get((platform, community, channel), ""), channel or community
        if not name:
            return ""
        kind = platform, community if channel else "", bool(channel)
        alike = sum(
            other == name and (one[0], one[1] if one[2] else "", bool(one[2])) == kind
            for one, other in self._known.items()
        )
        return f"{name} ({id_})" if alike > 1 else name
