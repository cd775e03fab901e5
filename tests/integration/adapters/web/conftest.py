"""The dashboard over a desk of Discord's people, and somebody who is logged in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.ports.cards import REVIEWED
from tests.fakes.web.browsing import Browser, Dashboard, dashboard


@pytest.fixture
async def room(desk_file: Path) -> AsyncIterator[Dashboard]:
    """The pages, and the desk behind them with one case in review."""
    async with dashboard(desk_file) as made:
        await made.desk.case(REVIEWED)
        yield made


@pytest.fixture
async def ane(room: Dashboard) -> Browser:
    """The browser of a moderator."""
    return await room.logged_in("ane", room.desk.ane)
