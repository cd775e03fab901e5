"""What an instance sends: taken only with its signature, and acknowledged only once it is kept."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest
from aiohttp import ClientSession

from adapters.mastodon.intake.webhook import MOST_BYTES, SIGNATURE_HEADER, Webhook, WebhookOptions
from core.errors import BadSettings, StoreUnavailable

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECRET = "from the page of the webhook"


@dataclass
class _Kept:
    """What was kept, and how keeping goes."""

    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    fault: Exception | None = None

    async def keep(self, event: str, said: dict[str, Any]) -> None:
        if self.fault is not None:
            raise self.fault
        self.events.append((event, said))


@dataclass
class _Sender:
    """An instance that sends what it is told to."""

    kept: _Kept
    port: int

    async def send(self, body: bytes, signature: str | None = None, path: str = "/mastodon") -> int:
        signed = f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}"
        headers = {"Content-Type": "application/json"}
        if signature != "":
            headers[SIGNATURE_HEADER] = signed if signature is None else signature
        async with ClientSession() as http:
            url = f"http://127.0.0.1:{self.port}{path}"
            async with http.post(url, data=BytesIO(body), headers=headers) as answer:
                return answer.status


def _body(at: datetime = NOW, **more: Any) -> bytes:
    said = {"event": "report.created", "created_at": at.isoformat().replace("+00:00", "Z"), "object": {"id": "5"}}
    return json.dumps(said | more).encode()


@pytest.fixture
async def sender() -> AsyncIterator[_Sender]:
    """A webhook that listens."""
    kept = _Kept()
    webhook = Webhook(WebhookOptions("127.0.0.1", 0, SECRET), kept.keep, lambda: NOW)
    await webhook.open()
    yield _Sender(kept, webhook.port)
    await webhook.close()


async def test_a_signed_event_is_kept(sender: _Sender) -> None:
    """And only then acknowledged."""
    assert await sender.send(_body()) == 200
    assert sender.kept.events == [("report.created", {"id": "5"})]


@pytest.mark.parametrize("signature", ["", "sha256=", "sha256=00", "sha1=00", "sha256=\u00e9"])
async def test_a_forged_event_leaves_nothing(sender: _Sender, signature: str) -> None:
    """Neither without a signature nor with a wrong one."""
    assert await sender.send(_body(), signature) == 401
    assert sender.kept.events == []


async def test_a_signature_holds_for_its_bytes_only(sender: _Sender) -> None:
    """A changed body under a right signature of another."""
    other = f"sha256={hmac.new(SECRET.encode(), _body(), hashlib.sha256).hexdigest()}"
    assert await sender.send(_body(object={"id": "6"}), other) == 401
    assert sender.kept.events == []


@pytest.mark.parametrize("minutes", [-6, 6])
async def test_an_old_event_is_a_copy(sender: _Sender, minutes: int) -> None:
    """Who recorded one cannot play it again; the poll finds what was late."""
    assert await sender.send(_body(NOW + timedelta(minutes=minutes))) == 401
    assert sender.kept.events == []


@pytest.mark.parametrize("minutes", [-4, 4])
async def test_clocks_may_differ(sender: _Sender, minutes: int) -> None:
    """By less than five minutes."""
    assert await sender.send(_body(NOW + timedelta(minutes=minutes))) == 200


async def test_what_cannot_be_kept_is_sent_again(sender: _Sender) -> None:
    """The instance is told that it did not arrive."""
    sender.kept.fault = StoreUnavailable("away")
    assert await sender.send(_body()) == 503


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"{}", json.dumps({"event": "x", "created_at": NOW.isoformat()}).encode()]
)
async def test_what_is_no_event_is_refused(sender: _Sender, body: bytes) -> None:
    """In words that repeat nothing of it."""
    assert await sender.send(body) == 400
    assert sender.kept.events == []


async def test_a_flood_is_cut(sender: _Sender) -> None:
    """More than an instance ever sends is not even read to its end."""
    assert await sender.send(b"x" * (MOST_BYTES + 1)) == 413


async def test_another_path_is_not_there(sender: _Sender) -> None:
    """Only the one that was set."""
    assert await sender.send(_body(), path="/") == 404


async def test_a_taken_port_is_told(sender: _Sender) -> None:
    """With the setting to change."""
    webhook = Webhook(WebhookOptions("127.0.0.1", sender.port, SECRET), sender.kept.keep, lambda: NOW)
    with pytest.raises(BadSettings, match="cannot listen"):
        await webhook.open()
    await webhook.close()
