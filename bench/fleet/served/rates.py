"""How many tokens a second a server reads and writes: what ``bench.fleet.service.Rates`` needs.

python -m bench.fleet.served.rates --url http://127.0.0.1:8000/v1 --model NAME [--out FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from pathlib import Path
from statistics import median
from typing import Final

from bench.fleet.served.client import Client
from bench.measuring.output import Row, save, show

AT_ONCE: Final = (1, 8, 32, 64, 128, 256)
READ_TOKENS: Final = 2048
WRITTEN_TOKENS: Final = 256
_READS: Final = 8
_SHORT: Final = 32


async def reading(client: Client) -> Row:
    """Tokens of prompts a second that the cache does not hold: one prompt alone, and eight at once."""
    await client.ask(READ_TOKENS, READ_TOKENS, 1)
    alone = median([await client.ask(READ_TOKENS, READ_TOKENS, 1) for _ in range(_READS)])
    began = time.monotonic()
    await asyncio.gather(*(client.ask(READ_TOKENS, READ_TOKENS, 1) for _ in range(_READS)))
    together = time.monotonic() - began
    await client.ask(READ_TOKENS, _SHORT, 1)
    cached = median([await client.ask(READ_TOKENS, _SHORT, 1) for _ in range(_READS)])
    return {
        "prompt_tokens": READ_TOKENS,
        "alone_a_second": READ_TOKENS / alone,
        "eight_at_once_a_second": _READS * READ_TOKENS / together,
        "seconds_alone": alone,
        "seconds_from_the_cache": cached,
    }


async def writing(client: Client, at_once: int) -> Row:
    """Tokens a second of all answers together while so many grow."""
    await asyncio.gather(*(client.ask(_SHORT, _SHORT, 8) for _ in range(at_once)))
    began = time.monotonic()
    each = await asyncio.gather(*(client.ask(_SHORT, _SHORT, WRITTEN_TOKENS) for _ in range(at_once)))
    seconds = time.monotonic() - began
    return {
        "at_once": at_once,
        "all_together_a_second": at_once * WRITTEN_TOKENS / seconds,
        "each_a_second": WRITTEN_TOKENS / median(each),
    }


async def measured(client: Client) -> tuple[Row, list[Row]]:
    """Both."""
    return await reading(client), [await writing(client, count) for count in AT_ONCE]


async def _main(options: argparse.Namespace) -> None:
    async with Client(options.url, options.model, os.environ.get("VLLM_API_KEY", "")) as client:
        read, written = await measured(client)
    show("Prompts read", [read])
    show("Answers written", written)
    save(options.out, {"reading": read, "writing": written})


def main() -> None:
    """Measure and show."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--url", required=True)
    made.add_argument("--model", required=True)
    made.add_argument("--out", type=Path)
    asyncio.run(_main(made.parse_args()))


if __name__ == "__main__":
    main()
