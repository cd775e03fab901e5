"""Work in a process of its own, and its cost: time, memory, and how much other processes used the machine.

A child starts without the memory of earlier measurements, so that the figures belong to one engine only.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Took:
    """What a function returned, and what its process had used at its end.

    Attributes:
        rss_mib: the memory held at the end, including mapped files that were read.
        peak_mib: the most that was held.
        others: the share of the machine's processors that other processes used meanwhile, in [0, 1].
    """

    value: Any
    seconds: float
    rss_mib: float
    peak_mib: float
    others: float


def in_child(function: Callable[..., Any], *arguments: Any) -> Took:
    """Call a function of a module, with arguments that can be pickled, in a new process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measured, function, *arguments).result()


def _measured(function: Callable[..., Any], *arguments: Any) -> Took:
    process = psutil.Process()
    busy, own, started = _busy_seconds(), _own_seconds(process), time.perf_counter()
    value = function(*arguments)
    seconds = time.perf_counter() - started
    others = (_busy_seconds() - busy) - (_own_seconds(process) - own)
    share = max(0.0, others / (seconds * (psutil.cpu_count() or 1)))
    return Took(value, seconds, process.memory_info().rss / 2**20, peak_mib(), share)


def peak_mib() -> float:
    """The most memory that this process has held."""
    if _STATUS.exists():  # unlike getrusage, without what the parent held before this process began
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 1024)


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def _own_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
