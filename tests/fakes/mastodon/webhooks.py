"""The webhooks that an administrator of the fake instance set up: signed, with all that an administrator may see."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime

from aiohttp import ClientSession

from tests.fakes.mastodon.town import JSON, MastodonTown


class AdminWebhooks:
    """One receiver of webhooks.

    Args:
        url: of the receiver.
        secret: that both know.
    """

    def __init__(self, town: MastodonTown, url: str, secret: str) -> None:
        self._town, self._url, self._secret = town, url, secret
        self._administrator = town.add_account("webmaster", role="admin")

    async def report_created(self, report: JSON | str) -> int:
        """Tell of a report, with e-mail and IP addresses of all involved; the receiver's status."""
        number = report if isinstance(report, str) else report["id"]
        body = await self._town.call(self._administrator, "GET", f"/api/v1/admin/reports/{number}")
        return await self.send("report.created", body)

    async def status_created(self, post: JSON) -> int:
        """Tell of a new post, of which all local ones are told; the receiver's status."""
        return await self.send("status.created", post)

    async def status_updated(self, post: JSON) -> int:
        """Tell of an edited post; the receiver's status."""
        return await self.send("status.updated", post)

    async def send(self, event: str, body: JSON, *, signature: str | None = None) -> int:
        """Tell of anything; the receiver's status.

        Args:
            signature: another than the right one.
        """
        sent = {"event": event, "created_at": datetime.now(UTC).isoformat(), "object": body}
        raw = json.dumps(sent).encode()
        right = hmac.new(self._secret.encode(), raw, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-Hub-Signature": f"sha256={right}" if signature is None else signature,
        }
        async with ClientSession() as session, session.post(self._url, data=raw, headers=headers) as answer:
            return answer.status
