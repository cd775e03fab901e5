"""What tests of Mastodon share: an instance on loopback, and one that is not quite like it."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.mastodon.server.server import MastodonServer


@pytest.fixture
async def server() -> AsyncIterator[MastodonServer]:
    """Mastodon, served; no request and no answer went against its description."""
    made = MastodonServer()
    async with made.running():
        yield made
    assert made.errors == []


@pytest.fixture
async def gotosocial() -> AsyncIterator[MastodonServer]:
    made = MastodonServer(kind="gotosocial", domain="small.example")
    async with made.running():
        yield made
    assert made.errors == []
