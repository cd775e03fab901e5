"""A platform on the wire, new for each test of posting."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.wire import MastodonWire, mastodon_wire


@pytest.fixture
async def wire(server: MastodonServer) -> AsyncIterator[MastodonWire]:
    """A platform, logged in at the fake instance."""
    async with mastodon_wire(server) as made:
        yield made
