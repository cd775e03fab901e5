"""The server's process, its log, and its end.

Owns how the process is started, behind ``guard``, and how it is stopped. Must never wait for it without a limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, Self

from bot.serving.vllm import guard
from core.errors import StoreUnavailable

STOP_SECONDS: Final = 6.0
"""How long the server has to end by itself; then it is killed. With the drain of 20 s a worker ends within 30 s."""
_GUARD_SECONDS: Final = 2.0
_TAIL_BYTES: Final = 65536
LOG_BYTES: Final = 20_000_000
"""A log that is larger begins anew at the next canary."""


class ServerProcess:
    """A running server. ``start`` makes one."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path, stop_seconds: float) -> None:
        self._process = process
        self._log = log
        self._stop_seconds = stop_seconds

    @classmethod
    async def start(
        cls, command: Sequence[str], environment: Mapping[str, str], log: Path, stop_seconds: float = STOP_SECONDS
    ) -> Self:
        """Start a program; what it prints goes to ``log``, and the log of the last start beside it.

        Raises:
            StoreUnavailable: the log cannot be written.
        """
        with _opened(log) as file:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", guard.__file__, str(os.getpid()), str(stop_seconds), *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=dict(environment),
                start_new_session=True,  # Ctrl-C in the terminal is for the worker, which stops the server in order
            )  # fmt: skip
        return cls(process, log, stop_seconds)

    @property
    def exit_code(self) -> int | None:
        """The program's exit code; ``None`` while it runs."""
        return self._process.returncode

    @property
    def pid(self) -> int:
        """The process that holds the server's group."""
        return self._process.pid

    async def until_ended(self) -> int:
        """Wait until the program has ended; its exit code."""
        return await self._process.wait()

    async def stop(self) -> None:
        """End the server and every process that it started."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        limit = self._stop_seconds + guard.KILLED_SECONDS + _GUARD_SECONDS
        try:
            async with asyncio.timeout(limit):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    def last_lines(self, count: int) -> list[str]:
        """The end of the log, without empty lines."""
        try:
            with self._log.open("rb") as file:
                file.seek(max(0, self._log.stat().st_size - _TAIL_BYTES))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return []
        return [line for line in text.splitlines() if line.strip()][-count:]

    def bound_log(self) -> None:
        """Begin the log anew where it has grown large; the program writes at its end, wherever that is."""
        with contextlib.suppress(OSError):
            if self._log.stat().st_size > LOG_BYTES:
                os.truncate(self._log, 0)


def is_port_free(host: str, port: int) -> bool:
    """Whether a program could listen there now."""
    with socket.socket() as place:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            place.bind((host, port))
        except OSError:
            return False
    return True


def _opened(log: Path) -> BinaryIO:
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            log.replace(log.with_suffix(".before.log"))
        return os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
    except OSError as err:
        raise StoreUnavailable(
            f"The log of the model server cannot be written to {log}: {err.strerror}.",
            remedy="Make room or give the rights, or set kb.cache_folder to another place.",
        ) from err
