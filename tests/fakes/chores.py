"""A piece of work for a chore that is asked directly, and patience."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from bot.store.jobs import Job


def job(key: str = "chore:now", **payload: Any) -> Job:
    """Work that somebody took."""
    return Job("1", key, key.partition(":")[0], "", None, 1, "test", payload)


NOW: Final = job()


async def until(is_so: Callable[[], Awaitable[object]]) -> None:
    """Wait until something is so; fail after twenty seconds."""
    for _ in range(1000):
        if await is_so():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never was so")
