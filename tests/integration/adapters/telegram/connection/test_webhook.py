"""The webhook: only who knows the secret is heard, and 200 is said only of what is committed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from io import BytesIO

import pytest
from aiohttp import ClientSession

from adapters.telegram.connection.updates import KINDS
from adapters.telegram.connection.webhook import MOST_BYTES, SECRET_HEADER, Webhook, WebhookOptions, secret_of
from bot.runtime.faults import installed
from bot.store.engine.database import Database
from core.errors import BadSettings, PlatformUnavailable, StoreUnavailable
from tests.fakes.desk.traces import everything
from tests.fakes.telegram.server.server import TelegramServer
from tests.integration.adapters.telegram.connection.conftest import Intake

PATH = "/telegram"


@pytest.fixture
def port() -> int:
    """A free port of this machine."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Looks:
    """The pauses between two looks at the webhook; each ends when a test lets it."""

    def __init__(self) -> None:
        self.turn = asyncio.Semaphore(0)

    async def sleep(self, _: float) -> None:
        await self.turn.acquire()


@pytest.fixture
def looks() -> Looks:
    return Looks()


@pytest.fixture
def hooked(intake: Intake, port: int, looks: Looks) -> Intake:
    """A process that updates are sent to."""
    options = WebhookOptions(f"http://127.0.0.1:{port}{PATH}", "127.0.0.1", port)
    intake.arriving = Webhook(intake.client, intake.inbox, intake.handling.wake, options, sleep=looks.sleep)
    return intake


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    async with ClientSession() as made:
        yield made


@pytest.fixture
def chat(server: TelegramServer) -> int:
    return server.town.add_group(bot="administrator")


@pytest.fixture
def ada(server: TelegramServer) -> int:
    return server.town.add_user("Ada")


async def test_telegram_sends_what_is_written(
    server: TelegramServer, hooked: Intake, database: Database, chat: int, ada: int
) -> None:
    """Also what was written while nobody listened; each is heard once."""
    server.town.say(ada, chat, "one")
    async with hooked.open():
        await hooked.until_heard(1)
        server.town.say(ada, chat, "two")
        await hooked.until_heard(2)
        await server.until_heard()
    assert hooked.texts() == ["one", "two"]
    (asked,) = server.asked("setWebhook")
    assert set(asked["allowed_updates"]) == {*KINDS}
    assert asked["secret_token"] == secret_of(server.token)
    assert server.token not in asked["secret_token"]
    assert [status for _, status in server.delivered] == [200, 200]


@pytest.mark.parametrize("secret", [None, "", "wrong", "ä", "x" * 5000])
async def test_who_does_not_know_the_secret_is_not_heard(
    server: TelegramServer, hooked: Intake, database: Database, session: ClientSession, port: int, secret: str | None
) -> None:
    """Everybody on the internet can reach the address."""
    body = {"update_id": 1, "message": {"text": "an order"}}
    async with hooked.open():
        headers = {} if secret is None else {SECRET_HEADER: secret}
        async with session.post(f"http://127.0.0.1:{port}{PATH}", json=body, headers=headers) as answer:
            assert answer.status == 403
            assert await answer.text() == ""
    assert "an order" not in await everything(database)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (PATH, b"no JSON", 400),
        (PATH, b"\xff\xfe", 400),
        (PATH, b"[]", 400),
        (PATH, b"{}", 400),
        (PATH, b'{"update_id": "x"}', 400),
        (PATH, b'{"update_id": null}', 400),
        (PATH, b'"' + b"x" * MOST_BYTES + b'"', 413),
        ("/elsewhere", b'{"update_id": 1}', 404),
    ],
)
async def test_what_is_no_update_is_refused(
    server: TelegramServer, hooked: Intake, session: ClientSession, port: int, path: str, body: bytes, status: int
) -> None:
    """Even with the secret: nothing is kept, and the process goes on."""
    headers = {SECRET_HEADER: secret_of(server.token)}
    async with hooked.open() as running:
        async with session.post(f"http://127.0.0.1:{port}{path}", data=BytesIO(body), headers=headers) as answer:
            assert answer.status == status
        assert not running.done()
    assert await hooked.inbox.waiting() == []


async def test_telegram_sends_again_what_could_not_be_kept(
    server: TelegramServer, hooked: Intake, chat: int, ada: int
) -> None:
    """Until the commit it hears no 200."""
    failed = 0

    async def full(point: str) -> None:
        nonlocal failed
        if point == "keep updates: before the commit" and failed < 2:
            failed += 1
            raise StoreUnavailable("The disk is full.", remedy="")

    server.town.say(ada, chat, "kept at last")
    with installed(full):
        async with hooked.open():
            await hooked.until_heard(1)
            await server.until_heard()
    assert hooked.texts() == ["kept at last"]
    assert [status for _, status in server.delivered] == [503, 503, 200]


async def test_an_update_that_is_sent_twice_is_heard_once(
    server: TelegramServer, hooked: Intake, chat: int, ada: int
) -> None:
    """Telegram repeats what it got no answer to."""
    async with hooked.open():
        server.town.say(ada, chat, "once")
        await hooked.until_heard(1)
        await server.until_heard()
        server.state.updates.repeat(server.state.updates.made[0]["update_id"])
        server.town.say(ada, chat, "afterwards")
        await hooked.until_heard(2)
        await server.until_heard()
    assert hooked.texts() == ["once", "afterwards"]


async def test_a_webhook_that_somebody_else_set_is_noticed(
    server: TelegramServer, hooked: Intake, looks: Looks
) -> None:
    """Nothing would come any more, and nobody would know."""
    async with hooked.open() as running:
        looks.turn.release()
        await server.until(lambda: server.asked("getWebhookInfo"))
        assert not running.done()
        server.webhook = {}
        looks.turn.release()
        await asyncio.wait({running}, timeout=60)
        with pytest.raises(PlatformUnavailable, match="a webhook is set"):
            running.result()


async def test_an_address_that_telegram_refuses_is_named(server: TelegramServer, intake: Intake) -> None:
    """It sends updates to https addresses only."""
    options = WebhookOptions("http://example.org/telegram", "127.0.0.1", 0)
    intake.arriving = Webhook(intake.client, intake.inbox, intake.handling.wake, options)
    with pytest.raises(BadSettings, match="does not accept the address") as caught:
        async with intake.open():
            raise AssertionError
    await intake.arriving.close()
    await intake.client.close()
    assert "telegram.webhook_url" in caught.value.remedy


async def test_a_port_that_is_taken_is_named(server: TelegramServer, hooked: Intake, port: int) -> None:
    """Else the process would wait for updates that cannot come."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with pytest.raises(BadSettings, match=f"cannot listen on 127.0.0.1:{port}") as caught:
            async with hooked.open():
                raise AssertionError
        await hooked.arriving.close()
        await hooked.client.close()
    assert "telegram.listen" in caught.value.remedy
