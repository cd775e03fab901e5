"""At the end of a run of many files, how many seconds each took: what is slow shows where it is."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import pytest
from _pytest.terminal import TerminalReporter

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
    """Begin to count."""
    seconds = config.stash[_SECONDS] = defaultdict(float)
    config.pluginmanager.register(_Watch(seconds))


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
