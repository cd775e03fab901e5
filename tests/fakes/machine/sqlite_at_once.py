"""SQLite in the loop's own thread: each call of a connection is done at once, and no other thread is waited for.

A thread costs as much again as the transaction. Transactions of one process take turns, so that none waits inside of a
call for another one. Only for a file that nothing else writes.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine


async def call_at_once(engine: AsyncEngine, *, pauses: bool = False) -> None:
    """Let all connections of an engine work so from now on.

    Args:
        pauses: whether other tasks go on before each call, as they do while a thread makes it.
    """

    @event.listens_for(engine.sync_engine, "connect")
    def _(connection: Any, _record: object) -> None:
        connection.driver_connection._execute = _in_turn if pauses else _at_once

    await engine.dispose()


async def _at_once(call: Callable[..., Any], *args: Any, **how: Any) -> Any:
    return call(*args, **how)


async def _in_turn(call: Callable[..., Any], *args: Any, **how: Any) -> Any:
    await asyncio.sleep(0)
    return call(*args, **how)
