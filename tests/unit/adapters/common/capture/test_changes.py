"""Which edits and deletions the desk is told of, without a platform."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from adapters.common.capture import known_posts
from adapters.common.capture.known_posts import KnownPosts, PostChanges
from adapters.common.desk_access import DeskAccess
from core.desk.review.casework import Casework
from core.errors import StoreUnavailable
from core.models import PostRef
from tests.fakes.ports.flag_desk import FlagDesk
from tests.fakes.ports.governance import FakeGovernance

START = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
YOUNG, OLD = START + timedelta(minutes=1), START - timedelta(minutes=1)


def ref(number: int) -> PostRef:
    return PostRef("plain", "town", "square", str(number))


@pytest.fixture
def desk() -> FlagDesk:
    return FlagDesk()


@pytest.fixture
def known() -> KnownPosts:
    """One flagged post, the first."""
    made = KnownPosts(START)
    made.add(ref(1), YOUNG)
    return made


@pytest.fixture
async def told(desk: FlagDesk, known: KnownPosts, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PostChanges]:
    """The part under test, without its pauses."""
    monkeypatch.setattr(known_posts, "_PAUSES_SECONDS", (0.0, 0.0))
    access = DeskAccess("plain", cast("Casework", desk), FakeGovernance())
    made = PostChanges(access, known)
    yield made
    await asyncio.gather(made.lanes.close(), made.old_lanes.close())


async def settle() -> None:
    """Let the lanes work."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_flagged_post_and_an_old_one_are_told_of_and_a_young_one_is_not(
    told: PostChanges, desk: FlagDesk
) -> None:
    """Of what nobody can have flagged the database is not asked."""
    told.edited(ref(1), YOUNG, "milder", "r1")
    told.deleted(ref(2), OLD)
    told.deleted(ref(3), YOUNG)
    await settle()
    assert sorted(desk.changes, key=str) == [(ref(1), "milder"), (ref(2), None)]


async def test_a_channel_takes_its_flagged_posts_along(told: PostChanges, desk: FlagDesk) -> None:
    """A platform says it once for all of them."""
    told.channel_deleted("town", "square")
    told.channel_deleted("town", "another")
    await settle()
    assert desk.changes == [(ref(1), None)]


async def test_a_database_that_is_away_is_told_again(told: PostChanges, desk: FlagDesk) -> None:
    """A few times; then the lane goes on, and the post is read anew before a send."""
    desk.errors += [StoreUnavailable("The database does not answer.", remedy="Wait.") for _ in range(2)]
    told.deleted(ref(1), YOUNG)
    await settle()
    assert desk.changes == [(ref(1), None)]
    desk.errors += [StoreUnavailable("The database does not answer.", remedy="Wait.") for _ in range(3)]
    told.deleted(ref(1), YOUNG)
    told.edited(ref(1), YOUNG, "later", "")
    await settle()
    assert desk.changes[1:] == [(ref(1), "later")]
    assert told.lanes.failed == 1


async def test_a_change_can_be_waited_for(told: PostChanges, desk: FlagDesk) -> None:
    """Where the platform's events wait until they are dealt with, what cannot be told is raised."""
    await told.told(ref(1), YOUNG, "milder", "r1")
    await told.told(ref(3), YOUNG, "milder", "r1")
    assert desk.changes == [(ref(1), "milder")]
    desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Wait."))
    with pytest.raises(StoreUnavailable):
        await told.told(ref(1), YOUNG, "harsher", "r2")
