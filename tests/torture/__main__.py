"""``make torture``: random histories, crash points, kills, lost workers and ambiguous sends, as long as wanted.

    ANTIPHON_TORTURE_EXAMPLES  random histories on SQLite (default 500); a fifth as many on PostgreSQL
    ANTIPHON_TORTURE_STEPS     steps of each (default 60)
    ANTIPHON_TORTURE_PAIRS     pairs of crashes (default 300), after every single one
    ANTIPHON_TORTURE_CYCLES    kills on each database (default 200)
    ANTIPHON_TORTURE_LOSSES    workers lost while they draft over PostgreSQL (default 200); a fourth as many leaders
    ANTIPHON_TORTURE_SENDS     ambiguous sends to each platform and to GoToSocial, on each database (default 500)
    ANTIPHON_TORTURE_SCALE     how much longer than in make test its tests of bad lines run (default 10)
    ANTIPHON_TORTURE_DRAFTS    generated drafts whose request to each platform is looked at (default 10,000)
    ANTIPHON_TORTURE_SEED      the seed (default: another one each time, printed)
    ANTIPHON_TORTURE_JSON      a file for the figures

The parts run side by side, one for each core. Prints a table and one JSON document; exit code 1 if any promise was
broken.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.fakes.machine.postgres import make_templates, postgresql_server
from tests.torture.parts import ON_POSTGRESQL, PARTS, Figures, long_tests, number, timed


def main() -> int:
    """Run everything on both databases, as many parts at once as there are cores."""
    seed = number("SEED", random.SystemRandom().randrange(2**31))
    sys.stdout.write(f"seed {seed}\n")
    results: dict[str, Figures] = {}
    children = multiprocessing.get_context("spawn")
    with postgresql_server() as server, ProcessPoolExecutor(os.cpu_count(), mp_context=children) as pool:
        asyncio.run(make_templates(server))
        work = {
            pool.submit(timed, part, address, seed): f"{what}, {place}"
            for what, part in PARTS
            for place, address in (("SQLite", None), ("PostgreSQL", server))
        }
        work |= {pool.submit(timed, part, server, seed): f"{what}, PostgreSQL" for what, part in ON_POSTGRESQL}
        work[pool.submit(timed, long_tests, None, seed)] = "long tests"
        for done in as_completed(work):
            results[work[done]] = done.result()
            sys.stdout.write(f"{work[done]}: {json.dumps(results[work[done]])}\n")
            sys.stdout.flush()
    results = {name: results[name] for name in work.values()}
    _print(results)
    document = json.dumps({"seed": seed, "results": results}, indent=2)
    sys.stdout.write(document + "\n")
    if file := os.environ.get("ANTIPHON_TORTURE_JSON"):
        Path(file).write_text(document)
    return int(any(figures["broken"] for figures in results.values()))


def _print(results: dict[str, Figures]) -> None:
    columns = [
        "runs",
        "steps",
        "crash points",
        "crashes",
        "kills",
        "erasures",
        "sends",
        "ambiguous",
        "duplicates",
        "lost",
        "seconds",
    ]
    table = Table("", *columns)
    for name, figures in results.items():
        table.add_row(name, *(str(figures.get(column, "")) for column in columns))
    Console(width=160).print(table)


if __name__ == "__main__":
    sys.exit(main())
