"""``python -m tools.pages.sample`` runs `antiphon draft` with the embedded model and keeps what it printed.

It takes one to two minutes on two cores. docs/samples/draft.txt has the whole output, with the date and the machine;
README.md has the beginning of it.
"""

import os
import platform
import subprocess  # nosec B404 # programs of our own choice, never through a shell
import sys
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Final

import psutil

from adapters.sample import SAMPLE_THREAD

ROOT: Final = Path(__file__).parent.parent.parent
RECORD: Final = ROOT / "docs" / "samples" / "draft.txt"
README: Final = ROOT / "README.md"
POST: Final = SAMPLE_THREAD[6].text
BEGIN, END = "<!-- the sample begins -->", "<!-- the sample ends -->"
_COLUMNS: Final = 100
_DRAFTS: Final = 1
_FRAME, _FRAME_END, _CUT = "╭", "╰", "[...]"


def record() -> str:
    """The output of a run now, below three lines that say where it comes from."""
    run = [sys.executable, "-c", "from bot.cli.main import main; main()", "draft", POST]
    environment = os.environ | {"COLUMNS": str(_COLUMNS), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, text=True, cwd=ROOT) as begun:  # nosec B603 # programs of our own choice, never through a shell
        peak, output = _watched(begun)
    version, now, load = metadata.version("antiphon"), datetime.now(UTC), os.getloadavg()[0]
    head = (
        f'$ antiphon draft "{POST}"',
        f"# antiphon {version}, {now:%d %B %Y}, embedded model, profile live",
        f"# {os.cpu_count()} cores ({platform.machine()}), load {load:.1f} at the end; peak memory {peak / 1e9:.1f} GB",
    )
    return "\n".join(line.rstrip() for line in (*head, "", *output.splitlines())) + "\n"


def _watched(begun: subprocess.Popen[str]) -> tuple[int, str]:
    """The most memory that a program had, looked at ten times a second, and what it said.

    Pages that it mapped twice, such as the weights of two servers, count once.
    """
    process, peak = psutil.Process(begun.pid), 0
    while True:
        try:
            output, _ = begun.communicate(timeout=0.1)
        except subprocess.TimeoutExpired:
            with suppress(psutil.NoSuchProcess):  # it ended just now
                peak = max(peak, process.memory_full_info().pss)
        else:
            if begun.returncode:
                raise subprocess.CalledProcessError(begun.returncode, begun.args)
            return peak, output


def excerpt(whole: str) -> str:
    """What the README shows of a record: its head, the first passage without its caution, the first draft, the cost."""
    lines = whole.splitlines()
    caution, second, drafts, cost = (_first(lines, start) for start in ("    Caution", "Evidence 2", _FRAME, "It took"))
    closed = [number for number, line in enumerate(lines) if line.startswith(_FRAME_END)]
    notes = next((number for number, line in enumerate(lines) if line.startswith("Note: ")), len(lines))
    passages = [
        *lines[: min(filter(None, (caution, second, drafts)))],
        _CUT,
        *lines[drafts : closed[:_DRAFTS][-1] + 1],
        _CUT,
        *lines[cost:notes],
    ]
    return "\n".join(passages)


def _first(lines: list[str], start: str) -> int:
    """Where the first line that begins so is; 0 where there is none."""
    return next((number for number, line in enumerate(lines) if line.startswith(start)), 0)


def with_excerpt(page: str, whole: str) -> str:
    """The README with the record's excerpt between its two marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n```text\n{excerpt(whole)}\n```\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    RECORD.write_text(record(), encoding="utf-8")
    README.write_text(with_excerpt(README.read_text(encoding="utf-8"), RECORD.read_text(encoding="utf-8")), "utf-8")
