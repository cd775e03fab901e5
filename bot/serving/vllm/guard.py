"""Stands between a worker and the server that it starts, so that nothing of the server outlives the worker.

    python -I guard.py WORKER SECONDS PROGRAM [ARGUMENT ...]

Owns the server's process group: it ends when the server ends, at SIGTERM, or when the process WORKER is no longer its
parent, which also happens where the worker is killed and can do nothing itself. Every process of the group gets
SIGTERM, and after SECONDS SIGKILL. Where this program itself is killed, Linux gives the server SIGTERM. A program of
its own, of the standard library alone: it must start in milliseconds, and it keeps nothing of the worker's memory.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess  # nosec B404 # programs of our own choice, never through a shell
import sys
import time
from typing import Final

LOOK_SECONDS: Final = 0.2
KILLED_SECONDS: Final = 5.0
CANNOT_START: Final = 127
_PR_SET_PDEATHSIG: Final = 1


def main(arguments: list[str]) -> int:
    """Run the program until it ends or must end; its exit code, or 128 and the signal's number, as a shell has it."""
    worker, seconds, command = int(arguments[0]), float(arguments[1]), arguments[2:]
    is_ending = False

    def end(*_: object) -> None:
        nonlocal is_ending
        is_ending = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    try:
        server = subprocess.Popen(command, start_new_session=True, preexec_fn=_end_with_this)  # nosec B603 # noqa: S603 - the operator names the program
    except OSError as err:
        sys.stderr.write(f"cannot start {command[0]}: {err.strerror}\n")
        return CANNOT_START
    try:
        while server.poll() is None and not is_ending and os.getppid() == worker:
            time.sleep(LOOK_SECONDS)
    finally:
        _end_group(server, seconds)
    code = server.wait()
    return code if code >= 0 else 128 - code


def _end_with_this() -> None:
    """Let Linux end the server should this program be killed, as by a shortage of memory; elsewhere nothing does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_group(server: subprocess.Popen[bytes], seconds: float) -> None:
    """End every process of the group; the server itself may have ended and left others."""
    for number, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, KILLED_SECONDS)):
        if not _is_signalled(server.pid, number):
            return
        until = time.monotonic() + patience
        while time.monotonic() < until:
            server.poll()  # an ended process counts as one of its group until it is waited for
            if not _is_signalled(server.pid, 0):
                return
            time.sleep(LOOK_SECONDS / 4)


def _is_signalled(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
