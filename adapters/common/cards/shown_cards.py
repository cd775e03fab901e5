"""Which version of a case each message shows, so that a card never goes back to an older one.

The memory is bounded and lasts as long as the process; one task at a time writes into a message.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

_REMEMBERED: Final = 2000


@dataclass(slots=True)
class ShownCard:
    """The version that a message shows, as far as this process knows; 0 if it wrote none.

    ``is_progress`` says that it was a card of a case whose drafts are not there yet.
    """

    version: int = 0
    is_progress: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class ShownCards:
    """The messages that cards were written into last."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, ShownCard] = OrderedDict()

    def of(self, message: str) -> ShownCard:
        """The record of a message; a task that writes into the message holds its lock, and sets its version."""
        card = self._shown.setdefault(message, ShownCard())
        self._shown.move_to_end(message)
        if len(self._shown) > _REMEMBERED:
            self._forget_one(message)
        return card

    def _forget_one(self, but: str) -> None:
        """Forget the message that was written into longest ago, unless somebody writes into it now."""
        idle = (key for key, shown in self._shown.items() if key != but and not shown.lock.locked())
        if (oldest := next(idle, None)) is not None:
            del self._shown[oldest]
