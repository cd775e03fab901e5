"""The scheduler's leader killed and stopped: another one leads, and each slot is done once (invariant I17)."""

from pathlib import Path

from sqlalchemy import URL

from tests.fakes.machine.patience import SCALE
from tests.fakes.machine.postgres import new_database
from tests.torture.many.leaders import run


async def test_slots_are_done_once_through_losses_of_the_leader(postgresql: URL, tmp_path: Path) -> None:
    """Real processes on one PostgreSQL."""
    async with new_database(postgresql) as address:
        found = await run(address, tmp_path, 4 * SCALE, seed=3)
    assert found.broken == []
    assert found.kills > 0 < found.stops
    assert found.kills + found.stops == len(found.leases) == 4 * SCALE
