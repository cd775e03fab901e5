"""The inbox of updates: committed before a platform forgets them, handed out once, erased when they are dealt with."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, select

from bot.cli.doctor.checks import examine_platforms
from core.desk.database.connection import Database
from core.desk.rules.platforms import ArrivedUpdate
from core.desk.runtime.faults import installed
from core.desk.schema import UpdateRow, UpdateState
from core.desk.store.inbox import AT_ONCE, KEPT, LEASE, StoredInbox
from core.desk.upkeep.erasure import Erasure
from core.desk.upkeep.retention import Cleanup
from tests.fakes.desk.canary import CANARY
from tests.fakes.desk.chores import DAY, NOW
from tests.fakes.desk.people import PLATFORM
from tests.fakes.desk.traces import everything
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.installation import settings_of


@pytest.fixture
def inbox(database: Database) -> StoredInbox:
    """The inbox of our account on a platform, as one process sees it."""
    return StoredInbox(database, PLATFORM, "bot-1", "process 1")


def _update(number: int, lane: str = "a", *, is_urgent: bool = False, **payload: Any) -> ArrivedUpdate:
    return ArrivedUpdate(number, payload or {"message": {"text": f"{CANARY} \0 \ud800"}}, lane, is_urgent)


async def _numbers(inbox: StoredInbox) -> list[int]:
    return [each.update.number for each in await inbox.waiting()]


async def _states(database: Database) -> dict[int, UpdateState]:
    query = select(UpdateRow.number, UpdateRow.state)
    rows = await database.run("look", lambda session: session.execute(query))
    return {number: state for number, state in rows}  # noqa: C416 - a row is no tuple to mypy


async def test_updates_are_given_back_as_they_came(inbox: StoredInbox, clock: FakeClock) -> None:
    """With every character that a text can hold, and with the moments that tell how old they are."""
    await inbox.keep([_update(7)], "8")
    clock.advance(60)
    (waiting,) = await inbox.waiting()
    assert waiting.update == _update(7)
    assert (waiting.handed_out_at - waiting.received_at).total_seconds() == 60
    assert await inbox.cursor() == "8"


async def test_an_update_and_the_offset_are_committed_together(inbox: StoredInbox) -> None:
    """An offset without its update would make the platform forget what nobody has."""

    async def stop(point: str) -> None:
        if point == "keep updates: before the commit":
            raise RuntimeError

    with installed(stop), pytest.raises(RuntimeError):
        await inbox.keep([_update(1)], "2")
    assert await _numbers(inbox) == []
    assert await inbox.cursor() is None


async def test_a_repeated_update_is_not_handed_out_again(inbox: StoredInbox, database: Database) -> None:
    """Neither while it waits nor when it is done; those that come with it are."""
    await inbox.keep([_update(1)], "2")
    await inbox.keep([_update(1, text="other words")], "2")
    assert [each.update for each in await inbox.waiting()] == [_update(1)]
    await inbox.done(1)
    await inbox.keep([_update(1), _update(2)], "3")
    assert await _numbers(inbox) == [2]
    assert await _states(database) == {1: UpdateState.DONE, 2: UpdateState.WAITING}


async def test_numbers_may_begin_anew_after_a_quiet_week(inbox: StoredInbox, clock: FakeClock) -> None:
    """Telegram draws a new number then: below the old one the offset would hide it, and an old number is no repeat."""
    await inbox.keep([_update(500), _update(501)], "502")
    await inbox.done(500)
    await inbox.done(501)
    clock.advance(7 * DAY)
    assert (await inbox.cursor(KEPT), await inbox.cursor()) == (None, "502")
    await inbox.keep([_update(499), _update(500)], "501")
    assert await _numbers(inbox) == [499, 500]
    assert await inbox.cursor(KEPT) == "501"


async def test_an_update_that_comes_by_itself_leaves_the_offset(inbox: StoredInbox) -> None:
    """A webhook may bring a later one first: who polls afterwards must still get the earlier one."""
    await inbox.keep([_update(3)], "4")
    await inbox.keep([_update(9)])
    assert await inbox.cursor() == "4"


async def test_urgent_updates_are_handed_out_first(inbox: StoredInbox, clock: FakeClock) -> None:
    """However many others wait."""
    await inbox.keep([_update(number) for number in range(AT_ONCE + 10)])
    clock.advance(1)
    await inbox.keep([_update(900, is_urgent=True)])
    assert await _numbers(inbox) == [900, *range(AT_ONCE - 1)]


async def test_what_is_done_holds_no_words(inbox: StoredInbox, database: Database) -> None:
    """Its number stays, so that it is not handled again."""
    await inbox.keep([_update(1)])
    assert CANARY in await everything(database)
    await inbox.done(1)
    assert CANARY not in await everything(database)
    assert await _states(database) == {1: UpdateState.DONE}


async def test_one_process_hands_out_at_a_time(database: Database, inbox: StoredInbox, clock: FakeClock) -> None:
    """Another takes over when the first one gives it back, or is silent for longer than its lease."""
    other = StoredInbox(database, PLATFORM, "bot-1", "process 2")
    await inbox.keep([_update(1)])
    assert (await _numbers(inbox), await _numbers(other)) == ([1], [])
    await inbox.release()
    assert (await _numbers(other), await _numbers(inbox)) == ([1], [])
    clock.advance(LEASE.total_seconds() + 1)
    assert await _numbers(inbox) == [1]


async def test_accounts_do_not_see_each_other(database: Database, inbox: StoredInbox) -> None:
    other = StoredInbox(database, PLATFORM, "bot-2", "process 1")
    await inbox.keep([_update(1)], "2")
    await other.keep([_update(1), _update(5)], "6")
    await other.done(1)
    assert (await _numbers(inbox), await _numbers(other)) == ([1], [5])
    assert (await inbox.cursor(), await other.cursor()) == ("2", "6")


async def test_what_nobody_could_deal_with_is_kept_for_days_and_then_gone(
    database: Database, inbox: StoredInbox, clock: FakeClock
) -> None:
    """It may tell what was wrong; its words are kept no longer than those of a closed case, and at most six days."""
    await inbox.keep([_update(number) for number in (1, 2, 3, 4)])
    await inbox.done(1)
    await inbox.put_aside(2, is_known=True)
    await inbox.put_aside(3, is_known=False)
    assert await _numbers(inbox) == [4]
    clock.advance(2 * DAY)
    await Cleanup(database).do(NOW)
    assert (await everything(database)).count(CANARY) == 3
    await Cleanup(database, words_kept=timedelta(days=2)).do(NOW)
    assert CANARY not in await everything(database)
    assert await _numbers(inbox) == []
    assert set(await _states(database)) == {1, 2, 3, 4}
    clock.advance(KEPT.total_seconds())
    await Cleanup(database).do(NOW)
    assert await _states(database) == {}


async def test_words_that_were_pruned_are_scrubbed_off_the_disk(database: Database, inbox: StoredInbox) -> None:
    """As those of every other erasure are; where there was nothing to erase, nothing is rewritten."""

    async def scrubs() -> int:
        return (await everything(database)).count("scrub:")

    await inbox.keep([_update(1)])
    await Cleanup(database).do(NOW)
    assert await scrubs() == 0
    await Cleanup(database, words_kept=timedelta(0)).do(NOW)
    assert await scrubs() > 0


async def test_the_erasure_of_a_person_reaches_what_waits(database: Database, inbox: StoredInbox) -> None:
    """Of somebody whom no case names, too: what they wrote, and what others answered to it."""
    somebody = {"id": 77, "first_name": CANARY}
    await inbox.keep(
        [
            _update(1, message={"from": somebody, "text": "x"}),
            _update(2, message={"from": {"id": 1}, "reply_to_message": {"from": somebody}}),
            _update(3, message={"from": {"id": 777}, "message_id": 77, "text": "7"}),
        ]
    )
    await inbox.put_aside(2, is_known=True)
    await Erasure(database).erase("another platform", "77")
    assert CANARY in await everything(database)
    assert not (await Erasure(database).erase(PLATFORM, "77")).is_known
    assert CANARY not in await everything(database)
    assert await _numbers(inbox) == [3]


async def test_doctor_counts_what_was_put_aside(
    database: Database, inbox: StoredInbox, place: Path | URL, tmp_path: Path
) -> None:
    """That something failed is a finding; that a platform has news for a later version is none."""
    await inbox.keep([_update(1), _update(2), _update(3)])
    await inbox.put_aside(1, is_known=True)
    await inbox.put_aside(2, is_known=False)
    await inbox.put_aside(3, is_known=False)
    findings = await examine_platforms(settings_of(place, tmp_path))
    found = {(each.ok, each.detail.split()[0]) for each in findings if each.name == f"updates of {PLATFORM}"}
    assert found == {(False, "1"), (True, "2")}
