"""What holds for every run: the garbage collector leaves alone what lives to the end, and slow files are named.

Ten thousand tests and the libraries that they import are two million objects. A look through all of them takes more
than a second; they are made before the first test and none of them is garbage.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from typing import Final

import pytest
from _pytest.terminal import TerminalReporter

_MADE_BETWEEN_LOOKS: Final = 20_000
"""Objects; Python looks after 700 or 2,000."""
_MANY: Final = 10
_SHOWN: Final = 25
_SECONDS: Final = pytest.StashKey[defaultdict[str, float]]()


class _Watch:
    """Adds up what every test of a file took, with what was made for it; of all processes, where there are several."""

    def __init__(self, seconds: defaultdict[str, float]) -> None:
        self._seconds = seconds

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count, and collect no garbage before there is any."""
    gc.disable()
    seconds = config.stash[_SECONDS] = defaultdict(float)
    config.pluginmanager.register(_Watch(seconds))


def pytest_collection_finish() -> None:
    """From now on only what the tests make is looked through."""
    gc.freeze()
    gc.set_threshold(_MADE_BETWEEN_LOOKS, 20, 20)
    gc.enable()


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Say it, the slowest file first."""
    seconds = config.stash[_SECONDS]
    if len(seconds) < _MANY:
        return
    slowest = sorted(seconds.items(), key=lambda pair: -pair[1])
    rest, whole = sum(count for _, count in slowest[_SHOWN:]), sum(seconds.values())
    terminalreporter.section("seconds of each file, added up over all processes")
    for file, count in [*slowest[:_SHOWN], ("all other files", rest), ("all files", whole)]:
        terminalreporter.line(f"{count:8.1f}  {file}")
