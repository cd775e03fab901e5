"""What the fake instance promises of its network side: people, records, faults."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from tests.fakes.machine.clock import let_pass
from tests.fakes.mastodon.plain_calls import call
from tests.fakes.mastodon.server.faults import Fault
from tests.fakes.mastodon.server.server import MastodonServer

_POST = ("POST", "/api/v1/statuses")


async def test_people_post_and_answer(server: MastodonServer) -> None:
    ada, ben = server.town.add_account("ada"), server.town.add_account("ben", "far.example")
    post = await server.town.post(ada, "hello", language="en", spoiler="greeting")
    reply = await server.town.post(ben, "hello @ada", reply_to=post)
    assert [each["id"] for each in await server.town.replies(post)] == [reply["id"]]
    assert reply["account"]["acct"] == "ben@far.example"
    assert [each["acct"] for each in reply["mentions"]] == ["ada"]
    assert server.requests == []


async def test_servers_know_nothing_of_each_other(server: MastodonServer) -> None:
    """They use the same routes of mastodon-mock, one after the other and at once."""
    post = await server.town.post(server.bot, "hello")
    for kind in ("mastodon", "gotosocial", "mastodon"):
        other = MastodonServer(kind=kind, domain="other.example")
        async with other.running():
            assert (await call(other, "GET", "/api/v1/timelines/public"))[1] == []
            assert (await call(other, "GET", "/api/v1/notifications", token=server.bot.token))[0] == 401
            assert (await call(other, "GET", "/api/v2/instance"))[1]["domain"] == "other.example"
            await other.town.post(other.bot, "hello")
        assert [each["id"] for each in (await call(server, "GET", "/api/v1/timelines/public"))[1]] == [post["id"]]


async def test_every_request_is_recorded_with_what_it_held(server: MastodonServer) -> None:
    await call(server, *_POST, key="a-key", status="hello", visibility="unlisted")
    await call(server, "GET", "/api/v1/notifications?types[]=mention&types[]=status&min_id=7", token="")
    posted, polled = server.requests
    assert (posted.method, posted.path) == _POST
    assert posted.form == {"status": "hello", "visibility": "unlisted"}
    assert posted.headers["Idempotency-Key"] == "a-key"
    assert posted.token == server.bot.token
    assert polled.query == {"types": ["mention", "status"], "min_id": "7"}
    assert polled.token is None
    assert server.asked("GET", "/api/v1/*") == [polled]


async def test_an_error_strikes_so_often_as_it_says(server: MastodonServer) -> None:
    for code in (401, 403, 404, 422, 429, 500, 503):
        server.fault("/api/v1/statuses", str(code), method="POST", count=2)
        codes = [(await call(server, *_POST, status=f"{number}"))[0] for number in range(3)]
        assert codes == [code, code, 200]
    assert len(await server.town.written_by(server.bot)) == 7
    assert len(server.asked(*_POST)) == 21


async def test_an_error_may_come_after_the_post_was_made(server: MastodonServer) -> None:
    server.fault("/api/v1/statuses", "500 after", method="POST")
    assert (await call(server, *_POST, status="x"))[0] == 500
    assert len(await server.town.written_by(server.bot)) == 1


@pytest.mark.parametrize(("kind", "arrives"), [("lose reply", True), ("drop", False)])
async def test_a_connection_ends_without_an_answer(server: MastodonServer, kind: str, arrives: bool) -> None:
    server.fault("/api/v1/statuses", kind)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await call(server, *_POST, status="x")
    assert bool(await server.town.written_by(server.bot)) is arrives


async def test_a_timeout_carries_out_and_never_answers(server: MastodonServer) -> None:
    server.fault("/api/v1/statuses", "timeout")
    waits = asyncio.create_task(call(server, *_POST, status="x"))
    await server.until(lambda: server.home.written_by(server.bot.id))
    assert (await call(server, "GET", "/api/v1/accounts/verify_credentials"))[0] == 200
    assert not waits.done()
    waits.cancel()


async def test_a_slow_request_waits_before_it_is_carried_out(server: MastodonServer) -> None:
    server.fault("/api/v1/statuses", "slow", seconds=60)
    waits = asyncio.create_task(call(server, *_POST, status="x"))
    await server.until(lambda: server.requests)
    assert server.home.written_by(server.bot.id) == []
    let_pass(61)
    assert (await waits)[0] == 200


async def test_a_broken_proxy_answers_what_is_not_json(server: MastodonServer) -> None:
    server.fault("/api/v1/statuses", "not JSON")
    with pytest.raises(aiohttp.ContentTypeError):
        await call(server, *_POST, status="x")
    assert len(await server.town.written_by(server.bot)) == 1


async def test_a_fault_without_a_count_lasts_until_it_is_ended(server: MastodonServer) -> None:
    fault = server.fault("/api/v1/accounts/**", "503", count=None)
    path = "/api/v1/accounts/verify_credentials"
    assert [(await call(server, "GET", path))[0] for _ in range(3)] == [503, 503, 503]
    server.faults.end(fault)
    assert (await call(server, "GET", path))[0] == 200


async def test_chance_strikes_where_no_fault_does_and_never_the_town(server: MastodonServer) -> None:
    server.faults.chance = lambda asked: Fault("**", "503") if asked.method == "POST" else None
    server.fault("/api/v1/statuses", "404")
    assert [(await call(server, *_POST, status="x"))[0] for _ in range(2)] == [404, 503]
    assert (await call(server, "GET", "/api/v2/instance"))[0] == 200
    assert (await server.town.post(server.bot, "x"))["visibility"] == "public"


async def test_connections_are_refused_until_they_are_taken_again(server: MastodonServer) -> None:
    server.refuse()
    with pytest.raises(aiohttp.ClientConnectorError):
        await call(server, "GET", "/api/v2/instance")
    await server.accept()
    assert (await call(server, "GET", "/api/v2/instance"))[0] == 200
    assert len(server.requests) == 1


def test_there_is_no_fault_of_an_unknown_kind() -> None:
    with pytest.raises(ValueError, match="the faults are drop"):
        Fault("**", "earthquake")
