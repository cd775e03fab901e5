"""Having Telegram send updates: it is told that they arrived only after they are committed.

Owns the small server that takes them, and its secret. Answers nobody who does not know the secret. It speaks plain
HTTP: what stands before it, such as a reverse proxy, holds the certificate.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from telegram.error import BadRequest, Conflict

from adapters.common.words.errors import log_failure
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS, of_connection
from adapters.telegram.connection.updates import Wake, arrived, wanted_kinds
from core.errors import BadSettings, StoreUnavailable
from core.moderation.platforms import UpdateInbox

_LOG = logging.getLogger(__name__)
SECRET_HEADER: Final = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - the name of a header
MOST_BYTES: Final = 1024 * 1024
"""Far more than Telegram sends in one update."""
LOOK_SECONDS: Final = 300.0
"""How often it is looked whether Telegram still sends updates here."""
MOST_FAULTS: Final = 3


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """Where Telegram sends updates, and where they are taken.

    Attributes:
        url: the address that Telegram is given; its path is the one that is served.
        host: the address of this machine to listen on.
        port: the port there; 0 for any.
    """

    url: str
    host: str
    port: int


class Webhook:
    """Implements ``adapters.telegram.connection.updates.Arriving``.

    Args:
        wake: is called after a new update was kept.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: TelegramClient,
        inbox: UpdateInbox,
        wake: Wake,
        options: WebhookOptions,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._inbox, self._wake = client, inbox, wake
        self._options, self._sleep = options, sleep
        self._secret = secret_of(client.options.token)
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_post(urlsplit(options.url).path or "/", self._take)
        self._runner = web.AppRunner(app, access_log=None)
        self.port = options.port

    async def open(self) -> None:
        """Listen, and then have Telegram send updates here; after ``close`` it keeps them until the next ``open``.

        Raises:
            BadSettings: nothing can be listened to there, or Telegram does not accept the address.
            PlatformUnavailable: Telegram cannot be reached.
        """
        await self._listen()
        options = self._options
        try:
            await self._client.bot.set_webhook(
                options.url, allowed_updates=wanted_kinds(self._client), secret_token=self._secret
            )
        except BadRequest as err:
            raise BadSettings(
                "Telegram does not accept the address of the webhook.",
                remedy="Set telegram.webhook_url to an https address with the port 443, 80, 88 or 8443.",
            ) from err
        except FAULTS as err:
            raise of_connection(err) from err

    async def _listen(self) -> None:
        options = self._options
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, options.host, options.port).start()
        except OSError as err:
            raise BadSettings(
                f"Antiphon cannot listen on {options.host}:{options.port} for Telegram.",
                remedy="Set telegram.listen to an address of this machine and a free port.",
            ) from err
        self.port = self._runner.addresses[0][1]

    async def run(self) -> None:
        """Look from time to time whether Telegram still sends updates here, until cancelled.

        Raises:
            PlatformUnavailable: it sends them elsewhere, or does not answer.
        """
        faults = 0
        while True:
            await self._sleep(LOOK_SECONDS)
            try:
                info = await self._client.bot.get_webhook_info()
            except FAULTS as err:
                faults += 1
                if faults > MOST_FAULTS:
                    raise of_connection(err) from err
                continue
            faults = 0
            if info.url != self._options.url:
                raise of_connection(Conflict("the webhook is another one"))
            if info.pending_update_count and info.last_error_date is not None:
                _LOG.warning("Telegram could not deliver all updates; %d wait there.", info.pending_update_count)

    async def close(self) -> None:
        """Listen no more."""
        await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        """Keep one update. Anything but 200 makes Telegram send it again."""
        given = request.headers.get(SECRET_HEADER, "")
        if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._secret.encode()):
            return web.Response(status=403)
        try:
            update = arrived(json.loads(await request.read()))
        except (ValueError, LookupError, TypeError, AttributeError) as err:
            log_failure("an update by the webhook", err)
            return web.Response(status=400)
        try:
            await self._inbox.keep([update])
        except StoreUnavailable as err:
            _LOG.warning("An update of Telegram waits there, since it cannot be kept: %s", err.message)
            return web.Response(status=503)
        self._wake()
        return web.Response()


def secret_of(token: str) -> str:
    """What Telegram says with each update: it follows from the token, so that it is the same after a restart."""
    return hmac.new(token.encode(), b"antiphon: secret of the webhook", hashlib.sha256).hexdigest()
