"""What the tests of Telegram's review share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.telegram.review import TelegramRoom, telegram_room
from tests.fakes.telegram.server.server import TelegramServer


@pytest.fixture
async def room(
    server: TelegramServer, desk_file: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[TelegramRoom]:
    """A watched group and a moderators' chat; nothing may be logged as an error, and nothing lands in the group."""
    async with telegram_room(server, desk_file) as made:
        yield made
    assert server.town.of_bot(made.group) == []
    assert [one.getMessage() for one in caplog.get_records("call") if one.levelname == "ERROR"] == []
