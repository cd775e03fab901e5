"""Edits and deletions of posts with an open case: looked for, since no instance tells a bot of them."""

import asyncio

import pytest

from adapters.mastodon.connection.statuses import AT_ONCE
from bot.serve.supervision import cancel_all
from core.errors import PlatformBusy, StoreUnavailable
from core.models import PostRef
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON
from tests.integration.adapters.mastodon.capture.conftest import FAR, HATE, CaptureTown


async def _flagged(town: CaptureTown, count: int = 1) -> list[JSON]:
    """Posts with a case."""
    posts = [await town.people.post(town.author, f"{HATE} {number}") for number in range(count)]
    for post in posts:
        await town.asks(town.volunteer, "counter", post)
        await town.hear()
    town.server.requests.clear()
    return posts


async def test_an_edit_and_a_deletion_are_told(town: CaptureTown) -> None:
    first, second, third = await _flagged(town, 3)
    await town.people.edit(town.author, first, "peace")
    await town.people.delete(town.author, second)
    await town.capture.originals.look()
    assert sorted(town.desk.changes, key=str) == sorted(
        [(town.ref(first), "peace"), (town.ref(second), None), (town.ref(third), f"{HATE} 2")], key=str
    )
    assert [asked.path for asked in town.server.requests] == ["/api/v1/statuses", f"/api/v1/statuses/{second['id']}"]


async def test_only_what_is_news_is_told(town: CaptureTown) -> None:
    """A person who restarts asks the desk about each post once."""
    (post,) = await _flagged(town)
    for _ in range(3):
        await town.capture.originals.look()
    assert town.desk.changes == [(town.ref(post), f"{HATE} 0")]
    await town.people.edit(town.author, post, "peace")
    for _ in range(2):
        await town.capture.originals.look()
    assert town.desk.changes[1:] == [(town.ref(post), "peace")]


async def test_a_post_that_is_shown_again_is_told(town: CaptureTown) -> None:
    """Its author blocked us for a while."""
    (post,) = await _flagged(town)
    await town.people.block(town.author, town.server.bot)
    await town.capture.originals.look()
    await town.people.unblock(town.author, town.server.bot)
    await town.capture.originals.look()
    assert town.desk.changes == [(town.ref(post), None), (town.ref(post), f"{HATE} 0")]


async def test_many_posts_come_in_turn(town: CaptureTown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty with one question, and no more questions than a look has."""
    monkeypatch.setattr("adapters.mastodon.capture._MOST_QUESTIONS", 1)
    posts = await _flagged(town, AT_ONCE + 5)
    await town.capture.originals.look()
    assert [ref.message for ref, _ in town.desk.changes] == [post["id"] for post in posts[:AT_ONCE]]
    await town.capture.originals.look()
    assert {ref.message for ref, _ in town.desk.changes} == {post["id"] for post in posts}
    assert len(town.server.asked("GET", "/api/v1/statuses")) == 2


async def test_an_instance_that_gives_no_many_is_asked_one_by_one(
    town: CaptureTown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As before Mastodon 4.3, and some other software; a look has only so many questions."""
    monkeypatch.setattr("adapters.mastodon.capture._MOST_QUESTIONS", 3)
    town.server.fault("/api/v1/statuses", "404", method="GET", count=None)
    posts = await _flagged(town, 4)
    for _ in range(3):
        await town.capture.originals.look()
    assert {ref.message for ref, _ in town.desk.changes} == {post["id"] for post in posts}
    assert len(town.server.asked("GET", "/api/v1/statuses")) == 1


async def test_posts_from_elsewhere_and_of_another_home_are_left(town: CaptureTown) -> None:
    """An account that moved cannot ask for what its former instance called so."""
    (post,) = await _flagged(town)
    kept = town.desk.flagged[0]
    town.desk.flagged[:] = []
    for ref in (PostRef("mastodon", "old.example", FAR, post["id"]), PostRef("mastodon", "home.example", FAR, "a-b")):
        object.__setattr__(kept, "ref", ref)
        town.desk.flagged.append(kept)
    await town.capture.originals.look()
    assert town.server.requests == [] and town.desk.changes == []


async def test_a_fault_is_tried_again(
    town: CaptureTown, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (post,) = await _flagged(town)
    town.server.fault("/api/v1/statuses", "503", method="GET")
    with pytest.raises(PlatformBusy):
        await town.capture.originals.look()
    town.desk.errors.append(StoreUnavailable("The database does not answer.", remedy=""))
    monkeypatch.setattr("adapters.mastodon.capture.LOOK_SECONDS", 0.0)
    running = asyncio.create_task(town.capture.originals.run())
    await town.server.until(lambda: town.desk.changes != [])
    await cancel_all([running])
    assert town.desk.changes == [(town.ref(post), f"{HATE} 0")]
    assert "could not be looked for: The database does not answer." in caplog.text


async def test_it_works_on_gotosocial(gotosocial: MastodonServer) -> None:
    async with CaptureTown(gotosocial).running() as town:
        (post,) = await _flagged(town)
        await town.people.edit(town.author, post, "peace")
        await town.capture.originals.look()
        assert town.desk.changes == [(town.ref(post), "peace")]
