"""A review channel on a simulated Discord."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.discord.review import ReviewRoom, quiet_review_room


@pytest.fixture
async def room(desk_file: Path, caplog: pytest.LogCaptureFixture) -> AsyncIterator[ReviewRoom]:
    """The review part on a simulated Discord, with no error in its log."""
    async with quiet_review_room(desk_file, caplog) as made:
        yield made
