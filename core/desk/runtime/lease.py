"""Work under a lease: the lease is renewed while the work is done, and given back at the end.

``pause`` is the wait of a long-lived process between two looks, which an event may end.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from core.desk.runtime import metrics
from core.errors import Conflict, StoreUnavailable

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


async def while_held(
    work: Awaitable[_T], renew: Callable[[], Awaitable[bool]], wait: Callable[[], Awaitable[None]]
) -> _T:
    """Do ``work`` and renew its lease meanwhile.

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
            metrics.LEASES_LOST.inc()
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
    """Release at once what this process holds; if that cannot be written, the lease runs out."""
    try:
        await giving
    except (Conflict, StoreUnavailable) as err:
        _LOG.warning("%s was not given back, its lease must run out: %s", what, err)


async def pause(until: asyncio.Event, seconds: float) -> None:
    """Wait for the event, but not longer than the given number of seconds."""
    try:
        async with asyncio.timeout(seconds):
            await until.wait()
    except TimeoutError:
        return
