"""The markup of the pages, as that of every platform must be; what is covered is not there."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.web.speech import PageMarkup, beyond_state
from core.models import PostRef
from tests.markup_conformance import MarkupConformance


class TestPageMarkup(MarkupConformance):
    """Where the reader asked to see what is covered."""

    markup = PageMarkup(reveals=True)


def test_what_is_covered_is_left_out() -> None:
    """Until the reader asks."""
    assert PageMarkup().covered("words") == ""
    assert PageMarkup(reveals=True).covered("words") == "words"


def test_an_address_that_is_none_of_the_web_is_none() -> None:
    """Whatever a platform says of a post."""
    ref = PostRef("sample", "a", "b", "c")
    assert PageMarkup(lambda _: "javascript:alert(1)").post_url(ref) == ""
    assert PageMarkup(lambda _: "https://example.org/1").post_url(ref) == "https://example.org/1"


@pytest.mark.parametrize(
    ("locale", "today", "tomorrow"),
    [
        ("en", "6:40\u202fPM UTC", "Mar 3, 6:40\u202fPM UTC"),
        ("es", "18:40 UTC", "3 mar, 18:40 UTC"),
        ("it", "18:40 UTC", "3 mar, 18:40 UTC"),
        ("eu", "18:40 UTC", "mar. 3(a), 18:40 UTC"),
    ],
)
def test_the_clock_says_the_day_where_it_is_not_todays(locale: str, today: str, tomorrow: str) -> None:
    """As the language writes both."""
    now = datetime(2026, 3, 2, 18, 40, tzinfo=UTC)
    markup = PageMarkup(locale=locale, now=lambda: now - timedelta(hours=2))
    assert (markup.clock(now), markup.clock(now + timedelta(days=1))) == (today, tomorrow)


@pytest.mark.parametrize(
    ("state", "reason", "left"),
    [
        ("approved", "approved", ""),
        ("approved", "approved, as the second person after Ane", "as the second person after Ane"),
        ("left without a reply", "left without a reply: not hateful", "not hateful"),
        ("in review", "2 drafts", "2 drafts"),
        ("", "set up", "set up"),
    ],
)
def test_a_reason_does_not_say_the_state_again(state: str, reason: str, left: str) -> None:
    """What it says beyond the state is kept."""
    assert beyond_state(reason, state) == left
