"""What holds for every run, and a settled desk: no example is timed, garbage waits, slow files and gaps are named.

``preloaded`` is how to call the command without waiting for its imports.

Ten thousand tests and the libraries that they import are two million objects. A look through all of them takes more
than a second; they are made before the first test and none of them is garbage.
"""

import asyncio
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from _pytest.terminal import TerminalReporter
from filelock import FileLock
from hypothesis import HealthCheck, settings

from tests.fakes.machine.memory import memory

_MADE_BETWEEN_LOOKS: Final = 20_000
"""Objects; Python looks after 700 or 2,000."""
_MANY: Final = 10
_SHOWN: Final = 25
_LONGEST: Final = "test_growth.py"
_CALLER: Final = Path(__file__).with_name("fakes") / "machine" / "start" / "caller.py"
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
"""A grammar that jsonschema builds in a second of each process, for a format that no description here has."""
_SECONDS: Final = pytest.StashKey[defaultdict[str, float]]()

# A slow machine, or a pause at the wrong place, says nothing about the code: no example has a deadline.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


class _Watch:
    """Adds up what every test of a file took, with what was made for it; of all processes, where there are several."""

    def __init__(self, seconds: defaultdict[str, float]) -> None:
        self._seconds = seconds

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count, keep the files of tests in memory, and collect no garbage before there is any."""
    gc.disable()
    if (room := memory()) is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(room))
    seconds = config.stash[_SECONDS] = defaultdict(float)
    config.pluginmanager.register(_Watch(seconds))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the file that takes longest: at the end one process would work on it while the others have nothing."""
    items.sort(key=lambda item: item.path.name != _LONGEST)


def pytest_collection_finish() -> None:
    """From now on only what the tests make is looked through."""
    gc.freeze()
    gc.set_threshold(_MADE_BETWEEN_LOOKS, 20, 20)
    gc.enable()


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Say it, the slowest file first, and at the end what was left out, and why."""
    _tell_seconds(terminalreporter, config.stash[_SECONDS])
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in sorted(reasons.items()):
        terminalreporter.line(f"left out: {count} {'test' if count == 1 else 'tests'}: {reason}")


def _tell_seconds(terminalreporter: TerminalReporter, seconds: defaultdict[str, float]) -> None:
    if len(seconds) < _MANY:
        return
    slowest = sorted(seconds.items(), key=lambda pair: -pair[1])
    rest, whole = sum(count for _, count in slowest[_SHOWN:]), sum(seconds.values())
    terminalreporter.section("seconds of each file, added up over all processes")
    for file, count in [*slowest[:_SHOWN], ("all other files", rest), ("all files", whole)]:
        terminalreporter.line(f"{count:8.1f}  {file}")


@pytest.fixture(scope="session")
def settled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The SQLite file that every test's is a copy of: without cases, the people settled."""
    from tests.fakes.desk.people import settled_at  # most small tests need no database, and none of what it imports

    return asyncio.run(settled_at(tmp_path_factory.mktemp("settled") / "antiphon.sqlite"))


@pytest.fixture
def desk_file(settled_file: Path) -> Iterator[Path]:
    """A copy of it, for a desk over SQLite alone."""
    with tempfile.TemporaryDirectory(prefix="antiphon-desk-", dir=memory()) as folder:
        yield Path(shutil.copy(settled_file, folder))


@pytest.fixture(scope="session")
def preloaded() -> Sequence[str]:
    """How to call the command, or with ``-m`` a module, without the imports: one process makes them for a whole run."""
    run = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    folder = Path(tempfile.gettempdir(), f"antiphon-{run}")  # a short name, since that of a socket must be
    folder.mkdir(exist_ok=True)
    path = folder / "calls"
    with FileLock(folder / "lock"):
        if not path.exists():
            server = [sys.executable, "-m", "tests.fakes.machine.start.preloaded", str(path), str(run)]
            subprocess.run(server, stdin=subprocess.DEVNULL, cwd=Path(__file__).parents[1], check=True)
    return (sys.executable, "-I", "-S", str(_CALLER), str(path))
