"""Spans of what a case passes through: the flag, each attempt at drafts with its stages and calls, decisions, sends.

Owns how they are made and sent, by OpenTelemetry. The id of a case is the id of its trace, so that spans that lie hours
and machines apart are one trace. Must never hold a word of a post or a person: attributes are ids, numbers and names of
parts, and of an error only its kind. Without a collector nothing is made, and the SDK need not be installed.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from importlib import metadata
from typing import TYPE_CHECKING, Final

from core.errors import BadSettings

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

Attribute = str | int | float | bool
EXPORT_SECONDS: Final = 5.0
"""How long one message to the collector may take."""
LAST_SECONDS: Final = 2.0
"""How long the end of the process waits for the last message."""
_ROUTE: Final = "/v1/traces"
_tracer: Tracer | None = None
_case: ContextVar[str | None] = ContextVar("case", default=None)


@contextmanager
def span(name: str, *, case: str | None = None, **attributes: Attribute) -> Iterator[None]:
    """A span of what is done in the block; spans that begin in it, also in its tasks, are its children.

    Args:
        case: the id of the case that begins or goes on here: the span is the first of its process in the case's trace.
    """
    if _tracer is None:
        yield
        return
    from opentelemetry.trace import StatusCode

    began = _tracer.start_as_current_span(
        name, _root_of(case), attributes=_all(case, attributes), record_exception=False, set_status_on_exception=False
    )
    with _within(case), began as made:
        try:
            yield
        except BaseException as err:
            made.set_status(StatusCode.ERROR, type(err).__name__)
            raise


def past(name: str, seconds: float, *, case: str | None = None, error: str = "", **attributes: Attribute) -> None:
    """A span of what has just ended and took so many seconds; ``error`` is the kind of what went wrong."""
    if _tracer is None:
        return
    from opentelemetry.trace import StatusCode

    now = time.time_ns()
    with _within(case):
        made = _tracer.start_span(
            name, _root_of(case), attributes=_all(case, attributes), start_time=now - int(seconds * 1e9)
        )
    if error:
        made.set_status(StatusCode.ERROR, error)
    made.end(now)


@asynccontextmanager
async def exported(endpoint: str) -> AsyncIterator[None]:
    """Make spans in the block and send them to a collector; without an ``endpoint``, make none.

    Args:
        endpoint: the address of the collector, by OTLP over HTTP.

    Raises:
        BadSettings: the extra is not installed.
    """
    global _tracer
    if not endpoint:
        yield
        return
    provider = _provider(endpoint)
    _tracer = provider.get_tracer("antiphon")
    try:
        yield
    finally:
        _tracer = None
        # A collector that is away must hold up nobody: the thread ends with the process.
        ending = threading.Thread(target=provider.shutdown, daemon=True)
        ending.start()
        await asyncio.to_thread(ending.join, LAST_SECONDS)


def _provider(endpoint: str) -> TracerProvider:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    except ModuleNotFoundError as err:
        raise BadSettings(
            "operations.otlp_endpoint is set, and what makes traces is not installed.",
            remedy="Run: pip install 'antiphon[tracing]'. Or leave operations.otlp_endpoint empty.",
        ) from err

    class CaseIds(RandomIdGenerator):
        """The trace of a case has its id."""

        def generate_trace_id(self) -> int:
            case = _case.get()
            return super().generate_trace_id() if case is None else int(case, 16)

    resource = Resource.create(
        {
            "service.name": "antiphon",
            "service.version": metadata.version("antiphon"),
            "service.instance.id": f"{socket.gethostname()}-{os.getpid()}",
        }
    )
    provider = TracerProvider(resource=resource, id_generator=CaseIds(), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}{_ROUTE}", timeout=EXPORT_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


@contextmanager
def _within(case: str | None) -> Iterator[None]:
    """Let a span that begins in the block belong to the trace of a case."""
    token = _case.set(case)
    try:
        yield
    finally:
        _case.reset(token)


def _root_of(case: str | None) -> Context | None:
    """No parent for a span that names its case, and the span of the block for all others."""
    from opentelemetry.context import Context

    return None if case is None else Context()


def _all(case: str | None, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    given = attributes if case is None else {"case": case, **attributes}
    return {f"antiphon.{name}": value for name, value in given.items()}
