"""A platform on the wire, new for each test of posting."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.wire import TelegramWire, telegram_wire


@pytest.fixture
def governance() -> FakeGovernance:
    """What communities want, in memory."""
    return FakeGovernance()


@pytest.fixture
async def wire(server: TelegramServer, governance: FakeGovernance) -> AsyncIterator[TelegramWire]:
    """A platform, logged in at the fake Telegram."""
    async with telegram_wire(server, governance) as made:
        yield made
