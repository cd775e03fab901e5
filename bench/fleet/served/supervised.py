"""A vLLM server as ``antiphon worker --serve`` keeps it, on the hardware at hand: started, measured, killed, stopped.

    python -m bench.fleet.served.supervised --model FOLDER --profiles live --out FILE [--adapter FOLDER] [-- ARGUMENTS]

It prints how long a start takes, how far the canary moves under load, what the server reads and writes in a second
(``rates``), how long posts take (``replay``), how soon a kill is noticed and mended, and whether anything is left.
With ``-- --load-format dummy`` the weights are random: seconds are those of the model's size, answers have no meaning.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import psutil

from bench.fleet.asked.demands import demands_of
from bench.fleet.served import rates, replay
from bench.fleet.served.client import Client
from bench.measuring.output import note, save, show
from bot.serving.vllm.adapters import read_adapter
from bot.serving.vllm.asking import Asking
from bot.serving.vllm.canary import PROMPTS, drift
from bot.serving.vllm.failures import ServerFailed
from bot.serving.vllm.options import ServerOptions, default_name
from bot.serving.vllm.server import VllmServer

_KEY: Final = "a key of this run only"
_ASKINGS: Final = 5
_LOAD: Final = 64


async def canary_noise(options: ServerOptions, client: Client) -> list[dict[str, Any]]:
    """How far the canary's answers are from the first ones, on an idle server and beside other requests."""
    rows = []
    async with Asking(options.root, _KEY) as asking:

        async def ask() -> list[dict[str, float]]:
            return [await asking.first_tokens(options.name, prompt) for prompt in PROMPTS]

        first = await ask()
        for name, load in (("idle", 0), (f"beside {_LOAD} requests", _LOAD)):
            others = [asyncio.create_task(client.ask(64, 64, 4000)) for _ in range(load)]
            await asyncio.sleep(2.0 if load else 0.0)
            found = [drift(first, await ask()) for _ in range(_ASKINGS)]
            rows.append(
                {"canary": name, "askings": _ASKINGS}
                | {"mean_nats": max(one.mean for one in found), "worst_nats": max(one.worst for one in found)}
            )
            for other in others:
                other.cancel()
            await asyncio.gather(*others, return_exceptions=True)
    return rows


async def until_noticed(server: VllmServer) -> tuple[float, str]:
    """Kill a server's engine; seconds until the watch tells, and what."""
    engines = [one for one in psutil.Process().children(recursive=True) if "EngineCore" in " ".join(_words(one))]
    watching = asyncio.create_task(server.watch())
    await asyncio.sleep(0.5)
    began = time.monotonic()
    for one in engines:
        os.kill(one.pid, signal.SIGKILL)
    try:
        await watching
    except ServerFailed as fault:
        return time.monotonic() - began, fault.message
    raise RuntimeError("The watch ended without a fault.")


def _words(process: psutil.Process) -> list[str]:
    try:
        return [process.name(), *process.cmdline()]
    except psutil.Error:
        return []


async def _main(options: argparse.Namespace) -> None:
    found: dict[str, Any] = {"model": options.named or options.model, "arguments": options.arguments}
    with tempfile.TemporaryDirectory() as kept:
        wanted = ServerOptions(
            model=options.model,
            name=default_name(options.model),
            port=options.port,
            adapters=(read_adapter(options.adapter),) if options.adapter else (),
            arguments=tuple(options.arguments),
            program=options.program,
        )
        server = VllmServer(wanted, _KEY, Path(kept), note)
        starts = [await _started(server)]
        async with Client(wanted.base_url, wanted.name, _KEY) as client:
            found["canary"] = await canary_noise(wanted, client)
            show("The canary", found["canary"])
            read, written = await rates.measured(client)
            show("Prompts read", [read])
            show("Answers written", written)
            found |= {"reading": read, "writing": written, "profiles": {}}
            save(options.out, found)
            for name in options.profiles.split(","):
                demands = demands_of(name)
                rows = [await replay.flow(client, demands, count, 2 * count + 6, False) for count in (1, 8, 32, 128)]
                show(f"Posts of {name}, the model's part", rows)
                waits = await replay.person(client, demands, 64, False)
                show(f"A person who waits, {name}", waits)
                found["profiles"][name] = {"flow": rows, "person": waits}
                save(options.out, found)
        seconds, told = await until_noticed(server)
        await server.stop()
        starts.append(await _started(server))
        before = time.monotonic()
        await server.stop()
        left = [" ".join(_words(one)) for one in psutil.Process().children(recursive=True)]
        found |= {"start_seconds": starts, "noticed_seconds": seconds, "told": told, "left": left}
        found["stop_seconds"] = time.monotonic() - before
    show(
        "Start, kill, stop",
        [
            {"first start s": starts[0], "kill noticed s": seconds, "second start s": starts[1]}
            | {"stop s": found["stop_seconds"], "processes left": len(left)}
        ],
    )
    save(options.out, found)


async def _started(server: VllmServer) -> float:
    began = time.monotonic()
    await server.start()
    return time.monotonic() - began


def main() -> None:
    """Start, measure, kill and stop."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--model", required=True)
    made.add_argument("--named", default="", help="what the results call the model")
    made.add_argument("--adapter", type=Path)
    made.add_argument("--profiles", default="live")
    made.add_argument("--port", type=int, default=8000)
    made.add_argument("--program", default="vllm")
    made.add_argument("--out", type=Path)
    made.add_argument("arguments", nargs="*", help="more arguments of vllm serve, after --")
    asyncio.run(_main(made.parse_args()))


if __name__ == "__main__":
    main()
