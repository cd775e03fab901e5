"""Slots of the schedule: one after the other in UTC, whatever clocks on walls do."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.desk.upkeep.chores import slot_key, slot_of
from core.desk.upkeep.retention import months_before

_PERIODS = st.sampled_from([timedelta(minutes=1), timedelta(minutes=7), timedelta(hours=1), timedelta(days=1)])
_MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@given(_MOMENTS, _PERIODS)
def test_every_moment_is_in_one_slot(moment: datetime, every: timedelta) -> None:
    """Slots neither overlap nor leave a gap."""
    start = slot_of(moment, every)
    assert start <= moment < start + every
    assert slot_of(start, every) == start
    assert slot_of(start + every, every) == start + every


@pytest.mark.parametrize("day", [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)])
def test_a_change_to_or_from_summer_time_neither_doubles_nor_loses_a_slot(day: datetime) -> None:
    """The day has 23 or 25 hours on the walls of Madrid, and 24 slots."""
    madrid = ZoneInfo("Europe/Madrid")
    minutes = [(day + timedelta(minutes=minute)).astimezone(madrid) for minute in range(24 * 60)]
    keys = [slot_key("expiry", minute, timedelta(hours=1)) for minute in minutes]
    assert sorted(set(keys)) == [f"expiry:{day:%Y-%m-%d}T{hour:02}:00:00Z" for hour in range(24)]
    assert keys == sorted(keys)


def test_months_are_those_of_the_calendar() -> None:
    """Twelve months before the 29th of February is the 28th."""
    assert months_before(datetime(2028, 2, 29, 5, tzinfo=UTC), 12) == datetime(2027, 2, 28, 5, tzinfo=UTC)
    assert months_before(datetime(2026, 3, 31, tzinfo=UTC), 1) == datetime(2026, 2, 28, tzinfo=UTC)
    assert months_before(datetime(2026, 1, 15, tzinfo=UTC), 13) == datetime(2024, 12, 15, tzinfo=UTC)
