"""Which version of a case stands in which message, so that a card is never shown older than it was.

Owns that bounded memory of one process, and that only one task writes into a message at a time.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

_REMEMBERED: Final = 2000


@dataclass(slots=True)
class ShownCard:
    """What stands in a message, as far as this process knows: 0 for nothing that it wrote."""

    version: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class ShownCards:
    """The messages that cards were written into last."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, ShownCard] = OrderedDict()

    def of(self, message: str) -> ShownCard:
        """What stands in a message; who writes into it holds its lock, and sets its version."""
        known = self._shown.setdefault(message, ShownCard())
        self._shown.move_to_end(message)
        if len(self._shown) > _REMEMBERED:
            self._shown.popitem(last=False)
        return known
