"""Watched hashtags and the local timeline: opt-in, nothing twice, and a closed feed is explained."""

import asyncio
import logging

import pytest

from adapters.mastodon.connection.instance import Instance, instance_of
from adapters.mastodon.connection.statuses import why_closed
from bot.serve.supervision import cancel_all
from core.desk.rules.policy import CommunityPolicy
from core.models import Priority
from tests.fakes.mastodon.server.server import MastodonServer
from tests.integration.adapters.mastodon.capture.conftest import HATE, CaptureTown

TAG = "#newcomers"
WATCHED = CommunityPolicy(watched_channels=(TAG,), keywords=("parasites",), review_channel="mod")


@pytest.fixture
async def watching(town: CaptureTown) -> CaptureTown:
    """A hashtag is watched from now on."""
    town.set_policy(WATCHED)
    await town.people.post(town.author, f"{HATE}, said long ago {TAG}")
    await town.capture.feeds.look()
    return town


async def test_what_the_filter_finds_is_flagged_once(watching: CaptureTown) -> None:
    town = watching
    found = await town.people.post(town.author, f"{HATE} {TAG}", spoiler="politics")
    keyword = await town.people.post(town.stranger, f"What parasites! {TAG}")
    await town.people.post(town.author, f"Lovely weather {TAG}")
    await town.people.post(town.author, HATE)
    for _ in range(2):
        await town.capture.feeds.look()
    assert {post.ref.message: post.flagged_how for post in town.desk.flagged} == {
        found["id"]: "watched channel",
        keyword["id"]: "keyword",
    }
    first = next(post for post in town.desk.flagged if post.ref.message == found["id"])
    assert (first.flagged_by, first.priority, first.score) == (town.server.bot.id, Priority.DETECTED, 0.99)
    assert (first.ref, first.text) == (town.ref(found), f"politics\n\n{HATE} {TAG}")
    assert town.detector.read == [first.text, f"Lovely weather {TAG}"]
    assert await town.people.written_by(town.server.bot) == []


async def test_nothing_is_read_without_a_manager_s_word(town: CaptureTown) -> None:
    await town.people.post(town.author, f"{HATE} {TAG}")
    await town.capture.feeds.look()
    assert town.server.asked("GET", "/api/v1/timelines/**") == []


async def test_a_status_in_two_feeds_is_looked_at_once(watching: CaptureTown) -> None:
    town = watching
    town.set_policy(CommunityPolicy(watched_channels=(TAG, "#migrants", "local"), review_channel="mod"))
    await town.capture.feeds.look()
    local = town.people.add_account("eva")
    await town.people.post(local, f"Lovely weather {TAG} #migrants")
    for _ in range(2):
        await town.capture.feeds.look()
    assert town.detector.read == [f"Lovely weather {TAG} #migrants"]


async def test_bots_and_what_we_wrote_are_not_looked_at(watching: CaptureTown) -> None:
    town = watching
    bot = town.people.add_account("feeds", bot=True)
    await town.people.post(bot, f"{HATE} {TAG}")
    await town.people.post(town.server.bot, f"{HATE} {TAG}")
    await town.capture.feeds.look()
    assert town.desk.flagged == [] and town.detector.read == []


async def test_pages_are_read_to_the_end(watching: CaptureTown) -> None:
    town = watching
    for number in range(45):
        await town.people.post(town.author, f"Lovely weather {number} {TAG}")
    await town.capture.feeds.look()
    assert len(town.detector.read) == 45
    assert len(town.server.asked("GET", "/api/v1/timelines/tag/newcomers")) == 3


async def test_where_to_go_on_is_kept_behind_what_was_looked_at(watching: CaptureTown) -> None:
    """A process that ends meanwhile leaves it to the next."""
    town = watching
    before = town.bookmarks[TAG].kept
    town.detector.slow_seconds = 3600.0
    await town.people.post(town.author, f"{HATE} {TAG}")
    looking = asyncio.create_task(town.capture.feeds.look())
    await town.server.until(lambda: len(town.server.asked("GET", "/api/v1/timelines/tag/newcomers")) == 2)
    await asyncio.sleep(0.05)
    assert town.bookmarks[TAG].kept == before
    await cancel_all([looking])


