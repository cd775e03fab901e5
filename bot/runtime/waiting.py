"""A wait that an event may end: what every loop of a long-lived process does between two looks."""

from __future__ import annotations

import asyncio


async def pause(until: asyncio.Event, seconds: float) -> None:
    """Wait for the event, but no longer than that."""
    try:
        async with asyncio.timeout(seconds):
            await until.wait()
    except TimeoutError:
        return
