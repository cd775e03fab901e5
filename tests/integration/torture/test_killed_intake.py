"""Processes killed with SIGKILL while they take in Telegram's updates: none is lost, none has its effect twice."""

from pathlib import Path

from sqlalchemy import URL

from tests.fakes.machine.patience import SCALE
from tests.torture.ends import telegram_intake

KILLS = 3 * SCALE


async def test_kills_lose_no_update_and_handle_none_twice(place: Path | URL, tmp_path: Path) -> None:
    """Telegram forgets an update as soon as it is confirmed: by then it must be in the database."""
    found = await telegram_intake.killed_at(place, tmp_path, KILLS, seed=1)
    assert found.broken == ""
    assert found.kills == KILLS
    assert found.handed_out >= found.updates > KILLS
    assert found.cases.count > 0 and found.cases.count + found.cases.unheard > KILLS