async def test_a_find_without_its_conversation_is_better_than_none(watching: CaptureTown) -> None:
    """Nobody would flag it again."""
    town = watching
    town.server.fault("/api/v1/statuses/*/context", "503", count=None)
    post = await town.people.post(town.author, f"{HATE} {TAG}")
    await town.capture.feeds.look()
    assert [(each.ref.message, each.thread) for each in town.desk.flagged] == [(post["id"], ())]


async def test_a_closed_feed_is_explained_once(server: MastodonServer, caplog: pytest.LogCaptureFixture) -> None:
    server.settings.timelines_access["hashtag_feeds"] = {"local": "disabled", "remote": "disabled"}
    async with CaptureTown(server).running() as town:
        town.set_policy(WATCHED)
        for _ in range(2):
            await town.capture.feeds.look()
        said = f"{TAG} is watched, but {server.domain} shows this feed to nobody: its administrator closed it."
        assert await town.capture.notes() == (said,)
        assert caplog.text.count(said) == 1
    # The description of the API leaves out that a feed of hashtags may be disabled, as it may be since Mastodon 4.5.
    server.errors[:] = [each for each in server.errors if "/hashtag_feeds/" not in each]


async def test_a_feed_that_is_refused_is_explained_once(
    watching: CaptureTown, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the instance said of itself."""
    town = watching
    caplog.clear()
    town.server.fault("/api/v1/timelines/**", "403", count=None)
    for _ in range(2):
        await town.capture.feeds.look()
    assert caplog.text.count(f"{TAG} is watched, but could not be read") == 1


async def test_a_limit_is_waited_for(watching: CaptureTown) -> None:
    town, paused = watching, list[float]()

    async def pause(seconds: float) -> None:
        paused.append(seconds)
        await asyncio.sleep(0)

    town.capture.feeds._sleep = pause
    town.server.fault("/api/v1/timelines/**", "429", seconds=300.0)
    running = asyncio.create_task(town.capture.feeds.run())
    await town.server.until(lambda: len(paused) >= 2)
    await cancel_all([running])
    assert 60 < paused[0] <= 301 and paused[1] == 60.0


async def test_it_works_on_gotosocial(gotosocial: MastodonServer, caplog: pytest.LogCaptureFixture) -> None:
    """Which does not say who may read which feed."""
    caplog.set_level(logging.WARNING)
    async with CaptureTown(gotosocial).running() as town:
        town.set_policy(WATCHED)
        await town.capture.feeds.look()
        post = await town.people.post(town.author, f"{HATE} {TAG}")
        await town.capture.feeds.look()
        assert [each.ref.message for each in town.desk.flagged] == [post["id"]]
        assert await town.capture.notes() == () and caplog.text == ""


def _instance(**access: dict[str, str]) -> Instance:
    return instance_of({"domain": "Home.example", "configuration": {"timelines_access": access}})


@pytest.mark.parametrize(
    ("access", "name", "words"),
    [
        ({}, TAG, ""),
        ({"hashtag_feeds": {"local": "public", "remote": "authenticated"}}, TAG, ""),
        ({"hashtag_feeds": {"local": "public", "remote": "disabled"}}, TAG, "shows only its own posts"),
        ({"hashtag_feeds": {"local": "disabled", "remote": "public"}}, TAG, "shows only posts of other instances"),
        ({"hashtag_feeds": {"local": "disabled", "remote": "disabled"}}, TAG, "to nobody"),
        ({"live_feeds": {"local": "disabled", "remote": "public"}}, "local", "to nobody"),
        ({"live_feeds": {"local": "public", "remote": "disabled"}}, "local", ""),
        ({}, "general", "neither a hashtag nor the word local"),
    ],
)
def test_why_a_feed_is_closed(access: dict[str, dict[str, str]], name: str, words: str) -> None:
    """A token reads what those who are logged in may read."""
    why = why_closed(_instance(**access), name)
    assert words in why and bool(words) == bool(why)
