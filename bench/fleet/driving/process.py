"""A process of a fleet, and the line to it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

import psutil


class Process:
    """A process of the fleet and the line to it."""

    def __init__(self, kind: str, target: Callable[..., None], plan: object) -> None:
        context = multiprocessing.get_context("spawn")
        self.kind = kind
        self.line, theirs = context.Pipe()
        self._process = context.Process(target=target, args=(plan, theirs), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def cpu(self) -> float:
        """Seconds of the processor so far."""
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    def hear(self, seconds: float) -> Any:
        """What it says next; ``RuntimeError`` if it ended or says nothing for so long."""
        try:
            if self.line.poll(seconds):
                return self.line.recv()
        except EOFError:
            pass
        raise RuntimeError(f"A process of the {self.kind} ended or said nothing for {seconds:g} s.")

    def end(self) -> None:
        """End it, if it has not ended by itself."""
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.line.close()
