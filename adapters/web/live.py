"""What changes while a page is open: server-sent events, numbered by the log of all cases.

A page that slept asks from the number that it knew last, and is told what it missed. The
stream says which cases changed, and no word of them; and how long the oldest has waited, whenever that changed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Final

from aiohttp import web

from adapters.web.door import headers_of
from adapters.web.site import SECRET, SITE, visitor_of, waiting
from core.desk.rules.dashboard_ports import Visitor
from core.errors import AntiphonError

STOPPING: Final = web.AppKey("stopping", asyncio.Event)
_ALIVE_EVERY: Final = 15
"""Looks without news before a comment is sent, so that a connection that is gone is noticed."""
_SIZE: Final = 18


def number_of(said: str) -> int | None:
    """The number of an event as a browser repeats it; ``None`` for anything else."""
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _SIZE else None


async def events(request: web.Request) -> web.StreamResponse:
    """Tell the page which cases changed, until it goes away, its session is over, or the process ends."""
    since = number_of(request.headers.get("Last-Event-ID", ""))
    if since is None:
        since = number_of(request.query.get("since", ""))
    stream = web.StreamResponse(headers=headers_of(request) | {"X-Accel-Buffering": "no"})
    stream.content_type = "text/event-stream"
    await stream.prepare(request)
    try:
        async for event in _news(request, since):
            await stream.write(event)
    except (ConnectionResetError, AntiphonError):  # the browser asks again, from the number that it has
        pass
    return stream


async def _news(request: web.Request, since: int | None) -> AsyncIterator[bytes]:
    site, stopping = request.app[SITE], request.app[STOPPING]
    visitor: Visitor | None = visitor_of(request)
    held = dict[str, str]()  # what was taken since the page was made is told at once
    looks, told = 0, ""
    yield b"retry: 2000\n\n"
    while visitor is not None and not stopping.is_set():
        found = await site.overview.changes(visitor.people, since)
        holds = await site.overview.holds(visitor.people)
        touched = {case for case in held.keys() | holds.keys() if held.get(case) != holds.get(case)}
        if found.cases or touched or found.number != since:
            since, held, looks = found.number, holds, 0
            yield _event(found.number, sorted({*found.cases, *touched}))
        if looks % _ALIVE_EVERY == 0 and (said := await waiting(request)) != told:
            told = said
            yield f"event: waiting\ndata: {json.dumps(said)}\n\n".encode()
        looks += 1
        if looks % _ALIVE_EVERY == 0:
            yield b": still here\n\n"
            visitor = await site.doorkeeper.visitor(request[SECRET], is_idle=True)
        try:
            async with asyncio.timeout(site.poll_seconds):
                await stopping.wait()
        except TimeoutError:
            continue
    if visitor is None:
        yield b"event: over\ndata: {}\n\n"


def _event(number: int, cases: list[str]) -> bytes:
    return f"id: {number}\nevent: change\ndata: {json.dumps({'cases': cases})}\n\n".encode()
