"""Work under a lease: done while the lease is renewed beside it, and given back at the end.

Knows no job, no case and no database.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

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
