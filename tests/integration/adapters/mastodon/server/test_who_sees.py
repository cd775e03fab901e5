"""What the fake instance shows to whom, where mastodon-mock shows everything to everybody."""

from __future__ import annotations

import pytest

from tests.fakes.mastodon.plain_calls import call
from tests.fakes.mastodon.server.server import MastodonServer

_POST = ("POST", "/api/v1/statuses")


@pytest.mark.parametrize("visibility", ["private", "direct"])
async def test_a_post_for_some_is_nobodys_elses(server: MastodonServer, visibility: str) -> None:
    ada, ben, eve = map(server.town.add_account, ("ada", "ben", "eve"))
    post = await server.town.post(ada, "hello @ben", visibility=visibility)
    assert [bool(await server.town.see(post, who)) for who in (ada, ben, eve, None)] == [True, True, False, False]
    for rest in ("", "/context", "/history", "/source"):
        status, body = await call(server, "GET", f"/api/v1/statuses/{post['id']}{rest}")
        assert (status, body) == (404, {"error": "Record not found"})


async def test_a_private_post_is_shown_to_followers(server: MastodonServer) -> None:
    ada, ben = map(server.town.add_account, ("ada", "ben"))
    post = await server.town.post(ada, "hello", visibility="private")
    assert await server.town.see(post, ben) is None
    await server.town.follow(ben, ada)
    assert await server.town.see(post, ben)


async def test_a_hidden_answer_is_left_out_of_a_thread(server: MastodonServer) -> None:
    ada, ben = map(server.town.add_account, ("ada", "ben"))
    post = await server.town.post(ada, "hello")
    await server.town.post(ben, "for all", reply_to=post)
    await server.town.direct(ben, "for you", ada, reply_to=post)
    assert len(await server.town.replies(post, ada)) == 2
    assert [each["content"] for each in await server.town.replies(post)] == ["<p>for all</p>"]


async def test_who_blocked_somebody_shows_them_nothing(server: MastodonServer) -> None:
    ada, ben = map(server.town.add_account, ("ada", "ben"))
    post = await server.town.post(ada, "hello")
    assert await server.town.see(post, server.bot)
    await server.town.block(ada, server.bot)
    assert await server.town.see(post, server.bot) is None
    assert await server.town.see(post, ben)
    assert (await call(server, "GET", f"/api/v1/accounts/{ada.id}/statuses"))[1] == []
    assert (await call(server, "GET", "/api/v1/timelines/public"))[1] == []
    await server.town.unblock(ada, server.bot)
    assert await server.town.see(post, server.bot)


async def test_a_quoted_post_is_hidden_where_it_would_not_be_seen(server: MastodonServer) -> None:
    ada, ben = map(server.town.add_account, ("ada", "ben"))
    post = await server.town.post(ada, "hello")
    quote = await server.town.post(ben, "look", quoted_status_id=post["id"])
    assert quote["quote"]["quoted_status"]["id"] == post["id"]
    await server.town.block(ada, server.bot)
    seen = await server.town.see(quote, server.bot)
    assert seen is not None
    assert seen["quote"]["quoted_status"] is None


async def test_nobody_is_told_of_whom_they_blocked_or_muted(server: MastodonServer) -> None:
    ada, ben, eve = map(server.town.add_account, ("ada", "ben", "eve"))
    await server.town.block(server.bot, ada)
    await server.town.mute(server.bot, ben)
    for person in (ada, ben, eve):
        await server.town.mention(person, server.bot, "hello")
    _, told = await call(server, "GET", "/api/v1/notifications")
    assert [each["account"]["acct"] for each in told] == ["eve"]


async def test_an_edit_that_mentions_somebody_tells_them(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    post = await server.town.post(ada, "hello #one")
    assert (await call(server, "GET", "/api/v1/notifications"))[1] == []
    edited = await server.town.edit(ada, post, "hello @antiphon #two")
    _, told = await call(server, "GET", "/api/v1/notifications")
    assert [(each["type"], each["status"]["id"]) for each in told] == [("mention", post["id"])]
    seen = await server.town.see(edited)
    assert seen is not None
    assert [each["acct"] for each in seen["mentions"]] == ["antiphon"]
    assert [each["name"] for each in seen["tags"]] == ["two"]
    assert seen["edited_at"]


async def test_a_deleted_post_takes_its_notifications_with_it(server: MastodonServer) -> None:
    ada, ben = map(server.town.add_account, ("ada", "ben"))
    post = await server.town.mention(ada, server.bot, "hello")
    answer = await server.town.post(ben, "well", reply_to=post)
    await server.town.delete(ada, post)
    assert (await call(server, "GET", "/api/v1/notifications"))[1] == []
    seen = await server.town.see(answer)
    assert seen is not None
    assert seen["in_reply_to_id"] is None


@pytest.mark.parametrize(
    ("feed", "path"),
    [("live_feeds", "/api/v1/timelines/public"), ("hashtag_feeds", "/api/v1/timelines/tag/talk")],
)
async def test_a_closed_half_of_a_feed_is_left_out(server: MastodonServer, feed: str, path: str) -> None:
    ada, ben = server.town.add_account("ada"), server.town.add_account("ben", "far.example")
    await server.town.post(ada, "here #talk")
    await server.town.post(ben, "there #talk")
    server.settings.timelines_access[feed]["remote"] = "disabled"
    assert [each["account"]["acct"] for each in (await call(server, "GET", path))[1]] == ["ada"]
    _, about = await call(server, "GET", "/api/v2/instance", token="")
    assert about["configuration"]["timelines_access"][feed] == {"local": "public", "remote": "disabled"}


async def test_a_feed_may_be_for_those_who_are_logged_in(server: MastodonServer) -> None:
    await server.town.post(server.bot, "here")
    server.settings.timelines_access["live_feeds"]["local"] = "authenticated"
    assert len((await call(server, "GET", "/api/v1/timelines/public"))[1]) == 1
    assert (await call(server, "GET", "/api/v1/timelines/public", token=""))[0] == 401
    assert (await call(server, "GET", "/api/v1/timelines/tag/talk", token=""))[0] == 200


async def test_only_its_author_changes_a_post(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    post = await server.town.post(ada, "hello")
    for method in ("PUT", "DELETE"):
        form = {"status": "mine now"} if method == "PUT" else {}
        status, _ = await call(server, method, f"/api/v1/statuses/{post['id']}", **form)
        assert status == 404
    assert await server.town.see(post) == post
