"""One vLLM server: started, waited for, watched and stopped.

Owns what counts as ready (its health, a version that is new enough, the canary) and as no longer well. Does not start a
server again: ``keeping`` does, with its pauses.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.serving.vllm import failures
from bot.serving.vllm.asking import Asking, Unanswered
from bot.serving.vllm.canary import Canary
from bot.serving.vllm.failures import ServerFailed
from bot.serving.vllm.measures import Measures, parse
from bot.serving.vllm.options import HOST, ServerOptions, command_line, environment
from bot.serving.vllm.process import STOP_SECONDS, ServerProcess, is_port_free
from bot.serving.vllm.versions import check_version
from core.errors import BadAnswer, ModelUnavailable

_LOG = logging.getLogger(__name__)
_HEALTHY: Final = 200
_ENGINE_DEAD: Final = 503
_ENDING_SECONDS: Final = 1.0
_UNKNOWN_VERSION: Final = "unknown"

Tell = Callable[[str], None]
"""Is told what happens to the server, in sentences for the person who runs the worker."""
OnMeasured = Callable[[str, Measures, Measures], None]
"""Is told the address of a server, what was measured, and what was measured before that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """How long a server is waited for, and how often it is looked at; in seconds.

    Attributes:
        start: the longest time until it is ready, with the fetching of its model.
        look: between two looks at one that starts.
        health: between two questions for its health.
        misses: how many of these in a row may stay without an answer.
        measure: between two readings of its measures.
        canary: between two runs of the canary.
        stop: how long it may take to end by itself.
    """

    start: float = 3600.0
    look: float = 1.0
    health: float = 10.0
    misses: int = 3
    measure: float = 60.0
    canary: float = 3600.0
    stop: float = STOP_SECONDS


