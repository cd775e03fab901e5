"""The queue of cases in the simulation, in the order of ``bot.store.work.jobs``.

Owns whose turn it is: the most urgent cases first, of these the community that was served longest ago, of its cases the
one that came first.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from core.models import Priority

_LEVELS: Final = tuple(sorted(Priority, reverse=True))


class CaseQueue:
    """Cases that wait, by their numbers."""

    def __init__(self) -> None:
        self._waiting: dict[Priority, dict[int, deque[int]]] = {level: {} for level in _LEVELS}
        self._served: dict[int, float] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, number: int, community: int, priority: Priority) -> None:
        """Let a case wait."""
        self._waiting[priority].setdefault(community, deque()).append(number)
        self._count += 1

    def take(self, now: float) -> int | None:
        """The case whose turn it is; ``None`` where none waits."""
        for level in _LEVELS:
            waiting = self._waiting[level]
            if waiting:
                community = min(waiting, key=lambda own: (self._served.get(own, float("-inf")), own))
                number = waiting[community].popleft()
                if not waiting[community]:
                    del waiting[community]
                self._served[community] = now
                self._count -= 1
                return number
        return None
