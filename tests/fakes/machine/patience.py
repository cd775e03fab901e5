"""Waiting for what tells nobody when it happens: a row of a database, the work of another process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

GUARD_SECONDS: Final = 300
"""Only bounds a hang."""


async def until(is_so: Callable[[], Awaitable[object]]) -> None:
    """Wait until something is so.

    Raises:
        TimeoutError: it never was.
    """
    async with asyncio.timeout(GUARD_SECONDS):
        while not await is_so():  # noqa: ASYNC110 - what is waited for is no event
            await asyncio.sleep(0.02)
