"""Which transaction of this process is next: first come, first served.

Owns the order in which transactions of one process reach a SQLite file, which takes one at a time. Without turns each
would ask the file again and again, the one that asks at the right moment would win, and on a busy machine some would be
refused although no other program holds the file. Opens no connection and runs no statement itself.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy.exc import OperationalError


class Turns:
    """The turns of one process at one file.

    Args:
        patience_seconds: how long a transaction waits at the file for another program. A transaction that has already
            waited this long for its turn, behind one that was refused there, is refused too instead of waiting as long
            again.
    """

    def __init__(self, patience_seconds: float) -> None:
        self._patience_seconds = patience_seconds
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[Any] | None = None
        self._is_refused = False

    @property
    def is_mine(self) -> bool:
        """Whether the running task has its turn now; if it asked for another, it would wait for itself."""
        return self._holder is not None and self._holder is asyncio.current_task()

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for the transactions of this process that asked earlier, however long they take.

        Raises:
            sqlite3.OperationalError: another program held the file all the time.
        """
        asked, has_waited = time.monotonic(), self._lock.locked()
        async with self._lock:
            if has_waited and self._is_refused and time.monotonic() - asked >= self._patience_seconds:
                raise sqlite3.OperationalError("database is locked")
            self._holder, self._is_refused = asyncio.current_task(), False
            try:
                yield
            except OperationalError as err:
                self._is_refused = "locked" in str(err.orig)
                raise
            finally:
                self._holder = None
