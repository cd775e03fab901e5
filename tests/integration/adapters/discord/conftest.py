"""What tests of Discord share: an application behind a simulated Discord, and a platform on the wire."""

from collections.abc import AsyncIterator

import pytest
from simcord.env import Env

from tests.fakes.discord.town import FakeApplication, Town
from tests.fakes.discord.wire import Wire, connected_wire


@pytest.fixture
def application() -> FakeApplication:
    """What stands behind a client in SimCord, as at the first start."""
    return FakeApplication()


@pytest.fixture
def reads_messages() -> bool:
    """Whether Discord shows us the words of others (``READS_MESSAGES``)."""
    return False


@pytest.fixture
async def town(application: FakeApplication, reads_messages: bool) -> AsyncIterator[Town]:
    """A server with people of each role, and our client connected."""
    env = Env(application.client(reads_messages=reads_messages), shard_count=1)
    await env.start()
    try:
        yield Town(env, application)
        env.raise_errors()
    finally:
        await env.shutdown()


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    """A platform, connected on loopback; no request went against Discord's description."""
    async with connected_wire() as made:
        yield made
