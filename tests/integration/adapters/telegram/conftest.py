"""What tests of Telegram share: a Bot API server on loopback."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.telegram.server.server import TelegramServer


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    """Telegram, served; no request and no update went against its description."""
    made = TelegramServer()
    async with made.running():
        yield made
    assert made.errors == []
