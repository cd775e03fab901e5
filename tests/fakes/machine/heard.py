"""What another process of Antiphon says of itself: on standard error, and over HTTP."""

import asyncio
import re
from asyncio.subprocess import Process
from typing import Any

from aiohttp import ClientSession

from tests.fakes.machine.patience import GUARD_SECONDS

OPERATED = {
    "ANTIPHON__OPERATIONS__LISTEN": "127.0.0.1:0",
    "ANTIPHON__OPERATIONS__LOG_FORMAT": "json",
}
"""Settings of a process that says all of it: at a port that its log names."""


async def heard(process: Process, words: str) -> str:
    """Everything on standard error up to the first line with these words, which must come."""
    assert process.stderr is not None
    lines = ""
    async with asyncio.timeout(GUARD_SECONDS):
        while words not in lines:
            line = (await process.stderr.readline()).decode()
            assert line, f"It ended before it said {words!r}:\n{lines}"
            lines += line
    return lines


def port_of(said: str) -> int:
    found = re.search(r"answered at port (\d+)", said)
    assert found, said
    return int(found.group(1))


async def told(port: int, route: str) -> tuple[int, Any]:
    async with ClientSession() as session, session.get(f"http://127.0.0.1:{port}{route}") as answer:
        return answer.status, await answer.json()
