"""A wait that an event may end: what loops of a long-lived process do between two looks."""

from __future__ import annotations

import asyncio


async def pause(until: asyncio.Event, seconds: float) -> None:
    """Wait for the event, but not longer than the given number of seconds."""
    try:
        async with asyncio.timeout(seconds):
            await until.wait()
    except TimeoutError:
        return
