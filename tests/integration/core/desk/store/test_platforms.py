"""How platforms stand, in the database: kept by each process for itself, read by every other one."""

from datetime import timedelta

from core.desk.database.connection import Database
from core.desk.schema import PlatformState
from core.desk.views.platforms import PlatformStatus, SeenPlatform, forget, keep, seen, troubles
from tests.fakes.machine.clock import FakeClock

_LEASE = timedelta(seconds=60)
UP = PlatformStatus("discord", PlatformState.CONNECTED)
DOWN = PlatformStatus("discord", PlatformState.WAITING, 1, "It is closed.", "Wait.", wait_seconds=30)


async def _keep(database: Database, standing: PlatformStatus, owner: str = "one") -> None:
    await database.run("keep", lambda session: keep(session, owner, [standing], _LEASE))


async def _seen(database: Database) -> list[SeenPlatform]:
    return await database.run("look", seen)


async def _troubled(database: Database) -> list[tuple[str, str]]:
    return [(one.platform, one.message) for one in await database.run("look for troubles", troubles)]


async def test_since_when_it_stands_so_stays_until_it_changes(database: Database, clock: FakeClock) -> None:
    """It is said again and again while the process lives; another failure is a change."""
    began = clock.now
    for _ in range(3):
        await _keep(database, DOWN)
        clock.advance(10)
    (first,) = await _seen(database)
    assert (first.since, first.again_at) == (began, began + timedelta(seconds=30))
    assert (first.failures, first.message, first.remedy, first.is_gone) == (1, "It is closed.", "Wait.", False)
    again = PlatformStatus("discord", PlatformState.WAITING, 2, "It is closed.", "Wait.", wait_seconds=60)
    await _keep(database, again)
    (second,) = await _seen(database)
    assert (second.since, second.failures) == (clock.now, 2)


async def test_a_process_that_is_silent_is_gone_and_gives_way_to_the_next(database: Database, clock: FakeClock) -> None:
    """Its row is shown until another process serves the platform; nobody is told of its trouble any more."""
    await _keep(database, DOWN)
    assert await _troubled(database) == [("discord", "It is closed.")]
    clock.advance(61)
    (gone,) = await _seen(database)
    assert gone.is_gone
    assert await _troubled(database) == []
    await _keep(database, UP, "two")
    (now,) = await _seen(database)
    assert (now.state, now.is_gone) == (PlatformState.CONNECTED, False)


async def test_a_platform_that_another_process_is_connected_to_is_no_trouble(
    database: Database, clock: FakeClock
) -> None:
    """Each process keeps its own row; one that ends in order takes it away."""
    await _keep(database, DOWN, "one")
    await _keep(database, UP, "two")
    assert len(await _seen(database)) == 2
    assert await _troubled(database) == []
    await database.run("forget", lambda session: forget(session, "two"))
    assert await _troubled(database) == [("discord", "It is closed.")]
