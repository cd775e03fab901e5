"""A process with an embedded model ends at once, quietly, whatever the model is doing."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.machine.patience import GUARD_SECONDS

ROOT = Path(__file__).parents[5]
BUSY = """
import asyncio, logging, signal, sys
from pathlib import Path
from core.engine.backends.llamacpp import EmbeddedServer
from core.engine.servers.chat import ChatModel
from core.engine.ports import Generation, Message

logging.disable()

async def main():
    server = EmbeddedServer(Path(sys.argv[1]), context_tokens=1 << 16, parallel=2, threads=1)
    model = ChatModel(server.base_url, server.api_key, server.model, is_one_of_a_kind=True)
    await model.generate([Message("user", "Write.")], Generation(max_tokens=1), 100)
    endless = Generation(max_tokens=60_000, schema={"type": "array", "items": {"type": "integer"}, "minItems": 1900})
    task = asyncio.create_task(model.generate([Message("user", "Write.")], endless, 1000))
    await asyncio.sleep(0.5)
    assert not task.done()
    # As the command line does: Python's own handler can miss a Ctrl-C that comes just before the loop waits.
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, asyncio.current_task().cancel)
    print("busy", flush=True)
"""
ENDINGS = {
    "close": "    server.close()\n    server.close()\n    await asyncio.gather(task, return_exceptions=True)\n",
    "error": "    raise SystemExit(3)\n",
    "wait": """
    try:
        await task
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
""",
}

AT_ONCE = """
import sys
from pathlib import Path
from core.engine.backends.llamacpp import EmbeddedServer
from tests.fakes.machine.patience import GUARD_SECONDS

for _ in range(6):
    EmbeddedServer(Path(sys.argv[1]), context_tokens=512, parallel=1, threads=1).close()
"""


@contextmanager
def started(weights: Path, ending: str) -> Iterator[subprocess.Popen[str]]:
    program = f"{BUSY}{ENDINGS[ending]}\nasyncio.run(main())\n"
    command = [sys.executable, "-c", program, str(weights)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()  # leaving the process with a hang would hang the tests too


@pytest.mark.parametrize(("ending", "code"), [("close", 0), ("error", 3)])
def test_ends_while_a_request_is_running(small_weights: Path, ending: str, code: int):
    """Closing, forgetting to close, and failing all end the process and llama.cpp says nothing."""
    with started(small_weights, ending) as process:
        assert process.communicate(timeout=GUARD_SECONDS) == ("busy\n", "")
        assert process.returncode == code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it(small_weights: Path, number: signal.Signals):
    """Ctrl-C reaches Python, not a handler of llama.cpp's, and nothing crashes on the way out."""
    with started(small_weights, "wait") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "busy\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=GUARD_SECONDS)
        assert process.returncode == -number
        assert err.endswith("KeyboardInterrupt\n") if number == signal.SIGINT else err == ""


def test_ends_where_it_is_closed_at_once(small_weights: Path):
    """A server whose listener did not run yet could not be stopped: it hung for ever, once in a few starts."""
    command = [sys.executable, "-c", AT_ONCE, str(small_weights)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=GUARD_SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, "")
