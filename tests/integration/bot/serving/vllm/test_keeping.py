"""A worker drafts only while its servers are well: a fault ends its drafting in order, a start begins it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.drafting.queue import Backoff
from bot.serving.vllm.failures import ServerFailed
from bot.serving.vllm.keeping import FIRST_ATTEMPTS, Keeper
from bot.serving.vllm.server import VllmServer
from tests.fakes.machine.patience import GUARD_SECONDS, until
from tests.fakes.vllm.standing_in import StandIn, kill

Make = Callable[..., VllmServer]
SHORT = Backoff("test", first_seconds=0.02, most_seconds=0.1)


@dataclass
class Drafting:
    """Stands in for the workers: what runs, and whether its last case is allowed to end."""

    rounds: int = 0
    ended: int = 0
    may_end: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, halt: asyncio.Event) -> None:
        self.rounds += 1
        await halt.wait()
        await self.may_end.wait()
        self.ended += 1


@asynccontextmanager
async def kept(keeper: Keeper, drafting: Drafting, drain_seconds: float = 60) -> AsyncIterator[asyncio.Event]:
    """The servers started and drafted with, until the event is set."""
    stop = asyncio.Event()
    await keeper.start()
    running = asyncio.create_task(keeper.run(drafting, stop, drain_seconds))
    try:
        yield stop
        stop.set()
        async with asyncio.timeout(GUARD_SECONDS):
            await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await keeper.stop()


async def times(drafting: Drafting, rounds: int) -> None:
    await until(lambda: asyncio.sleep(0, drafting.rounds >= rounds))


async def test_a_server_that_died_is_started_again_and_drafting_goes_on(
    make: Make, stand_in: StandIn, told: list[str]
) -> None:
    """By kill -9, twice; each time the cases that were begun are let go first."""
    drafting = Drafting()
    drafting.may_end.set()
    async with kept(Keeper([make(stand_in.options())], SHORT, told.append), drafting):
        for number in (1, 2):
            await times(drafting, number)
            kill(stand_in.starts[-1]["pid"])
        await times(drafting, 3)
    assert drafting.ended == 3
    assert len(stand_in.starts) == 3
    assert not stand_in.is_left()
    assert sum("does not run" in line for line in told) == 2


async def test_a_mismatch_of_the_canary_lets_what_runs_end_before_the_server_is_started_again(
    make: Make, stand_in: StandIn, told: list[str]
) -> None:
    """Nothing new is begun meanwhile, and the server stays up for what was."""
    drafting = Drafting()
    async with kept(Keeper([make(stand_in.options())], SHORT, told.append), drafting):
        await times(drafting, 1)
        stand_in.does(shift=0.5)
        await until(lambda: asyncio.sleep(0, any("not to be trusted" in line for line in told)))
        assert (len(stand_in.starts), drafting.ended, drafting.rounds) == (1, 0, 1)
        assert stand_in.is_left()
        stand_in.does()
        drafting.may_end.set()
        await times(drafting, 2)
    assert len(stand_in.starts) == 2


async def test_a_server_that_stays_wrong_is_never_drafted_with(make: Make, stand_in: StandIn, told: list[str]) -> None:
    """Its starts are tried again and again, with pauses, until it answers as before."""
    drafting = Drafting()
    drafting.may_end.set()
    async with kept(Keeper([make(stand_in.options())], SHORT, told.append), drafting):
        await times(drafting, 1)
        stand_in.does(shift=0.5)
        await until(lambda: asyncio.sleep(0, len(stand_in.starts) >= 3))
        assert drafting.rounds == 1
        stand_in.does()
        await times(drafting, 2)


async def test_two_servers_fall_alone_and_are_started_alone(
    make: Make, stand_in: StandIn, told: list[str], tmp_path: Path
) -> None:
    """The writer's start is not paid for again where the judge's died."""
    judge = StandIn(tmp_path / "judge")
    drafting = Drafting()
    drafting.may_end.set()
    servers = [make(stand_in.options()), make(judge.options(name="judge"))]
    async with kept(Keeper(servers, SHORT, told.append), drafting):
        await times(drafting, 1)
        kill(judge.starts[0]["pid"])
        await times(drafting, 2)
    assert (len(stand_in.starts), len(judge.starts)) == (1, 2)
    assert not judge.is_left()


async def test_a_stop_does_not_wait_longer_than_the_drain(make: Make, stand_in: StandIn, told: list[str]) -> None:
    """Also while a server is being drained; what is not finished is cancelled, which gives the case back."""
    drafting = Drafting()
    async with kept(Keeper([make(stand_in.options())], SHORT, told.append), drafting, drain_seconds=0.05):
        await times(drafting, 1)
        stand_in.does(shift=0.5)
        await until(lambda: asyncio.sleep(0, any("not to be trusted" in line for line in told)))
    assert drafting.ended == 0
    assert not stand_in.is_left()


async def test_a_stop_while_a_server_is_started_again_leaves_nothing(
    make: Make, stand_in: StandIn, told: list[str]
) -> None:
    drafting = Drafting()
    drafting.may_end.set()
    async with kept(Keeper([make(stand_in.options())], SHORT, told.append), drafting):
        await times(drafting, 1)
        stand_in.does(start_seconds=600)
        kill(stand_in.starts[0]["pid"])
        await until(lambda: asyncio.sleep(0, len(stand_in.starts) == 2))
    assert not stand_in.is_left()


async def test_a_first_start_is_tried_a_few_times_and_then_says_why(
    make: Make, stand_in: StandIn, told: list[str]
) -> None:
    stand_in.does(prints="torch.OutOfMemoryError: CUDA out of memory.\n", exits=1)
    with pytest.raises(ServerFailed, match="too little memory"):
        await Keeper([make(stand_in.options())], SHORT, told.append).start()
    assert len(stand_in.starts) == FIRST_ATTEMPTS


async def test_a_first_start_that_would_fail_alike_is_not_tried_again(
    make: Make, stand_in: StandIn, told: list[str]
) -> None:
    stand_in.does(prints="Repository Not Found\n", exits=1)
    with pytest.raises(ServerFailed, match="was not found"):
        await Keeper([make(stand_in.options())], SHORT, told.append).start()
    assert len(stand_in.starts) == 1


async def test_what_drafting_fails_with_is_raised(make: Make, stand_in: StandIn, told: list[str]) -> None:
    async def fails(_: asyncio.Event) -> None:
        raise ZeroDivisionError

    keeper = Keeper([make(stand_in.options())], SHORT, told.append)
    await keeper.start()
    with pytest.raises(ZeroDivisionError):
        await keeper.run(fails, asyncio.Event(), 1)
    await keeper.stop()
    assert not stand_in.is_left()
