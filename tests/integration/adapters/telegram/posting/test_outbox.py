"""Replies to Telegram over a bad line: none stands twice, and what nobody can know goes to a person."""

from core.desk.database.connection import Database
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import SCALE
from tests.fakes.telegram.sends import BATCH, CERTAIN, KINDS, send_over_a_bad_line
from tests.fakes.telegram.wire import TelegramWire

SENDS = 3 * BATCH * SCALE


async def test_the_outbox_sends_nothing_twice_and_asks_a_person(
    database: Database, clock: FakeClock, wire: TelegramWire
) -> None:
    """Each kind of fault in turn (I2): a reply of unknown fate is never sent again, whether it arrived or not."""
    found = await send_over_a_bad_line(database, clock, wire, SENDS)
    assert found.sends == SENDS
    assert set(found.kinds) == set(KINDS)
    assert (found.repeated, found.duplicates, found.lost) == (0, 0, 0)
    certain = sum(found.kinds[kind] for kind in CERTAIN if kind != "no connection")
    assert (found.posted, found.asked) == (certain, SENDS - certain)
    assert found.requests == SENDS + found.kinds["429"], "one request for each send, and another after a certain no"
    assert found.ambiguous == SENDS - certain
    assert found.requests == len(wire.server.asked("sendMessage"))
