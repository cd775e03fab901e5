"""How long a server takes for what posts ask of it: the calls that the engine made, in their order and their sizes.

    python -m bench.fleet.served.replay --url http://127.0.0.1:8000/v1 --model NAME --profiles live --out FILE

A call begins when those have ended that had ended when the engine made it, and after the engine's own pause, unless
``--without-pauses`` leaves these out. Then one post that a person waits for is timed alone, beside posts that nobody
waits for, and beside such posts while these begin no new call, as Antiphon's workers hold them.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.fleet.asked.demands import Demand, demands_of, drawn
from bench.fleet.served.client import Client
from bench.measuring.output import Row, save, show

_TAIL: Final = 0.95
_PERSONS: Final = 20


async def post(client: Client, demand: Demand, has_pauses: bool, free: asyncio.Event | None = None) -> float:
    """Seconds of one post; where ``free`` is given, no call begins while it is not set."""
    ended = [asyncio.Event() for _ in demand.calls]

    async def call(place: int) -> None:
        wanted = demand.calls[place]
        for before in wanted.after:
            await ended[before].wait()
        if has_pauses:
            await asyncio.sleep(max(0.0, wanted.pause))
        if free is not None:
            await free.wait()
        await client.ask(wanted.prompt, wanted.new, wanted.written, wanted.n)
        ended[place].set()

    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for place in range(len(demand.calls)):
            group.create_task(call(place))
    if has_pauses:
        await asyncio.sleep(demand.tail)
    return time.monotonic() - began


async def flow(client: Client, demands: Sequence[Demand], at_once: int, count: int, has_pauses: bool) -> Row:
    """So many posts, of which so many at once; each begins when an earlier one ends."""
    waiting, seconds = list(drawn(demands, count, at_once)), list[float]()
    calls, began = client.calls, time.monotonic()

    async def slot() -> None:
        while waiting:
            seconds.append(await post(client, waiting.pop(), has_pauses))

    await asyncio.gather(*(slot() for _ in range(at_once)))
    whole = time.monotonic() - began
    return {
        "at_once": at_once,
        "posts": count,
        "calls": client.calls - calls,
        "posts_a_minute": count / whole * 60,
        "p50_seconds": _quantile(seconds, 0.5),
        "p95_seconds": _quantile(seconds, _TAIL),
    }


async def person(client: Client, demands: Sequence[Demand], background: int, has_pauses: bool) -> list[Row]:
    """Seconds of a post that a person waits for: alone, beside posts that nobody waits for, and with these held."""
    rows = list[Row]()
    for name, slots, is_held in (
        ("alone", 0, False),
        ("beside", background, False),
        ("beside, held", background, True),
    ):
        free, seconds = asyncio.Event(), list[float]()
        free.set()
        others = [asyncio.create_task(_on_and_on(client, demands, slot, has_pauses, free)) for slot in range(slots)]
        try:
            await asyncio.sleep(2.0 if slots else 0.0)
            for demand in drawn(demands, _PERSONS, 1):
                if is_held:
                    free.clear()
                seconds.append(await post(client, demand, has_pauses))
                free.set()
                await asyncio.sleep(0.5 if slots else 0.0)
        finally:
            for other in others:
                other.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        rows.append(
            {"a person's post": name, "posts": len(seconds), "background": slots}
            | {"p50_seconds": _quantile(seconds, 0.5), "p95_seconds": _quantile(seconds, _TAIL)}
        )
    return rows


async def _on_and_on(
    client: Client, demands: Sequence[Demand], seed: int, has_pauses: bool, free: asyncio.Event
) -> None:
    for demand in drawn(demands, 10_000, 100 + seed):
        await post(client, demand, has_pauses, free)


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


async def _main(options: argparse.Namespace) -> None:
    found: dict[str, object] = {}
    async with Client(options.url, options.model, os.environ.get("VLLM_API_KEY", "")) as client:
        for name in options.profiles.split(","):
            demands, has_pauses = demands_of(name), not options.without_pauses
            counts = [int(count) for count in options.at_once.split(",")]
            rows = [await flow(client, demands, count, max(8, 2 * count), has_pauses) for count in counts]
            show(f"Posts of {name}", rows)
            waits = await person(client, demands, options.background, has_pauses)
            show(f"A person who waits, {name}", waits)
            found[name] = {"flow": rows, "person": waits}
    save(options.out, {"is_with_pauses": not options.without_pauses, "profiles": found})


def main() -> None:
    """Replay and show."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--url", required=True)
    made.add_argument("--model", required=True)
    made.add_argument("--profiles", default="live", help="names of bench/fleet/asked/demands.json")
    made.add_argument("--at-once", default="1,4,16,64")
    made.add_argument("--background", type=int, default=32)
    made.add_argument("--without-pauses", action="store_true")
    made.add_argument("--out", type=Path)
    asyncio.run(_main(made.parse_args()))


if __name__ == "__main__":
    main()
