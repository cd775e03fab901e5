"""What tests of Mastodon share: an instance on loopback."""

from __future__ import annotations

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
