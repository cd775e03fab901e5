"""What one process holds at a time: work under a lease that is renewed beside it, and an office.

Owns the heartbeat and the way back of what is held. Knows no job and no case.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TypeVar

from bot.store.engine.database import Database, Session
from bot.store.work import offices
from core.errors import Conflict, StoreUnavailable

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


async def while_held(
    work: Awaitable[_T], renew: Callable[[], Awaitable[bool]], wait: Callable[[], Awaitable[None]]
) -> _T:
    """Do ``work`` while its lease is renewed beside it.

    Args:
        renew: renews the lease; ``False`` if it was lost.
        wait: returns when the lease must be renewed again.

    Raises:
        Conflict: the lease was lost, and the work was stopped.
    """
    doing, beating = asyncio.ensure_future(work), asyncio.create_task(_beat(renew, wait))
    try:
        await asyncio.wait({doing, beating}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            await beating
            raise Conflict("The lease of this work was lost.", remedy="The process that has it now goes on.")
        return await doing
    finally:
        for task in (doing, beating):
            task.cancel()
        await asyncio.wait({doing, beating})


async def _beat(renew: Callable[[], Awaitable[bool]], wait: Callable[[], Awaitable[None]]) -> None:
    """Renew a lease until it is lost."""
    while True:
        await wait()
        try:
            if not await renew():
                return
        except StoreUnavailable as err:
            _LOG.warning("a lease could not be renewed: %s", err)


async def give_back(what: str, giving: Awaitable[object]) -> None:
    """Let another process have at once what is held here; the lease takes care of what cannot be written."""
    try:
        await giving
    except (Conflict, StoreUnavailable) as err:
        _LOG.warning("%s was not given back, its lease must run out: %s", what, err)


class Office:
    """An office that one process holds at a time.

    Args:
        owner: names this process among all.
        lease: how long its holder may be silent before another process takes it over.
    """

    def __init__(self, database: Database, name: str, owner: str, lease: timedelta) -> None:
        self._database = database
        self._name = name
        self._owner = owner
        self._lease = lease
        self._until: datetime | None = None

    async def is_held(self, session: Session) -> bool:
        """Whether this process holds the office: it takes a free one, and renews its own at half time."""
        if self._until is not None and self._lease / 2 < self._until - session.moment <= self._lease:
            return True
        is_held = await offices.lead(session, self._name, self._owner, self._lease)
        self._until = session.moment + self._lease if is_held else None
        return is_held

    async def resign(self) -> None:
        """Give the office back, so that the next holder need not wait."""
        self._until = None
        resigning = self._database.run("resign", lambda session: offices.resign(session, self._name, self._owner))
        await give_back(f"the office {self._name!r}", resigning)
