"""The tables of docs/figures/scaling.md, from the committed results.

    python -m bench.fleet.page

Owns the blocks between ``<!-- NAME -->`` and ``<!-- end -->`` of that page; its sentences are written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).with_name("results.json")
PAGE: Final = Path(__file__).parents[2] / "docs" / "figures" / "scaling.md"
_BLOCK: Final = re.compile(r"(<!-- (?P<name>\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
Rows = Sequence[Mapping[str, Any]]


def number(value: float) -> str:
    """A figure with three digits, and thousands apart."""
    if value >= 1000:
        digits = len(f"{value:.0f}") - 3
        return f"{round(value, -digits):,.0f}"
    return f"{value:.3g}"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def _asked(found: Mapping[str, Any]) -> str:
    keys = {"posts": "posts", "calls": "calls", "prompt_tokens": "tokens of prompts",
            "new_prompt_tokens": "of them new to a prefix cache", "written_tokens": "tokens written",
            "own_seconds": "seconds of its own"}  # fmt: skip
    rows = [[f"`{row['profile']}`", *(number(row[key]) for key in keys)] for row in found["asked"]]
    return table(["profile", *keys.values()], rows)


def _compared(found: Mapping[str, Any]) -> str:
    rows = []
    for row in found["compared"]:
        name = f"{row['flags a minute']:g}{', and a raid' if row['raids'] else ''}"
        pairs = [
            f"{number(row[what])} / {number(row[f'{what}, simulated'])} ({row[f'{what} off']:+.0%})"
            for what in ("a_minute", "p50", "p95")
        ]
        use = "gives the costs" if row["calibrates"] else "is foretold"
        sent = f"{row['sent']:g} / {number(row['sent, simulated'])}"
        rows.append([name, use, row["drafted"], *pairs, sent, f"{row['load']:.0f}"])
    heads = [
        "flags a minute",
        "the run",
        "drafted",
        "drafted a minute",
        "p50, s",
        "p95, s",
        "sent",
        "load of the machine",
    ]
    return table(heads, rows)


def _used(found: Mapping[str, Any]) -> str:
    keys = {"transactions": "transactions", "rows": "rows written", "KiB stored": "KiB stored",
            "KiB of log": "KiB of write-ahead log", "core s, database": "core s, database",
            "core s, bots": "core s, bots", "core s, workers": "core s, workers", "cards": "cards shown",
            "idle transactions a second": "transactions a second while idle",
            "queue, most": "longest queue"}  # fmt: skip
    rows = [[f"{row['flags a minute']:g}", *(number(row[key]) for key in keys)] for row in found["used"]]
    return table(["flags a minute", *keys.values()], rows)


def _sizes(found: Mapping[str, Any]) -> str:
    keys = {"posts a day": "posts a day", "embedded models": "embedded models, or", "GPUs": "GPUs",
            "worker slots": "worker slots", "cores, bots and workers": "cores, bots and workers",
            "cores, database": "cores, database", "transactions a second": "transactions a second",
            "rows a second": "rows a second", "GB a day": "GB a day", "GB kept": "GB kept", "people": "people",
            "GPU hours a day": "GPU hours a day", "core hours a day": "core hours a day"}  # fmt: skip
    return table(list(keys.values()), [[number(row[key]) for key in keys] for row in found["sizes"]])


def _bottlenecks(found: Mapping[str, Any]) -> str:
    return table(
        ["one of these", "is full at, posts a day"],
        [[row["part"], number(row["posts a day"])] for row in found["bottlenecks"]],
    )


def _simulated(found: Mapping[str, Any]) -> str:
    shares = {"GPUs busy": "time in which GPUs work", "slots busy": "slots busy", "database busy": "database busy"}
    counts = ("posts a day", "a second", "GPUs", "worker slots", "bots", "p50 s", "p95 s")
    rows = [
        [*(number(row[key]) for key in counts), *(f"{row[key]:.0%}" for key in shares), number(row["longest queue"])]
        for row in found["simulated"]
    ]
    return table([*counts, *shares.values(), "longest queue"], rows)


TABLES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "asked": _asked,
    "compared": _compared,
    "used": _used,
    "sizes": _sizes,
    "bottlenecks": _bottlenecks,
    "simulated": _simulated,
}


def written(page: str, found: Mapping[str, Any]) -> str:
    """The page with its tables from the results."""
    return _BLOCK.sub(lambda block: f"{block[1]}{TABLES[block['name']](found)}{block[3]}", page)


def main() -> None:
    """Write the page's tables."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
