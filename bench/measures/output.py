"""How benchmarks show what they measured: tables for people, JSON for programs, and the machine that they ran on."""

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

Row = Mapping[str, object]
WIDE = 180
"""Characters of a line in a file or a pipe."""


def machine() -> dict[str, object]:
    """The machine and versions that the figures come from."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
    }


def show(title: str, rows: Sequence[Row]) -> None:
    """Print one table; every row has the keys of the first. Without rows nothing is printed."""
    if not rows:
        return
    table = Table(title=title)
    for name in rows[0]:
        table.add_column(name, justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        table.add_row(*(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values()))
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    console.print(table)


def note(text: str) -> None:
    """Print a line about the progress of a run, apart from the results."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - for the person who waits


def save(path: Path | None, results: Mapping[str, object]) -> None:
    """Write the results and the machine as JSON, to a file or to standard output if none is named."""
    text = json.dumps({"machine": machine(), **results}, indent=2)
    if path is None:
        print(text)  # noqa: T201 - that is what it is for
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
