"""What the fake GoToSocial does differently: ids, keys, reports, policies of replying."""

from __future__ import annotations

import aiohttp
import pytest
from yarl import URL

from tests.fakes.mastodon.plain_calls import call
from tests.fakes.mastodon.server.kinds import GOTOSOCIAL, MASTODON, ulid
from tests.fakes.mastodon.server.server import MastodonServer

_POST = ("POST", "/api/v1/statuses")


async def test_it_says_what_it_is(gotosocial: MastodonServer) -> None:
    _, about = await call(gotosocial, "GET", "/api/v2/instance")
    assert about["version"].startswith("0.20.2+git-")
    assert "api_versions" not in about
    assert "timelines_access" not in about["configuration"]
    assert about["configuration"]["statuses"]["max_characters"] == 5000
    _, node = await call(gotosocial, "GET", "/nodeinfo/2.0")
    assert node["software"]["name"] == "gotosocial"


async def test_a_key_is_ignored(gotosocial: MastodonServer) -> None:
    posts = [(await call(gotosocial, *_POST, key="k", status="x"))[1]["id"] for _ in range(2)]
    assert len(set(posts)) == 2


async def test_ids_are_ulids_everywhere_and_sort_as_they_come(gotosocial: MastodonServer) -> None:
    ada = gotosocial.town.add_account("ada")
    posts = [await gotosocial.town.mention(ada, gotosocial.bot, f"{number}") for number in range(3)]
    ids = [each["id"] for each in posts]
    assert ids == sorted(ids)
    assert {len(each) for each in [*ids, ada.id, gotosocial.bot.id]} == {26}
    assert posts[0]["account"]["id"] == ada.id
    assert posts[0]["mentions"][0]["id"] == gotosocial.bot.id
    _, answer = await call(gotosocial, *_POST, status="@ada x", in_reply_to_id=ids[1])
    assert (answer["in_reply_to_id"], answer["in_reply_to_account_id"]) == (ids[1], ada.id)
    assert [each["id"] for each in await gotosocial.town.replies(posts[1])] == [answer["id"]]
    assert [each["id"] for each in await gotosocial.town.written_by(gotosocial.bot)] == [answer["id"]]


async def test_notifications_are_paged_by_ulids(gotosocial: MastodonServer) -> None:
    ada = gotosocial.town.add_account("ada")
    for number in range(3):
        await gotosocial.town.mention(ada, gotosocial.bot, f"{number}")
    path = "/api/v1/notifications?types[]=mention&limit=1"
    _, first = await call(gotosocial, "GET", f"{path}&min_id={ulid(0)}")
    assert "<p>" in first[0]["status"]["content"]
    headers = {"Authorization": f"Bearer {gotosocial.bot.token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(f"{gotosocial.url}{path}&min_id={first[0]['id']}") as answer,
    ):
        (second,) = await answer.json()
        assert second["id"] > first[0]["id"]
        newer = URL(str(answer.links["prev"]["url"]))
        assert str(newer).startswith(f"{gotosocial.url}/api/v1/notifications")
        assert newer.query["min_id"] == second["id"]


async def test_a_number_is_nobodys_id(gotosocial: MastodonServer) -> None:
    post = await gotosocial.town.post(gotosocial.bot, "hello")
    assert await gotosocial.town.see(post["id"])
    assert await gotosocial.town.see(GOTOSOCIAL.kept(post["id"])) is None
    assert await gotosocial.town.see(ulid(7)) is None


async def test_who_may_not_see_may_not_answer_either(gotosocial: MastodonServer) -> None:
    ada, ben = map(gotosocial.town.add_account, ("ada", "ben"))
    post = await gotosocial.town.direct(ada, "hello", ben)
    assert await gotosocial.town.see(post) is None
    assert (await call(gotosocial, *_POST, status="x", in_reply_to_id=post["id"]))[0] == 404


async def test_no_report_is_taken_over(gotosocial: MastodonServer) -> None:
    moderator = gotosocial.town.add_account("moderator", role="admin", scopes=["read", "write", "admin:write"])
    report = await gotosocial.town.report(moderator, await gotosocial.town.post(gotosocial.bot, "hello"))
    path = f"/api/v1/admin/reports/{report['id']}"
    assert (await call(gotosocial, "POST", f"{path}/assign_to_self", token=moderator.token))[0] == 404
    _, resolved = await call(gotosocial, "POST", f"{path}/resolve", token=moderator.token)
    assert (resolved["id"], resolved["action_taken"]) == (report["id"], True)


async def test_every_post_says_who_may_answer(gotosocial: MastodonServer) -> None:
    ada = gotosocial.town.add_account("ada")
    post = await gotosocial.town.post(ada, "hello")
    assert "public" in post["interaction_policy"]["can_reply"]["always"]
    assert "quote_approval" not in post
    gotosocial.town.let_reply(post)
    seen = await gotosocial.town.see(post, gotosocial.bot)
    assert seen is not None
    assert seen["interaction_policy"]["can_reply"]["always"] == ["author"]
    status, body = await call(gotosocial, *_POST, status="x", in_reply_to_id=post["id"])
    assert (status, body) == (403, {"error": "Forbidden: you do not have permission to reply to this status"})


@pytest.mark.parametrize(("spoiler", "is_taken"), [("", True), ("y", False)])
async def test_a_post_is_as_long_as_its_letters(gotosocial: MastodonServer, spoiler: str, is_taken: bool) -> None:
    text = f"https://far.example/{'x' * 4980}"
    status, _ = await call(gotosocial, *_POST, status=text, spoiler_text=spoiler)
    assert (status == 200) is is_taken


@pytest.mark.parametrize("number", [0, 7, 31, 32, 1795648464974, 2**63 - 1])
def test_a_number_comes_back_from_its_ulid(number: int) -> None:
    assert GOTOSOCIAL.kept(ulid(number)) == f"{number}"
    assert MASTODON.kept(MASTODON.shown(number)) == f"{number}"
