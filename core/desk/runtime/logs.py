"""The log of a process: one line for each event, with the case that it is about.

No word of a post, no secret and no person's name may come into a line: modules log kinds of errors and ids, and of an
exception only its kind and its frames are written here, since its message may quote a post. Libraries are heard from
``WARNING`` on, since below it some of them tell what they send.
"""

import asyncio
import io
import logging
import sys
import traceback
from collections.abc import Iterator, MutableMapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Final, Literal

import structlog

from core.errors import AntiphonError
from core.i18n.sentences import nameless

_OWN: Final = ("adapters", "antiphon", "bot", "core", "kb")
"""The loggers of Antiphon; all others are libraries'."""
_LOG: Final = logging.getLogger("antiphon")
_Event = MutableMapping[str, Any]


def about(
    *,
    case: str | None = None,
    platform: str | None = None,
    community: str | None = None,
    worker: str | None = None,
) -> AbstractContextManager[None]:
    """Bind what the lines of a block are about, those of the tasks and threads that it starts included.

    Args:
        case: a case's id.
        platform: a ``PostRef.platform``.
        community: the platform's own name for a community: an id, never a person's.
        worker: the name of a process or of one of its workers.
    """
    bound = {"case": case, "platform": platform, "community": community, "worker": worker}
    return structlog.contextvars.bound_contextvars(**{name: value for name, value in bound.items() if value})


def set_up(form: Literal["text", "json"], level: Literal["debug", "info", "warning", "error"]) -> None:
    """Write the log of this process to standard error, in this form; replaces what was set up before.

    Args:
        form: ``text`` for people; ``json`` for programs: each line is one JSON object with ``event``, ``level``,
            ``logger``, ``timestamp`` (ISO 8601, UTC) and what is bound.
        level: the lowest level of Antiphon's own lines.
    """
    stamped: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _only_kinds_of_errors,
        _on_one_line,
    ]
    rendered: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, pad_level=False)
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=stamped,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, rendered],
        )
    )
    handler.addFilter(_names_nobody)
    lowest = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=max(lowest, logging.WARNING), handlers=[handler], force=True)
    for name in _OWN:
        logging.getLogger(name).setLevel(lowest)
    structlog.configure(
        processors=[*stamped, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    sys.excepthook = _on_end
    if form == "json":
        sys.stderr = _Lines()


def _names_nobody(record: logging.LogRecord) -> bool:
    """Leave out of a line the names that an error or a sentence of Antiphon holds (``core.i18n.sentences.Name``)."""
    if isinstance(record.args, tuple):
        record.args = tuple(map(_without_names, record.args))
    return True


def _without_names(value: object) -> object:
    if isinstance(value, AntiphonError):
        return nameless(value.said)
    return nameless(value) if isinstance(value, str) else value


def hear_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Log what a task failed with that nobody waits for; Python's own handler would repeat the error's message."""

    def on_error(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        _LOG.error("%s", context.get("message", "a task failed"), exc_info=context.get("exception"))

    loop.set_exception_handler(on_error)


class _Lines(io.TextIOBase):
    """Standard error of a process that writes JSON: what is printed for people becomes an event line by line."""

    def __init__(self) -> None:
        self._begun = ""

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in filter(str.strip, lines):
            _LOG.log(logging.ERROR if line.startswith("Error: ") else logging.INFO, "%s", line.strip())
        return len(text)

    def writable(self) -> bool:
        return True


def _on_end(_kind: type[BaseException], error: BaseException, _frames: TracebackType | None) -> None:
    _LOG.critical("the process ends with an error that nobody expected", exc_info=error)


def _on_one_line(_logger: object, _method: str, event: _Event) -> _Event:
    """Show control characters as escapes, so that no text from outside begins a line or steers a terminal."""
    text = str(event["event"])
    event["event"] = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    return event


def _only_kinds_of_errors(_logger: object, _method: str, event: _Event) -> _Event:
    """Replace an exception by its kind and its frames, and those of its causes."""
    info, _ = event.pop("exc_info", None), event.pop("stack_info", None)
    if info is True:
        info = sys.exc_info()
    error = info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        event["exception"] = "\n".join(_frames(error))
    return event


def _frames(error: BaseException) -> Iterator[str]:
    link: BaseException | None = error
    ids = set[int]()
    while link is not None and id(link) not in ids:
        ids.add(id(link))
        yield f"{type(link).__module__}.{type(link).__qualname__}"
        for frame in traceback.extract_tb(link.__traceback__, limit=-20):
            yield f"  {frame.filename}:{frame.lineno} in {frame.name}"
        link = link.__cause__ or link.__context__
