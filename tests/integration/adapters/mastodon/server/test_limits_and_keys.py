"""How often the fake instance lets itself be asked, and what a second post with the same key becomes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import aiohttp
import pytest

from tests.fakes.mastodon.plain_calls import call
from tests.fakes.mastodon.server.server import MastodonServer

_POST = ("POST", "/api/v1/statuses")


async def test_thirty_deletions_in_thirty_minutes(server: MastodonServer) -> None:
    path = f"/api/v1/statuses/{(await server.town.post(server.bot, 'x'))['id']}"
    codes = [(await call(server, "DELETE", path))[0] for _ in range(30)]
    assert codes == [200] + [404] * 29
    path = f"/api/v1/statuses/{(await server.town.post(server.bot, 'y'))['id']}"
    assert await call(server, "DELETE", path) == (429, {"error": "Too many requests"})
    server.pass_seconds(30 * 60 - 60)
    assert (await call(server, "DELETE", path))[0] == 429
    assert len(await server.town.written_by(server.bot)) == 1
    server.pass_seconds(60)
    assert (await call(server, "DELETE", path))[0] == 200


async def test_each_account_has_its_own_deletions(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    post = await server.town.post(ada, "hello")
    server.limits.sizes["deletes"] = (1, 1800)
    codes = [(await call(server, "DELETE", "/api/v1/statuses/1"))[0] for _ in range(2)]
    assert codes == [404, 429]
    await server.town.delete(ada, post)


async def test_what_is_left_stands_in_the_headers() -> None:
    began = datetime(2026, 11, 25, 12, tzinfo=UTC)
    server = MastodonServer(lambda: began)
    async with server.running(), aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {server.bot.token}"}
        server.limits.kept.add("all")
        for left in (299, 298):
            async with session.get(f"{server.url}/api/v1/notifications", headers=headers) as answer:
                assert answer.headers["X-RateLimit-Limit"] == "300"
                assert answer.headers["X-RateLimit-Remaining"] == f"{left}"
                assert answer.headers["X-RateLimit-Reset"] == "2026-11-25T12:05:00.000000Z"


async def test_the_other_limits_are_kept_where_a_test_wants_them(server: MastodonServer) -> None:
    server.limits.kept.add("paging")
    server.limits.sizes["paging"] = (3, 900)
    path = "/api/v1/notifications?min_id=1"
    codes = [(await call(server, "GET", path))[0] for _ in range(4)]
    assert codes == [200] * 3 + [429]
    assert (await call(server, "GET", "/api/v1/notifications"))[0] == 200


async def test_a_429_says_when_the_limit_is_lifted(server: MastodonServer) -> None:
    server.fault("/api/v1/statuses", "429", seconds=90)
    async with aiohttp.ClientSession() as session, session.post(f"{server.url}/api/v1/statuses") as answer:
        assert answer.status == 429
        assert answer.headers["X-RateLimit-Remaining"] == "0"
        reset = datetime.fromisoformat(answer.headers["X-RateLimit-Reset"])
    assert 80 < (reset - server.now()).total_seconds() <= 90
    server.errors.clear()  # an empty post is none


async def test_a_key_stands_for_one_post_for_an_hour(server: MastodonServer) -> None:
    posts = [(await call(server, *_POST, key="k", status="x"))[1]["id"] for _ in range(2)]
    server.pass_seconds(3590)
    posts.append((await call(server, *_POST, key="k", status="another text"))[1]["id"])
    assert len(set(posts)) == 1
    server.pass_seconds(20)
    assert (await call(server, *_POST, key="k", status="x"))[1]["id"] not in posts
    assert len(await server.town.written_by(server.bot)) == 2


async def test_a_key_is_one_accounts(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    await call(server, *_POST, key="k", status="x")
    _, post = await call(server, *_POST, token=ada.token, key="k", status="x")
    assert post["account"]["acct"] == "ada"


async def test_eight_posts_at_once_with_a_key_are_one(server: MastodonServer) -> None:
    answers = await asyncio.gather(*(call(server, *_POST, key="k", status="x") for _ in range(8)))
    assert len({body["id"] for _, body in answers}) == 1
    assert len(await server.town.written_by(server.bot)) == 1


@pytest.mark.parametrize("kind", ["lose reply", "drop"])
async def test_a_key_makes_a_second_attempt_safe(server: MastodonServer, kind: str) -> None:
    server.fault("/api/v1/statuses", kind)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await call(server, *_POST, key="k", status="x")
    _, post = await call(server, *_POST, key="k", status="x")
    assert [each["id"] for each in await server.town.written_by(server.bot)] == [post["id"]]


async def test_a_key_of_a_refused_post_is_free(server: MastodonServer) -> None:
    assert (await call(server, *_POST, key="k", status="x" * 501))[0] == 422
    assert (await call(server, *_POST, key="k", status="x"))[0] == 200


async def test_a_key_of_a_deleted_post_finds_nothing(server: MastodonServer) -> None:
    _, post = await call(server, *_POST, key="k", status="x")
    await server.town.delete(server.bot, post)
    assert (await call(server, *_POST, key="k", status="x"))[0] == 404
    assert await server.town.written_by(server.bot) == []


async def test_a_key_is_ignored_where_the_server_is_to_post_later(server: MastodonServer) -> None:
    later = "2099-01-01T00:00:00Z"
    posts = [(await call(server, *_POST, key="k", status="x", scheduled_at=later))[1]["id"] for _ in range(2)]
    assert len(set(posts)) == 2
    server.errors.clear()  # mastodon-mock writes a post for later without half of its fields
