"""SQLite in the loop's own thread: each call that need not wait is done at once, and no other thread is waited for.

The driver has a thread for each connection, and asks it a dozen times in each transaction. Where another transaction
may have to be waited for, the driver's thread still waits. The loop has its turn before each call, as with the driver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Final

from sqlalchemy import Pool, event
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_connection

_WAIT: Final = ("BEGIN", "PRAGMA wal_checkpoint")
_off: Final = list[bool]()


@cache
def call_at_once() -> None:
    """Let all connections that this process opens from now on work so."""

    @event.listens_for(Pool, "connect")
    def _(connection: Any, _record: object) -> None:
        if isinstance(connection, AsyncAdapt_aiosqlite_connection) and not _off:
            driver: Any = connection.driver_connection
            driver._execute = partial(_at_once, driver._execute)


@contextmanager
def by_the_driver() -> Iterator[None]:
    """Leave the connections that are opened meanwhile as they are."""
    _off.append(True)
    try:
        yield
    finally:
        _off.pop()


async def _at_once(in_thread: Callable[..., Awaitable[Any]], call: Callable[..., Any], *args: Any, **how: Any) -> Any:
    if args and str(args[0]).startswith(_WAIT):
        return await in_thread(call, *args, **how)
    await asyncio.sleep(0)
    return call(*args, **how)
