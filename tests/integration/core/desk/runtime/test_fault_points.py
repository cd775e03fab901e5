"""Every commit and every call of a platform can be broken by a test: each passes two named points.

``tests/integration/torture/test_crash_points.py`` breaks them one by one. Here everything that a desk does is watched:
what commits or calls without its points fails.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from sqlalchemy import event

from core.desk.database.connection import Database
from core.desk.rules.roles import Role
from core.desk.runtime import faults
from core.desk.upkeep.follow_ups import FollowUps
from tests.fakes.desk.boards import CHANNEL, board_of, choose_channel
from tests.fakes.desk.chores import NOW
from tests.fakes.desk.people import PLATFORM
from tests.fakes.ports.roles import FakeRoles
from tests.fakes.ports.surface import FakeSurface
from tests.torture.ends.crashes import SCENARIOS
from tests.torture.world.figures import TickingClock
from tests.torture.world.ground import Ground
from tests.torture.world.people import NATIVE
from tests.torture.world.platform import LoggedPlatform
from tests.torture.world.world import World

BEGIN, COMMIT, ROLLBACK = "BEGIN", "COMMIT", "ROLLBACK"
"""What the database says; a platform says ``CALL`` and what is called."""
CALL = "CALL "
CALLS = {f"{CALL}{name}" for name in ("read", "post", "find_reply", "retract", "roles", "show")}


class Told:
    """Tells a list of each call of an object before it makes it."""

    def __init__(self, real: object, heard: list[str]) -> None:
        vars(self).update(_real=real, _heard=heard)

    def __getattr__(self, name: str) -> Any:
        if f"{CALL}{name}" in CALLS:
            self._heard.append(f"{CALL}{name}")
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._real, name, value)


@pytest.fixture
async def heard() -> AsyncIterator[list[str]]:
    """All that is heard, in its order, while a desk does everything that it can do."""
    found = list[str]()
    async with AsyncExitStack() as stack:
        ground = stack.enter_context(Ground())

        async def reached(point: str) -> None:
            found.append(point)

        stack.enter_context(faults.installed(reached))
        for play in SCENARIOS.values():
            async with AsyncExitStack() as of_one:
                clock = TickingClock()
                database = await ground.open(of_one, clock)
                _listen(database, found)
                platform, native = LoggedPlatform(clock=clock), FakeRoles(**{NATIVE.user: Role.MODERATOR})
                world = World(database, clock, Told(platform, found), native=Told(native, found))  # type: ignore[arg-type]
                await play(world)
                await world.flag(5)
                await choose_channel(database, CHANNEL)
                await board_of(database, Told(FakeSurface(), found)).step()  # type: ignore[arg-type]
                clock.advance(25 * 3600)
                await FollowUps(database, {PLATFORM: world.platform}).do(NOW)
        yield found


def _listen(database: Database, heard: list[str]) -> None:
    for name, said in (("begin", BEGIN), ("commit", COMMIT), ("rollback", ROLLBACK)):
        event.listen(database.engine.sync_engine, name, lambda _, said=said: heard.append(said))


def test_each_commit_has_its_points(heard: list[str]) -> None:
    """One before it, in the transaction, and one after it, outside, both named after the transaction."""
    places = [place for place, said in enumerate(heard) if said == COMMIT]
    names = {heard[place - 1].removesuffix(": before the commit") for place in places}
    assert len(names) > 40
    for place in places:
        name = heard[place - 1].removesuffix(": before the commit")
        assert heard[place - 1 : place + 2] == [f"{name}: before the commit", COMMIT, f"{name}: after the commit"]


def test_each_call_of_a_platform_has_its_points(heard: list[str]) -> None:
    """One before it and one after it, and no transaction is open meanwhile."""
    is_open, of_bot = False, [said for said in heard if not said.startswith("platform: ")]
    for before, said, after in zip(of_bot, of_bot[1:], of_bot[2:], strict=False):
        is_open = said == BEGIN or (is_open and said not in (COMMIT, ROLLBACK))
        if said in CALLS:
            assert ": before" in before, f"{said} after {before}"
            assert after == before.replace(": before", ": after"), f"{after} after {said}"
            assert not is_open, f"{said} in a transaction"
    assert set(of_bot) >= CALLS
