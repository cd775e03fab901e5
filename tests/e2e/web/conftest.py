"""One Chromium for all tests of the pages that a process runs: to start it costs more than most of them."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser

from tests.fakes.web.chromium import chromium


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The browser; each test opens contexts of its own, and closes them (``forgotten``)."""
    async with chromium() as started:
        yield started
