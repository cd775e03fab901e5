"""Who was told something within a day."""

from adapters.mastodon.capture import AGAIN_SECONDS, RecentRecipients
from tests.fakes.machine.clock import Seconds


def test_nobody_is_told_twice_within_a_day() -> None:
    ticks = Seconds()
    told = RecentRecipients(seconds_now=ticks)
    assert told.is_due("ane") and told.is_due("bo") and not told.is_due("ane")
    ticks.now += AGAIN_SECONDS
    assert told.is_due("ane") and not told.is_due("ane")


def test_the_memory_is_bounded() -> None:
    told = RecentRecipients(most=2, seconds_now=Seconds())
    assert [told.is_due(who) for who in ("ane", "bo", "cy", "ane", "cy")] == [True, True, True, True, False]
