"""Who hears the updates of one account: the port between what is the same for all platforms, and what is not.

Owns that port.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.errors import AntiphonError
from core.moderation.platforms import WaitingUpdate


@dataclass(frozen=True, slots=True)
class Delivery:
    """One update on its way to the listeners.

    Attributes:
        hear: hands it to them, again where it raised an error that passes.
        unfinished: what they leave to be done beside the updates that come next; known once they heard it.
    """

    hear: Callable[[], Awaitable[object]]
    unfinished: Sequence[asyncio.Future[None]] = ()


class Hearing(Protocol):
    """Who hears the updates of one account."""

    @property
    def platform(self) -> str:
        """What people call the platform."""
        ...

    @property
    def passing(self) -> tuple[type[AntiphonError], ...]:
        """The errors after which an update is handed to the listeners again: the database's, and maybe others."""
        ...

    def known_kinds(self) -> Collection[str]:
        """The kinds of update that this version knows."""
        ...

    def kind_of(self, payload: dict[str, Any]) -> str:
        """What kind of update it is."""
        ...

    def delivery(self, waiting: WaitingUpdate) -> Delivery:
        """An update, ready to be heard; whatever it raises, the update cannot be read."""
        ...
