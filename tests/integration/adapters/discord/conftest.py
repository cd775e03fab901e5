"""What tests of Discord share: an application behind a simulated Discord, and a platform on the wire."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.discord.town import FakeApplication
from tests.fakes.discord.wire import Wire, connected_wire


@pytest.fixture
def application() -> FakeApplication:
    """What stands behind a client in SimCord, as at the first start."""
    return FakeApplication()


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    """A platform, connected on loopback; no request went against Discord's description."""
    async with connected_wire() as made:
        yield made
