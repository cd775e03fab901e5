"""Having the home instance send what happens there: it is told that it arrived only after it is committed.

Owns the small server that takes it, and its signature. Answers nobody whose signature is wrong. It speaks plain HTTP:
what stands before it, such as a reverse proxy, holds the certificate. What comes is handed over as it came, and must be
stripped before it is kept.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from aiohttp import web

from adapters.common.words.errors import log_failure
from core.errors import BadSettings, StoreUnavailable

_LOG = logging.getLogger(__name__)
SIGNATURE_HEADER: Final = "X-Hub-Signature"
MOST_BYTES: Final = 1024 * 1024
"""Far more than an instance sends at once."""
CLOCKS_DIFFER: Final = timedelta(minutes=5)
"""How old what is sent may be, since an old one may be a copy (reliability, threat T14). Mastodon sends what failed
again for longer; the poll finds those reports."""

KeepEvent = Callable[[str, dict[str, Any]], Awaitable[None]]
"""Commits what came, by the name of the event, such as ``report.created``.

Raises:
    StoreUnavailable: it could not be kept, and is to be sent again.
    ValueError, LookupError, TypeError: it is not what its name says.
"""


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """Where what the instance sends is taken.

    Attributes:
        host: the address of this machine to listen on.
        port: the port there; 0 for any.
        secret: the one that the instance shows beside the webhook.
        path: what the address ends in.
    """

    host: str
    port: int
    secret: str
    path: str = "/mastodon"


class Webhook:
    """Takes what one instance sends.

    Args:
        keep: is called with each event whose signature is right.
        now: the time by this machine's clock, aware.
    """

    def __init__(self, options: WebhookOptions, keep: KeepEvent, now: Callable[[], datetime]) -> None:
        self._options, self._keep, self._now = options, keep, now
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_post(options.path, self._take)
        self._runner = web.AppRunner(app, access_log=None)
        self.port = options.port

    async def open(self) -> None:
        """Listen.

        Raises:
            BadSettings: nothing can be listened to there.
        """
        options = self._options
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, options.host, options.port).start()
        except OSError as err:
            raise BadSettings(
                f"Antiphon cannot listen on {options.host}:{options.port} for Mastodon.",
                remedy="Set mastodon.listen to an address of this machine and a free port.",
            ) from err
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Listen no more."""
        await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        """Keep one event. Anything but success makes the instance send it again."""
        body = await request.read()
        if not is_signed(body, request.headers.get(SIGNATURE_HEADER, ""), self._options.secret):
            return web.Response(status=401)
        try:
            said = json.loads(body)
            if not self._is_recent(said):
                return web.Response(status=401)
            await self._keep(str(said["event"]), said["object"])
        except (ValueError, LookupError, TypeError, AttributeError) as err:
            log_failure("what the instance sent", err)
            return web.Response(status=400)
        except StoreUnavailable as err:
            _LOG.warning("What the instance sent waits there, since it cannot be kept: %s", err.message)
            return web.Response(status=503)
        return web.Response()

    def _is_recent(self, said: dict[str, Any]) -> bool:
        """Whether an event is of now; its time is inside what is signed."""
        sent = datetime.fromisoformat(str(said["created_at"]).replace("Z", "+00:00"))
        return abs(self._now() - sent) <= CLOCKS_DIFFER


def is_signed(body: bytes, signature: str, secret: str) -> bool:
    """Whether a signature is that of exactly these bytes (docs.joinmastodon.org/admin/webhooks)."""
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(signature.encode("utf-8", "surrogateescape"), expected.encode())
