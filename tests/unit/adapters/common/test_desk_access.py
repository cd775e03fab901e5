"""What communities want, remembered for half a minute."""

import asyncio
import logging

import pytest

from adapters.common.desk_access import HURRY_SECONDS, KEPT_SECONDS, PolicyMemory
from core.desk.rules.policy import CommunityPolicy
from core.errors import StoreUnavailable
from tests.fakes.machine.clock import Seconds
from tests.fakes.ports.governance import FakeGovernance


async def test_a_policy_is_asked_for_once_in_half_a_minute() -> None:
    """A raid must not become a flood of questions to the database."""
    governance, seconds = FakeGovernance(), Seconds()
    policies = PolicyMemory("discord", lambda: governance, seconds_now=seconds)
    await asyncio.gather(*(policies.of("1") for _ in range(50)))
    assert governance.asked == 1
    seconds.now += KEPT_SECONDS
    governance.policies["1"] = CommunityPolicy(reaction="🚩")
    assert (await policies.of("1")).reaction == "🚩"
    governance.policies["1"] = CommunityPolicy(reaction="⚠️")
    assert (await policies.of("1")).reaction == "🚩"
    policies.forget("1")
    assert (await policies.of("1")).reaction == "⚠️"


async def test_the_last_policy_holds_while_the_database_is_away(caplog: pytest.LogCaptureFixture) -> None:
    """Watching goes on as it was; who was never read about is not watched."""
    governance, seconds = FakeGovernance(), Seconds()
    governance.policies["1"] = CommunityPolicy(watched_channels=("5",))
    policies = PolicyMemory("discord", lambda: governance, seconds_now=seconds)
    await policies.of("1")
    seconds.now += KEPT_SECONDS
    governance.is_down = True
    with caplog.at_level(logging.WARNING):
        assert (await policies.of("1")).watched_channels == ("5",)
        assert (await policies.of("2")).watched_channels == ()
    assert "could not be read" in caplog.text
    with pytest.raises(StoreUnavailable):
        await governance.policy("discord", "1")


async def test_who_must_be_answered_at_once_is_answered_in_the_last_language_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A press has three seconds; a database that is slow costs it less than one of them."""
    assert HURRY_SECONDS < 1
    monkeypatch.setattr("adapters.common.desk_access.HURRY_SECONDS", 0.01)
    governance, seconds = FakeGovernance(), Seconds()
    governance.policies["1"] = CommunityPolicy(language="eu")
    policies = PolicyMemory("discord", lambda: governance, seconds_now=seconds)
    assert await policies.language_of("1") == "eu"
    governance.policies["1"] = CommunityPolicy(language="es")
    governance.slow_seconds = 60.0
    assert await policies.language_of("1") == "eu", "it is remembered"
    seconds.now += KEPT_SECONDS
    assert await policies.language_of("1") == "eu", "nothing newer is known"
    assert await policies.language_of("2") is None
    governance.slow_seconds = 0.0
    assert await policies.language_of("1") == "es"


async def test_what_can_wait_is_not_given_the_default() -> None:
    """Of a community of which nothing was ever known; one that was is as it was last."""
    governance, seconds = FakeGovernance(), Seconds()
    governance.policies |= {number: CommunityPolicy(watched_channels=("5",)) for number in ("1", "2")}
    policies = PolicyMemory("discord", lambda: governance, seconds_now=seconds)
    await policies.surely_of("1")
    seconds.now += KEPT_SECONDS
    governance.is_down = True
    assert (await policies.surely_of("1")).watched_channels == ("5",)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await policies.surely_of("2")
    governance.is_down = False
    assert (await policies.surely_of("2")).watched_channels == ("5",), "it is asked for again at once"
    assert (await policies.surely_of("2")).watched_channels == ("5",)
