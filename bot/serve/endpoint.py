"""The small server that answers ``/metrics``, ``/health`` and ``/ready`` with numbers and reasons; it takes no command.

It speaks plain HTTP and knows nobody who asks, so it belongs inside the operator's own network.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from bot.serve.status import Status
from core.errors import BadSettings


@asynccontextmanager
async def answering(listen: str, status: Status) -> AsyncIterator[int]:
    """Answer within the block; gives the port.

    Args:
        listen: an address and a port of this machine; port 0 for any that is free.

    Raises:
        BadSettings: nothing can be listened to there.
    """
    host, _, port = listen.rpartition(":")
    runner = web.AppRunner(_application(status), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host.strip("[]"), int(port)).start()
        except (OSError, OverflowError) as err:
            raise BadSettings(
                f"Antiphon cannot answer at {listen}: the port is taken, or the address is not this machine's.",
                remedy="Set operations.listen to an address of this machine and a free port, for each process its own "
                '(ANTIPHON__OPERATIONS__LISTEN), or to "".',
            ) from err
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def _application(status: Status) -> web.Application:
    async def tell_metrics(_: web.Request) -> web.Response:
        return web.Response(body=await status.metrics(), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    async def tell_health(_: web.Request) -> web.Response:
        return web.json_response({"alive": True})

    async def tell_readiness(_: web.Request) -> web.Response:
        reasons = await status.reasons()
        return web.json_response({"ready": not reasons, "reasons": reasons}, status=503 if reasons else 200)

    app = web.Application()
    app.router.add_get("/metrics", tell_metrics)
    app.router.add_get("/health", tell_health)
    app.router.add_get("/ready", tell_readiness)
    return app
