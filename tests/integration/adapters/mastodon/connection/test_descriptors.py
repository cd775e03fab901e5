"""Connections to the instance end with what they were opened for, whatever came of it: a bot runs for months."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.mastodon.server.server import MastodonServer

_TIMES = 50
_FOLDER = Path("/proc/self/fd")

pytestmark = pytest.mark.skipif(not _FOLDER.is_dir(), reason="only Linux lists the descriptors of a process")


class _Sockets:
    """How many sockets this process holds, without what only the garbage collector would close."""

    def __init__(self) -> None:
        gc.collect()
        self._before = self._count()

    @staticmethod
    def _count() -> int:
        count = 0
        for descriptor in _FOLDER.iterdir():
            with suppress(FileNotFoundError):
                count += str(descriptor.readlink()).startswith("socket:")
        return count

    async def are_as_before(self) -> None:
        """Wait until there are no more than at first."""
        async with asyncio.timeout(GUARD_SECONDS):
            while self._count() > self._before:  # noqa: ASYNC110 - threads of the library tell nobody when they end
                await asyncio.sleep(0.01)


@pytest.fixture
async def held(server: MastodonServer) -> AsyncIterator[_Sockets]:
    """What was held before the test; the garbage collector comes to nobody's help."""
    found = _Sockets()
    gc.disable()
    yield found
    gc.enable()


async def test_a_client_leaves_nothing_open(server: MastodonServer, held: _Sockets) -> None:
    """Each of its threads had a session."""
    for _ in range(_TIMES):
        client = MastodonClient(MastodonOptions(server.url, server.bot.token))
        await client.open()
        await asyncio.gather(*(client.call(lambda api: api.notifications(limit=1)) for _ in range(3)))
        await client.close()
    await held.are_as_before()
