"""How long the long tests run, and waiting for what tells nobody when it happens: a row, another process."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Final

SCALE: Final = int(os.environ.get("ANTIPHON_TEST_SCALE", "1"))
"""How much longer than usual the long tests run; ``make torture`` sets it."""
SEED: Final = int(os.environ.get("ANTIPHON_TEST_SEED", "20260302"))
"""Of every chance in the long tests; a failure is repeated with it."""
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
