"""The program may end at any commit and at any call of a platform: nothing is lost, and nothing is posted twice."""

from collections.abc import Iterator

import pytest
from sqlalchemy import URL

from tests.fakes.machine.patience import SCALE
from tests.torture.ends.crashes import Enumerated, all_single, first_of_each, keeping, pairs, points, run
from tests.torture.world.ground import Ground

MUST = ("shred a person's key", "erase a person's words", "close folded cases", "split out")


@pytest.fixture
def ground() -> Iterator[Ground]:
    """Where each run's database comes from."""
    with Ground() as made:
        yield made


async def test_a_crash_at_any_point_breaks_no_promise(ground: Ground) -> None:
    """At every third named point that the standard scenario passes, and at a pair of points; or wherever it can."""
    reached, found = await points(ground), Enumerated()
    assert len(set(reached)) > 50
    once = list(first_of_each(reached))[::3]
    for plan in (*once, *(all_single(reached) if SCALE > 1 else ()), *pairs(reached, SCALE)):
        await run(ground, plan, found)
    assert found.broken == []
    assert {plan.name for plan in once} <= set(found.points), "Some point was not crashed at."


async def test_a_crash_while_order_is_kept_breaks_no_promise(ground: Ground) -> None:
    """A raid that is split and decided, an erasure, the chores: each is finished after a crash, wherever it was.

    At every second point, and at those after the commits that matter most; or wherever it can.
    """
    known, reached, found = set(await points(ground)), await points(ground, keeping), Enumerated()
    must = {f"{name}: after the commit" for name in MUST}
    every = [plan for plan in first_of_each(reached) if plan.name not in known]
    own = [plan for number, plan in enumerate(every) if number % 2 == 0 or plan.name in must]
    for plan in (*own, *(all_single(reached) if SCALE > 1 else ())):
        await run(ground, plan, found, keeping)
    assert found.broken == []
    assert {plan.name for plan in own} <= set(found.points), "Some point was not crashed at."
    assert must <= set(found.points)


async def test_a_crash_around_a_send_breaks_no_promise_in_postgresql(postgresql: URL) -> None:
    """The points of the send protocol, on the other database."""
    with Ground(postgresql) as ground:
        reached, found = await points(ground), Enumerated()
        names = [name for name in dict.fromkeys(reached) if name.startswith(("commit the intent", "post:", "platform"))]
        for plan in first_of_each(reached):
            if plan.name in names:
                await run(ground, plan, found)
        assert found.broken == []
        assert set(found.points) == set(names)
