"""What several model servers behind one setting gain, and what one of them costs that takes calls and never answers.

    python -m bench.desk.servers [--calls 300] [--at-once 24] [--places 4] [--seconds 0.4] [--limit 10] [--out FILE]

The servers are stand-ins on loopback with stated service times: each works on ``--places`` calls at once, and a call
takes ``--seconds`` on average (lognormal, sigma 0.5, the same draws in each run). One, two and three of them are
measured, then three of which one is a black hole; each time by the pool that Antiphon uses, and by turns without a
breaker, where a call that fails is lost. The calls are of 24 kinds, drawn by chance, and ``at home`` is the share of a
kind's calls that its most used server got. No model.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.measuring.children import in_child
from bench.measuring.model_server import MODEL, Silence, StandIn
from bench.measuring.output import Row, note, save, show
from core.errors import ModelUnavailable
from core.llm.backends.servers.chat import ChatModel
from core.llm.backends.servers.pool import open_chat
from core.ports import Generation, Message

KINDS: Final = 24
_SIGMA: Final = 0.5
_SEED: Final = 7
_Ask = Callable[[Sequence[Message]], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Plan:
    """One measurement.

    Attributes:
        servers: how many there are.
        black_holes: how many of them take calls and never answer.
        is_pool: whether the pool chooses, or turns do.
        calls: how many are made, ``at_once`` at a time.
        places: how many calls a server works on at once.
        seconds: how long a call is worked on, on average.
        limit: how long a call may take.
    """

    servers: int
    black_holes: int
    is_pool: bool
    calls: int
    at_once: int
    places: int
    seconds: float
    limit: float


def measured(plan: Plan) -> dict[str, Any]:
    """In a child: the seconds of each answered call, how many were lost, and what each server got."""
    return asyncio.run(_measured(plan))


async def _measured(plan: Plan) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        servers = []
        for number in range(plan.servers):
            trouble = Silence.ALL if number < plan.black_holes else None
            server = StandIn(_times(plan.seconds, number), plan.places, trouble)
            servers.append(await stack.enter_async_context(server.running()))
        ask = _pool(plan, servers, stack) if plan.is_pool else _by_turns(plan, servers, stack)
        seconds, lost, began = list[float](), 0, time.perf_counter()
        free, chance = asyncio.Semaphore(plan.at_once), random.Random(_SEED)  # nosec B311 # noqa: S311 - no secret

        async def call(number: int) -> None:
            nonlocal lost
            kind = chance.randrange(KINDS)
            messages = [Message("system", f"You do task {kind}."), Message("user", f"Post {number}.")]
            async with free:
                sent = time.perf_counter()
                try:
                    await ask(messages)
                except ModelUnavailable:
                    lost += 1
                else:
                    seconds.append(time.perf_counter() - sent)

        await asyncio.gather(*map(call, range(plan.calls)))
        took = time.perf_counter() - began
    return {"seconds": seconds, "lost": lost, "took": took, "got": [dict(server.begun) for server in servers]}


def _times(mean: float, number: int) -> Callable[[], float]:
    chance = random.Random(_SEED + number)  # nosec B311 # noqa: S311 - no secret
    return lambda: chance.lognormvariate(math.log(mean) - _SIGMA**2 / 2, _SIGMA)


def _pool(plan: Plan, servers: Sequence[StandIn], stack: AsyncExitStack) -> _Ask:
    chat = open_chat([server.url for server in servers], "", MODEL, parallel=plan.places * 2)
    stack.push_async_callback(chat.close)
    return lambda messages: chat.generate(messages, Generation(4), plan.limit)


def _by_turns(plan: Plan, servers: Sequence[StandIn], stack: AsyncExitStack) -> _Ask:
    chats = [ChatModel(server.url, "", MODEL, concurrency=plan.places * 2) for server in servers]
    for chat in chats:
        stack.push_async_callback(chat.close)
    turns = cycle(chats)
    return lambda messages: next(turns).generate(messages, Generation(4), plan.limit)


def _row(plan: Plan, found: dict[str, Any]) -> Row:
    got = [Counter[str](one) for one in found["got"]]
    kinds = [kind for kind in sum(got, Counter[str]()) if kind != "?"]  # that is the pool's own question
    most = sum(max(one[kind] for one in got) for kind in kinds)
    answered = found["seconds"]
    return {
        "servers": f"{plan.servers}, {plan.black_holes} black hole" if plan.black_holes else f"{plan.servers}",
        "by": "pool" if plan.is_pool else "turns",
        "answered": len(answered),
        "lost": found["lost"],
        "calls/s": len(answered) / found["took"],
        "p50 s": float(np.percentile(answered, 50)),
        "p95 s": float(np.percentile(answered, 95)),
        "longest s": max(answered),
        "at home": most / sum(one[kind] for one in got for kind in kinds),
        "calls of each": " ".join(str(sum(one[kind] for kind in kinds)) for one in got),
    }


def run(options: argparse.Namespace) -> list[Row]:
    """Measure each in a process of its own."""
    rows = list[Row]()
    for servers, black_holes in ((1, 0), (2, 0), (3, 0), (3, 1)):
        for is_pool in (True, False):
            plan = Plan(
                servers,
                black_holes,
                is_pool,
                options.calls,
                options.at_once,
                options.places,
                options.seconds,
                options.limit,
            )
            took = in_child(measured, plan)
            row = _row(plan, took.value)
            note(f"{row['servers']} by {row['by']}: {row['calls/s']:.1f} calls/s; others used {took.others:.0%}")
            rows.append({**row, "others": took.others})
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=24)
    parser.add_argument("--places", type=int, default=4, help="calls that a server works on at once")
    parser.add_argument("--seconds", type=float, default=0.4, help="mean time of a call")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds that a call may take")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    rows = run(options)
    show("several model servers", rows)
    save(options.out, {"servers": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
