"""The installed command as a person starts it: a process, real files, a home of its own, the shared weights.

Most calls are forked from a process that has imported what the command needs (``tests.fakes.machine.start``), since
its imports take longer than all that most tests ask of it. ``Antiphon.from_its_start`` is the program as installed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, chdir, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.main import app
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.servers.chat import ChatServer, serving

COMMAND = (str(Path(sys.executable).with_name("antiphon")),)
GUARD_SECONDS = 480  # only bounds a hang
SOON = {
    "ANTIPHON__PROFILES__LIVE__DEADLINE_SECONDS": "3",
    "ANTIPHON__PROFILES__LIVE__MAX_MODEL_CALLS": "2",
    "ANTIPHON__LLM__HUB_REPO": "",
}
"""Settings of the embedded model that keep the tests short: less to do for a post, and no look at the hub."""
HATEFUL = "Migrants only come here to live off our welfare."
HARMLESS = "The new bakery by the bridge has wonderful rye bread."
REPLY = "Our neighbours from abroad work and pay taxes like all of us, and we are glad that they are here."
READING = {
    "harm": "Contempt for newcomers",
    "group": "migrants",
    "aim": "To belittle newcomers",
    "power": "A majority speaks down to a minority",
    "meaning": "It claims that newcomers take and never give",
    "feeling": "Hurt and unwanted",
    "thought": "They may doubt that they belong",
    "severity": 3,
    "advice": "reply",
}


_STYLES = re.compile(r"\x1b\[[\d;?]*[a-zA-Z]")


def _hears_interrupts() -> None:
    """A run of tests in the background ignores SIGINT, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on standard output."""
        return json.loads(self.out)


@dataclass
class Terminal:
    """A command at a terminal; what it shows is read as it comes."""

    process: subprocess.Popen[bytes]
    screen: int
    raw: bytes = b""
    shown: str = ""
    seen: int = 0

    def read_to(self, text: str) -> str:
        """Everything new up to and with ``text``, which must appear."""
        while (end := self.shown.find(text, self.seen)) < 0:
            if not self._read():
                pytest.fail(f"It ended before it showed {text!r}:\n{self.shown}")
        start, self.seen = self.seen, end + len(text)
        return self.shown[start : self.seen]

    def types(self, line: str) -> None:
        """A line, or a control character."""
        os.write(self.screen, line.encode() if line == "\x04" else f"{line}\n".encode())

    def interrupt(self) -> None:
        """Ctrl-C, and again where nothing happens: Python misses one that comes right before it begins to read."""
        self.process.send_signal(signal.SIGINT)
        while not select.select([self.screen], [], [], 20)[0]:
            self.process.send_signal(signal.SIGINT)

    def read_to_end(self) -> tuple[int, str]:
        """The exit code, and everything new."""
        while self._read():
            pass
        return self.process.wait(GUARD_SECONDS), self.shown[self.seen :]

    def _read(self) -> bool:
        if not select.select([self.screen], [], [], GUARD_SECONDS)[0]:
            pytest.fail(f"It shows nothing more:\n{self.shown}")
        try:
            piece = os.read(self.screen, 65536)
        except OSError:  # Linux: the other end was closed
            piece = b""
        self.raw += piece
        self.shown = _STYLES.sub("", self.raw.decode(errors="ignore")).replace("\r\n", "\n")
        return bool(piece)


@dataclass
class Antiphon:
    """The command, with data and settings below ``home``; ``variables`` are added to its environment."""

    home: Path
    variables: dict[str, str] = field(default_factory=dict)
    command: Sequence[str] = COMMAND

    @property
    def from_its_start(self) -> Antiphon:
        """The same, as the program that is installed."""
        return replace(self, command=COMMAND)

    def having(self, **variables: str) -> Antiphon:
        """The same, with more variables."""
        return replace(self, variables=self.variables | variables)

    def __call__(self, *arguments: str | bytes, stdin: bytes = b"", through: Sequence[str] = ()) -> Result:
        """Run it to its end, ``through`` another command. No traceback and no library's log line may show."""
        command = COMMAND if through else self.command  # what holds for a process would not for one that is forked
        done = subprocess.run(
            [*through, *command, *arguments],
            input=stdin,
            capture_output=True,
            env=self.environment,
            cwd=self.home,
            timeout=GUARD_SECONDS,
        )
        result = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
        check_quiet(result.out + result.err)
        if "--json" in arguments and result.out:
            assert isinstance(result.document, dict)
        return result

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Start it with nothing on standard input; it is killed at the end of the block."""
        with subprocess.Popen(
            [*self.command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            cwd=self.home,
            text=True,
            preexec_fn=_hears_interrupts,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def at_terminal(self, *arguments: str) -> Iterator[Terminal]:
        """Start it at a terminal that does not echo; it is killed at the end of the block."""
        screen, inside = pty.openpty()
        modes = termios.tcgetattr(inside)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(inside, termios.TCSANOW, modes)
        with subprocess.Popen(
            [*self.command, *arguments],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env=self.environment,
            cwd=self.home,
            preexec_fn=_hears_interrupts,
        ) as process:
            os.close(inside)
            terminal = Terminal(process, screen)
            try:
                yield terminal
            finally:
                process.kill()
                os.close(screen)
        check_quiet(terminal.shown)

    @property
    def environment(self) -> dict[str, str]:
        """This process's, without settings of Antiphon; the cache with the weights is shared."""
        own = {name: text for name, text in os.environ.items() if not name.upper().startswith("ANTIPHON")}
        places = {f"XDG_{kind}_HOME": str(self.home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE")}
        one = {"ANTIPHON__LLM__THREADS": "1"}  # on cores that other tests use, two threads wait for each other
        one["ANTIPHON__COMMUNITY__SURE"] = "0"  # every prepared reply is shown, where a test is not about that
        return own | places | one | {"COLUMNS": "1000", "TERM": "xterm"} | self.variables


class InThisProcess(Antiphon):
    """The same command without a process of its own, whose imports cost more than the command itself.

    For many calls of one kind, of which one is tried in a process, too.
    """

    def __call__(self, *arguments: str | bytes, stdin: bytes = b"", through: Sequence[str] = ()) -> Result:
        """Run it to its end; what goes ``through`` another command has a process all the same."""
        if through:
            return super().__call__(*arguments, stdin=stdin, through=through)
        with chdir(self.home), own_logging():
            done = CliRunner().invoke(app, [os.fsdecode(one) for one in arguments], input=stdin, env=self.environment)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        check_quiet(done.output)
        return Result(done.exit_code, done.stdout, done.stderr)


@contextmanager
def own_logging() -> Iterator[None]:
    """Let a command log as it likes: no later one writes where an earlier one's output was, which is closed by then."""
    root = logging.getLogger()
    level, open_ones = root.level, [one for one in root.handlers if not getattr(getattr(one, "stream", 0), "closed", 0)]
    root.handlers[:] = open_ones
    try:
        yield
    finally:
        root.handlers[:] = open_ones
        root.setLevel(level)


@contextmanager
def beside(running: AbstractAsyncContextManager[object]) -> Iterator[None]:
    """Let a server run in a thread of its own: the command has the loop of this one."""
    loop, over, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    async def run() -> None:
        async with running:
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    try:
        assert ready.wait(60)
        yield
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


def check_quiet(shown: str) -> None:
    """No traceback, and no line that a library logs about a request."""
    assert "Traceback" not in shown, shown
    assert not re.search(r"stamina|httpx|HTTP Request|retry", shown), shown


def bot_replies(shown: str) -> dict[str, str]:
    """What the bot wrote in the thread that is printed at the end, by the message that it answers."""
    row = re.compile(r"^│ \d+ re (\d+) +│ antiphon +│ (.*?) *│$", re.MULTILINE)
    return dict(row.findall(shown.partition("The thread as the community sees it")[2]))


def first_draft(shown: str) -> str:
    """The text of draft 1 as it is shown."""
    found = re.search(r"─ Draft 1: .*\n│ (.*?) *│\n", shown)
    assert found, shown
    return found.group(1)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home without a file."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def antiphon(home: Path, preloaded: Sequence[str]) -> Antiphon:
    """The command with the settings as they are shipped: its model is the embedded one."""
    return Antiphon(home, command=preloaded)


@pytest.fixture
def here(home: Path) -> InThisProcess:
    """The same settings, without a process of its own."""
    return InThisProcess(home)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model that takes every post about people for hateful, and obeys a post that gives it orders."""
    model = FakeModel(
        texts={
            "reading": json.dumps(READING),
            "claims": "Migrants pay rent, shop and taxes like anybody who lives here.",
            "draft": lambda messages: "banana" if "banana" in messages[-1].content else REPLY,
        },
        shares={
            "hateful": lambda messages, _: (
                {"yes": 0.02, "no": 0.98} if "bakery by" in messages[-1].content else {"yes": 0.95, "no": 0.05}
            ),
            "violent": {"yes": 0.02, "no": 0.98},
            "entailment": {"yes": 0.9, "no": 0.1},
        },
    )
    with serving(model) as running:
        yield running


@pytest.fixture
def drafter(antiphon: Antiphon, server: ChatServer) -> Antiphon:
    """The command with that model, behind a server."""
    return antiphon.having(
        ANTIPHON__LLM__BACKEND="server",
        ANTIPHON__LLM__BASE_URL=server.url,
        ANTIPHON__LLM__MODEL="fake",
        ANTIPHON__DESK__UNDO_SECONDS="0",
    )


@pytest.fixture
def full_disk(tmp_path: Path) -> tuple[Path, list[str]]:
    """A folder, and the command through which it lies on a disk of 64 kB.

    The disk is mounted where the machine lets its users do so. Elsewhere no file may grow beyond 4 kB.
    """
    folder = tmp_path / "full"
    folder.mkdir()
    mount = f'mount -t tmpfs -o size=64k none "{folder}" && exec "$0" "$@"'
    through = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount]
    if shutil.which("unshare") and not subprocess.run([*through, "true"], capture_output=True).returncode:
        return folder, through
    return folder, ["sh", "-c", 'ulimit -f 8 && exec "$0" "$@"']
