"""A group with capture in it, in which no test lets anything be said for all to read."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.telegram.captured import CaptureTown
from tests.fakes.telegram.server.server import TelegramServer


@pytest.fixture
async def town(server: TelegramServer) -> AsyncIterator[CaptureTown]:
    """Antiphon is an administrator of the group and hears everything."""
    async with CaptureTown(server).running() as made:
        yield made
    assert made.in_public() == [] and made.people.of_bot(made.group) == []