class VllmServer:
    """A server that this process starts.

    Args:
        key: the secret of its ``/v1`` routes.
        folder: where its log and the canary's answers are kept.
        tell: is told what happens.
        on_measured: is told what it does.
    """

    def __init__(
        self,
        options: ServerOptions,
        key: str,
        folder: Path,
        tell: Tell,
        rhythm: Rhythm | None = None,
        on_measured: OnMeasured | None = None,
    ) -> None:
        self.options: Final = options
        self._key = key
        self._log = folder / f"server-{options.port}.log"
        self._canary = Canary(options, folder / "canary")
        self._tell = tell
        self._rhythm = rhythm or Rhythm()
        self._on_measured = on_measured
        self._process: ServerProcess | None = None
        self._version = _UNKNOWN_VERSION
        self._before: Measures | None = None

    @property
    def is_running(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.exit_code is None

    async def start(self) -> None:
        """Start it and wait until it is ready. Whatever fails, or is cancelled, leaves no process.

        Raises:
            ServerFailed: it does not start, or does not answer as it should.
            StoreUnavailable: its log or the canary's answers cannot be written.
        """
        if not is_port_free(HOST, self.options.port):
            raise failures.port_taken(self.options)
        command = command_line(self.options)
        adapters = "".join(f", {one.name}" for one in self.options.adapters)
        self._tell(f"Starting vLLM with {self.options.model}{adapters} on {self.options.root}; its log is {self._log}.")
        began = time.monotonic()
        variables = environment(os.environ, self._key, self._rhythm.start)
        self._process = await ServerProcess.start(command, variables, self._log, self._rhythm.stop)
        try:
            async with Asking(self.options.root, self._key) as asking:
                await self._until_healthy(self._process, asking)
                await self._admit(asking)
                self._before = await self._measured(asking)
        except BaseException:
            await self.stop()
            raise
        seconds = time.monotonic() - began
        self._tell(f"{self.options.name} is ready after {seconds:.0f} s (vLLM {self._version}); its canary is well.")

    async def watch(self) -> None:
        """Look after it until it is no longer well.

        Raises:
            ServerFailed: always, at the end: why it is not.
        """
        process = self._running()
        ended = asyncio.create_task(process.until_ended())
        looking = asyncio.create_task(self._look_after(process))
        try:
            await asyncio.wait({ended, looking}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({ended}, timeout=_ENDING_SECONDS)  # one that just ended answers nothing either
            if ended.done():
                lines = process.last_lines(failures.READ_LINES)
                raise failures.start_failure(self.options, ended.result(), lines, str(self._log))
            looking.result()
        finally:
            for task in (ended, looking):
                task.cancel()
            await asyncio.gather(ended, looking, return_exceptions=True)

    async def stop(self) -> None:
        """End it, with all its processes; a second call does nothing."""
        process, self._process = self._process, None
        if process is not None:
            await process.stop()

    async def _until_healthy(self, process: ServerProcess, asking: Asking) -> None:
        until = time.monotonic() + self._rhythm.start
        while True:
            if process.exit_code is not None:
                lines = process.last_lines(failures.READ_LINES)
                raise failures.start_failure(self.options, process.exit_code, lines, str(self._log))
            try:
                if await asking.health() == _HEALTHY:
                    return
            except Unanswered as err:
                _LOG.debug("The model server does not answer yet: %s", type(err).__name__)
            if time.monotonic() > until:
                lines = process.last_lines(failures.SHOWN_LINES)
                raise failures.too_slow(self.options, self._rhythm.start, lines)
            await asyncio.sleep(self._rhythm.look)

    async def _admit(self, asking: Asking) -> None:
        """Check version and canary of one that has just become healthy."""
        try:
            self._version = await asking.version() or _UNKNOWN_VERSION
            check_version(self._version, self.options.root)
            fault = await self._canary.check(asking, self._version)
        except Unanswered as err:
            raise failures.not_well(self.options, f"it does not answer the canary ({type(err).__name__})") from err
        except ServerFailed:
            raise
        except ModelUnavailable as err:
            raise ServerFailed(err.message, remedy=err.remedy, is_final=True) from err
        if fault:
            raise self._wrong(fault)

    async def _look_after(self, process: ServerProcess) -> None:
        """Ask for its health, its measures and the canary, each in its turn, until something is wrong."""
        rhythm, misses = self._rhythm, 0
        measured = checked = time.monotonic()
        async with Asking(self.options.root, self._key) as asking:
            while True:
                await asyncio.sleep(rhythm.health)
                try:
                    await self._ask_health(asking)
                    if time.monotonic() - measured >= rhythm.measure:
                        measured = time.monotonic()
                        await self._ask_measures(asking)
                    if time.monotonic() - checked >= rhythm.canary:
                        await self._ask_canary(asking)
                        checked = time.monotonic()
                        process.bound_log()
                except Unanswered as err:
                    misses += 1
                    _LOG.warning("The model server at %s: %s.", self.options.root, type(err).__name__)
                    if misses >= rhythm.misses:
                        why = f"it has not answered {misses} times in a row"
                        raise failures.not_well(self.options, why) from err
                else:
                    misses = 0

    async def _ask_health(self, asking: Asking) -> None:
        status = await asking.health()
        if status == _ENGINE_DEAD:
            raise failures.not_well(self.options, "its engine is dead")
        if status != _HEALTHY:
            raise OSError(f"status {status}")

    async def _ask_measures(self, asking: Asking) -> None:
        now, before = await self._measured(asking), self._before
        self._before = now
        if now is None or before is None:
            return
        if now.generated > before.generated or now.running or now.waiting:
            _LOG.info("%s: %s", self.options.name, now.said(before))
        if self._on_measured is not None:
            self._on_measured(self.options.root, now, before)
        if now.corrupted > before.corrupted:
            raise self._wrong(f"{now.corrupted - before.corrupted:.0f} requests had scores that are no numbers")

    async def _ask_canary(self, asking: Asking) -> None:
        if fault := await self._canary.check(asking, self._version):
            raise self._wrong(fault)

    async def _measured(self, asking: Asking) -> Measures | None:
        """What it does; ``None`` where it does not say, which its health does not depend on."""
        try:
            return parse(await asking.measures(), time.monotonic())
        except BadAnswer as err:
            _LOG.warning("%s", err.message)
            return None

    def _wrong(self, fault: str) -> ServerFailed:
        return ServerFailed(
            f"The model server at {self.options.root} is not to be trusted: {fault}.",
            remedy="What is being drafted may end; then the server is started again.",
            is_wrong=True,
        )

    def _running(self) -> ServerProcess:
        if self._process is None:
            raise RuntimeError("The server was not started.")
        return self._process
