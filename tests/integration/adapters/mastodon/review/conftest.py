"""What the tests of Mastodon's review share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.mastodon.review import MastodonRoom, mastodon_room
from tests.fakes.mastodon.server.server import MastodonServer


@pytest.fixture
async def room(
    server: MastodonServer, desk_file: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[MastodonRoom]:
    """An instance with two moderators; nothing may be logged as an error, and nothing is wider than direct.

    Each status of ours is for people of the room alone, and no request asked for another visibility.
    """
    async with mastodon_room(server, desk_file) as made:
        yield made
        known = {one.id for one in made.people.values()}
        for status in await made.said():
            assert status["visibility"] == "direct"
            assert {each["id"] for each in status["mentions"]} <= known
            assert status["tags"] == []
            assert len(status["mentions"]) > 0
    posted = server.asked("POST", "/api/v1/statuses")
    assert {one.form.get("visibility") for one in posted} <= {"direct"}
    assert all(one.headers.get("Idempotency-Key") for one in posted)
    assert [one.getMessage() for one in caplog.get_records("call") if one.levelname == "ERROR"] == []
