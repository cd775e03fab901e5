"""Processes killed with SIGKILL while they take in Telegram's updates: none is lost, none has its effect twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import URL

from tests.torture.ends import telegram_intake

KILLS = int(os.environ.get("ANTIPHON_TEST_KILLS", "3"))


@pytest.mark.timeout(max(1800, 60 * KILLS))
async def test_kills_lose_no_update_and_handle_none_twice(place: Path | URL, tmp_path: Path) -> None:
    """Telegram forgets an update as soon as it is confirmed: by then it must be in the database."""
    telegram_intake.prepare()
    found = await telegram_intake.killed_at(place, tmp_path, KILLS, seed=1)
    assert found.broken == ""
    assert found.kills == KILLS
    assert found.handed_out >= found.updates > KILLS
    assert found.cases.count > 0 and found.cases.count + found.cases.unheard > KILLS
