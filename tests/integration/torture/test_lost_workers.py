"""Workers killed, stopped and cut off while they draft: every case is finished once, by somebody."""

from sqlalchemy import URL

from tests.fakes.machine.patience import SCALE
from tests.fakes.machine.postgres import new_database
from tests.torture.many.losses import Way, run


async def test_cases_of_lost_workers_are_finished_once(postgresql: URL) -> None:
    """Real processes on one PostgreSQL, some lost in each way."""
    async with new_database(postgresql) as address:
        found = await run(address, 6 * SCALE, lease_seconds=3.0, workers=4, at_once=2)
    assert found.broken == []
    assert dict(found.losses) == dict.fromkeys(Way, 2 * SCALE)
    assert all(found.leases.values()), "each way lost a case"
    assert found.in_review > 6 * SCALE
    assert found.in_review + found.given_up == found.cases
    assert found.refused > 0, "whoever was stopped or cut off came too late"
