"""What the person who runs Antiphon sees of a process, as the settings want it, and how they stop it.

Its log, metrics and readiness are there before anything is loaded, and until all else has ended. The first SIGINT or
SIGTERM ends it in order, the second at once.
"""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from bot.compose.models import check_reachable
from bot.serve.status import Condition, Status, answering
from bot.settings import Settings
from core.desk.runtime import logs, metrics
from core.engine.servers.errors import Trouble
from core.engine.servers.protocol import Call, OnCall

_LOG = logging.getLogger(__name__)
_EMBEDDED: Final = "embedded"
_AWAY: Final = frozenset({Trouble.ABSENT, Trouble.BUSY, Trouble.REFUSED})
_MODEL_SECONDS: Final = 15.0
"""How often a model server is asked whether it is there, while somebody asks for the readiness."""


@asynccontextmanager
async def operated(settings: Settings) -> AsyncIterator[Status]:
    """Write the log, and answer for metrics and readiness, within the block.

    Raises:
        BadSettings: the address cannot be listened to.
    """
    wanted = settings.operations
    logs.set_up(wanted.log_format, wanted.log_level)
    logs.hear_loop(asyncio.get_running_loop())
    status = Status()
    async with AsyncExitStack() as stack:
        if wanted.listen:
            port = await stack.enter_async_context(answering(wanted.listen, status))
            _LOG.info("metrics, health and readiness are answered at port %d", port)
        yield status


def model_answers(settings: Settings) -> Condition:
    """The server of the language model answers; the embedded model always does."""
    return Condition(lambda: check_reachable(settings, "llm"), "The model server", fresh_seconds=_MODEL_SECONDS)


def counted(settings: Settings) -> OnCall:
    """Count each call of a model, by the host and port of its server."""
    addresses = (settings.llm.base_url if settings.llm.backend == "server" else "", settings.judge.base_url)
    names = {address: _name(address) for address in addresses if address}

    def hear(call: Call) -> None:
        server = names.get(call.server, _EMBEDDED)
        outcome = "answered" if call.failed is None else "away" if call.failed in _AWAY else "failed"
        metrics.MODEL_CALLS.labels(server, outcome).inc()
        if call.failed is None:
            metrics.MODEL_SECONDS.labels(server).observe(call.seconds)
            metrics.MODEL_TOKENS.labels(server, "prompt").inc(call.prompt_tokens)
            metrics.MODEL_TOKENS.labels(server, "completion").inc(call.answer_tokens)

    return hear


def _name(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


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
