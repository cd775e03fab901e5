"""What a second post with the same key becomes on the fake instances: at most one is posted only if this holds."""

import asyncio

import aiohttp
import pytest

from tests.fakes.mastodon.plain_calls import call
from tests.fakes.mastodon.server.server import MastodonServer

_POST = ("POST", "/api/v1/statuses")


async def test_gotosocial_ignores_a_key(gotosocial: MastodonServer) -> None:
    posts = [(await call(gotosocial, *_POST, key="k", status="x"))[1]["id"] for _ in range(2)]
    assert len(set(posts)) == 2


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
