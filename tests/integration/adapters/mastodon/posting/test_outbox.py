"""Replies to Mastodon over a bad line: none stands twice, whether the server honours the key or not."""

import pytest

from core.desk.database.connection import Database
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import SCALE, SEED
from tests.fakes.mastodon.sends import CERTAIN, KINDS, send_over_a_bad_line, sends_with

AMBIGUOUS = 7 * SCALE
"""First sends of replies that end in doubt."""


@pytest.mark.parametrize("database_server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("software", ["mastodon", "gotosocial"])
async def test_ambiguous_sends_leave_no_duplicate_and_lose_nothing(
    database: Database, clock: FakeClock, software: str
) -> None:
    """Each kind of fault in turn (I2): with a key a reply is sent until it stands; without one, a person is asked."""
    found = await send_over_a_bad_line(database, clock, software, sends_with(AMBIGUOUS), SEED)
    assert found.sends == found.posted + found.asked == sends_with(AMBIGUOUS)
    assert set(found.kinds) == set(KINDS)
    assert sum(count for kind, count in found.kinds.items() if kind not in CERTAIN) >= AMBIGUOUS
    assert (found.duplicates, found.lost) == (0, 0)
    if software == "mastodon":
        assert found.repeated > 0
        assert found.asked == 0
    else:
        assert found.repeated == 0, "what may be there is never sent again"
        assert found.asked > 0
        assert found.posted > 0
