"""SQLite in the loop's own thread: each call of a connection is done at once, and no other thread is waited for.

Transactions of one process take turns, so that none waits inside of a call for another one. Only for a file that no
other process writes.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine


async def call_at_once(engine: AsyncEngine) -> None:
    """Let all connections of an engine work so from now on."""

    @event.listens_for(engine.sync_engine, "connect")
    def _(connection: Any, _record: object) -> None:
        connection.driver_connection._execute = _at_once

    await engine.dispose()


async def _at_once(call: Callable[..., Any], *args: Any, **how: Any) -> Any:
    return call(*args, **how)
