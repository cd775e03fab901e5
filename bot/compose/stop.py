"""How a process learns that it must stop: the first SIGINT or SIGTERM ends it in order, the second at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Within the block and after it, a signal cancels this task, as Ctrl-C always does."""
    _react(_this_task().cancel)
    yield


@contextmanager
def ending_in_order(stop: asyncio.Event, say: Callable[[], object]) -> Iterator[None]:
    """In the block the first signal sets ``stop`` and calls ``say``; a second or later one cancels this task."""
    this = _this_task()

    def on_first() -> None:
        _react(this.cancel)
        say()
        stop.set()

    _react(on_first)
    try:
        yield
    finally:
        _react(this.cancel)


def _react(react: Callable[[], object]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, react)


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("There is no task to cancel.")
    return task
