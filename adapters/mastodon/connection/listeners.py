"""Who hears what people wrote to us: the chain of listeners, in their order.

Owns that order. Knows no commands and no cards.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

from mastodon.return_types import Status

MENTION: Final = "mention"
"""The kind of what names us: in public, to followers, or to us alone."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One notification, as it is handed to the listeners.

    Attributes:
        number: names it among all, the same if it is handed out again.
        kind: as the instance names it, such as ``mention``.
        status: what was written, as it reads now.
        received_at: when the notification was committed.
        is_late: it was written more than ten minutes before it was handed out, as after an outage.
        unfinished: what a listener leaves to be done beside the notifications that come next; this one is dealt with
            once all of it has ended, and waits for the next start where some of it was cancelled.
    """

    number: int
    kind: str
    status: Status
    received_at: datetime
    is_late: bool = False
    unfinished: list[asyncio.Future[None]] = field(default_factory=list)


Listener: TypeAlias = Callable[[Heard], Awaitable[bool]]
"""Hears a notification of one kind; ``True`` if it dealt with it, so that the listeners after it do not hear it.

Raises ``StoreUnavailable`` or ``PlatformBusy`` where it is to be heard again later.
"""


class Listeners:
    """The listeners of one account, by kind."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = defaultdict(list)

    def add(self, kind: str, listener: Listener) -> None:
        """Hear the notifications of a kind, after those that listen already."""
        self._listeners[kind].append(listener)

    def kinds(self) -> frozenset[str]:
        """The kinds that somebody listens to."""
        return frozenset(kind for kind, listeners in self._listeners.items() if listeners)

    async def hear(self, heard: Heard) -> bool:
        """Hand a notification to its listeners in their order, until one deals with it; whether one did."""
        for listener in tuple(self._listeners[heard.kind]):
            if await listener(heard):
                return True
        return False
