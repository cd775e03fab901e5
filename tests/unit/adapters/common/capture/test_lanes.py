"""Work in lanes: in order, bounded, and none holds up another."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from adapters.common.capture.lanes import Lanes


async def _until(is_so: Callable[[], object]) -> None:
    while not is_so():  # noqa: ASYNC110 - a list is no event
        await asyncio.sleep(0)


async def test_lanes_work_in_order_and_count_what_is_too_much(caplog: pytest.LogCaptureFixture) -> None:
    """What is over a bound is neither done nor passed over in silence."""
    lanes = Lanes("tests", most_waiting=4, most_in_lane=3)
    done: list[int] = []
    gate = asyncio.Event()

    async def work(number: int) -> None:
        await gate.wait()
        done.append(number)

    taken = [lanes.submit("a", partial(work, number)) for number in range(5)]
    assert taken == [True, True, True, False, False]
    assert lanes.submit("b", lambda: work(10))
    assert not lanes.submit("c", lambda: work(11))
    gate.set()
    await _until(lambda: len(done) == 4)
    assert done[:1] == [0] and sorted(done) == [0, 1, 2, 10]
    assert [number for number in done if number < 10] == [0, 1, 2]
    assert lanes.left_out == 3
    assert "too many at once" in caplog.text
    await lanes.close()


async def test_a_lane_that_waits_does_not_hold_up_another() -> None:
    """A raid in one channel leaves the others their turn."""
    lanes, never = Lanes("tests", at_once=2), asyncio.Event()
    done: list[str] = []

    async def quick() -> None:
        done.append("quick")

    lanes.submit("raided", never.wait)
    lanes.submit("raided", never.wait)
    lanes.submit("calm", quick)
    await _until(lambda: done)
    assert done == ["quick"]
    await lanes.close()


async def test_work_that_fails_is_counted_and_its_words_stay_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """The next one in the lane is done all the same."""
    lanes = Lanes("tests")
    done: list[str] = []

    async def fail() -> None:
        raise ValueError("somebody's words")

    async def go_on() -> None:
        done.append("next")

    lanes.submit("a", fail)
    lanes.submit("a", go_on)
    await _until(lambda: done)
    assert done == ["next"] and lanes.failed == 1
    assert "ValueError" in caplog.text and "somebody's words" not in caplog.text


async def test_the_end_of_work_can_be_waited_for() -> None:
    """With what came of it, or nothing where it failed; what is dropped is cancelled, what has no room never begins."""
    lanes, never = Lanes("tests", most_in_lane=3), asyncio.Event()

    async def number() -> int:
        return 7

    async def fail() -> int:
        raise ValueError

    good, bad = lanes.follow("a", number), lanes.follow("a", fail)
    assert good is not None and bad is not None
    assert (await good, await bad) == (7, None)
    gate = asyncio.Event()
    left = lanes.follow("a", gate.wait)
    assert left is not None
    await asyncio.sleep(0)
    left.cancel()  # who waited has gone; the lane goes on
    gate.set()
    after = lanes.follow("a", number)
    assert after is not None and await after == 7
    ends = [lanes.follow("b", never.wait) for _ in range(4)]
    assert ends[3] is None
    await asyncio.sleep(0)
    given_up = ends[1]
    assert given_up is not None
    given_up.cancel()
    await lanes.close()
    ended = await asyncio.gather(*filter(None, ends), return_exceptions=True)
    assert [type(end) for end in ended] == [asyncio.CancelledError] * 3
