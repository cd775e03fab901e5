"""Which posts the database is asked about."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.common.capture.known_posts import KnownPosts
from core.errors import NotAllowed
from core.models import PostRef

START = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)


def ref(message: int, channel: str = "2") -> PostRef:
    return PostRef("sample", "1", channel, str(message))


def test_of_a_young_message_that_was_not_flagged_nothing_is_asked() -> None:
    """Only what was flagged here, or is older than our listening, may have a case."""
    known, young, old = KnownPosts(START), START + timedelta(minutes=1), START - timedelta(minutes=1)
    assert not known.may_have_case(ref(1), young)
    assert known.may_have_case(ref(1), old) and not known.is_known(ref(1))
    known.add(ref(1), young)
    assert known.is_known(ref(1)) and known.may_have_case(ref(1), young)
    assert known.in_channel("1", "2") == [ref(1)]
    assert known.in_channel("1", "3") == known.in_channel("2", "2") == []


def test_the_same_number_in_another_channel_is_another_post() -> None:
    """On some platforms each chat counts its messages for itself."""
    known = KnownPosts(START)
    known.add(ref(1), START + timedelta(minutes=1))
    assert not known.is_known(ref(1, "3"))


def test_a_forgotten_post_may_still_have_a_case() -> None:
    """The memory is bounded; what falls out of it counts as old, so no change of it is missed."""
    known = KnownPosts(START, most=2)
    moments = [START + timedelta(minutes=minute) for minute in range(1, 4)]
    for number, moment in enumerate(moments):
        known.add(ref(number), moment)
    assert not known.is_known(ref(0)) and known.may_have_case(ref(0), moments[0])
    assert known.is_known(ref(2))


def test_a_post_whose_flag_is_refused_is_not_known() -> None:
    """The filter looks at it as at any other; one that had a case before keeps it."""
    known, nine = KnownPosts(START), ref(9)
    with pytest.raises(NotAllowed), known.about_to_have(nine, START):
        assert known.is_known(nine)
        raise NotAllowed("too many")
    assert not known.is_known(nine)
    with known.about_to_have(nine, START):
        pass
    with pytest.raises(NotAllowed), known.about_to_have(nine, START):
        raise NotAllowed("too many")
    assert known.is_known(nine)
