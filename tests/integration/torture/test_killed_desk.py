"""Processes killed with SIGKILL while they flag, draft, send and erase: nothing is lost, posted twice or left over."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import URL

from core.desk.database.connection import Database
from tests.fakes.desk.people import SECRET, settle
from tests.fakes.machine.patience import SCALE
from tests.fakes.machine.postgres import new_database
from tests.torture.ends.child import Place
from tests.torture.ends.kills import Killed, look, run


@pytest.mark.parametrize("cycles", [4 * SCALE])
async def test_kills_lose_nothing_and_post_nothing_twice(
    database_server: URL | None, tmp_path: Path, cycles: int
) -> None:
    """Real processes over one database and one platform, killed at random moments, on both databases."""
    if database_server is None:
        found = await _killed(Place(tmp_path), tmp_path / "world", cycles)
    else:
        async with new_database(database_server) as address:
            text = address.render_as_string(hide_password=False)
            found = await _killed(Place(tmp_path, text), address, cycles)
    assert found.broken == {}
    assert (found.duplicates, found.lost, found.restless) == (0, 0, 0)
    assert found.kills + found.stops == cycles
    assert found.flags >= cycles
    assert found.posts > 0


async def _killed(place: Place, where: Path | URL, cycles: int) -> Killed:
    database = await Database.open(where, secret=SECRET)
    await settle(database)
    await database.close()
    kills, stops = await asyncio.to_thread(run, place, cycles, stops=SCALE > 1)
    return await look(place, cycles, kills, stops)
