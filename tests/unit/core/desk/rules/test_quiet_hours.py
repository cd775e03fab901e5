"""Quiet hours by the clock on a community's wall."""

from datetime import UTC, datetime

import pytest

from core.desk.rules.policy import check_quiet_hours, check_time_zone, is_quiet
from core.errors import BadInput


@pytest.mark.parametrize(
    ("hours", "zone", "moment", "expected"),
    [
        ("22:00-07:00", "UTC", (2026, 3, 2, 21, 59), False),
        ("22:00-07:00", "UTC", (2026, 3, 2, 22, 0), True),
        ("22:00-07:00", "UTC", (2026, 3, 3, 6, 59), True),
        ("22:00-07:00", "UTC", (2026, 3, 3, 7, 0), False),
        ("12:00-13:30", "UTC", (2026, 3, 2, 13, 29), True),
        ("12:00-13:30", "UTC", (2026, 3, 2, 13, 30), False),
        ("22:00-07:00", "Europe/Madrid", (2026, 3, 2, 21, 30), True),
        ("22:00-07:00", "Europe/Madrid", (2026, 7, 2, 20, 30), True),
        ("22:00-07:00", "Europe/Madrid", (2026, 3, 2, 20, 30), False),
        ("", "UTC", (2026, 3, 2, 3, 0), False),
    ],
)
def test_hours_may_pass_midnight_and_follow_the_communitys_clock(
    hours: str, zone: str, moment: tuple[int, int, int, int, int], expected: bool
) -> None:
    """Summer time included."""
    assert is_quiet(hours, zone, datetime(*moment, tzinfo=UTC)) is expected


@pytest.mark.parametrize("hours", ["22-7", "24:00-07:00", "22:00", "22:00-22:00", "at night"])
def test_what_are_no_hours_is_refused_with_how_they_are_written(hours: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_quiet_hours(hours)
    assert "22:00-07:00" in caught.value.remedy


@pytest.mark.parametrize("name", ["", "Madrid", "../etc/passwd", "Europe/Atlantis", "a\0b"])
def test_a_time_zone_that_nobody_knows_is_refused(name: str) -> None:
    """So that no look at it fails later."""
    with pytest.raises(BadInput) as caught:
        check_time_zone(name)
    assert "Europe/Madrid" in caught.value.remedy
