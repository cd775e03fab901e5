"""A collector of traces on loopback: it takes what OTLP over HTTP brings, and keeps the spans."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Collector:
    """What a running collector was brought: the spans, and the bytes of all messages."""

    url: str
    spans: list[Span] = field(default_factory=list)
    raw: bytes = b""

    def named(self, name: str) -> list[Span]:
        """The spans of a name."""
        return [span for span in self.spans if span.name == name]


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """A collector for as long as the block runs."""

    async def take(request: web.Request) -> web.Response:
        body = await request.read()
        collector.raw += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                collector.spans += scope.spans
        answer = ExportTraceServiceResponse().SerializeToString()
        return web.Response(body=answer, content_type="application/x-protobuf")

    app = web.Application()
    app.router.add_post("/v1/traces", take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    collector = Collector(f"http://127.0.0.1:{runner.addresses[0][1]}")
    try:
        yield collector
    finally:
        await runner.cleanup()
