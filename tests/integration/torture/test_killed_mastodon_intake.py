"""Processes killed with SIGKILL while they take in mentions on Mastodon: none is lost, none has its effect twice."""

from pathlib import Path

from sqlalchemy import URL

from tests.fakes.machine.patience import SCALE
from tests.torture.ends import mastodon_intake

KILLS = 3 * SCALE


async def test_kills_lose_no_mention_and_answer_none_twice(place: Path | URL, tmp_path: Path) -> None:
    """Where to go on asking is kept with the mentions, or not at all; whoever asks is answered once."""
    found = await mastodon_intake.killed_at(place, tmp_path, KILLS, seed=1)
    assert found.broken == ""
    assert found.kills == KILLS
    assert found.mentions > KILLS
