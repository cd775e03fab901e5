"""What the fake instance lets whom do, where mastodon-mock lets everybody do everything."""

from __future__ import annotations

import pytest

from tests.fakes.mastodon.plain_calls import call
from tests.fakes.mastodon.server.refusing.scopes import cover, needed
from tests.fakes.mastodon.server.server import MastodonServer

_POST = ("POST", "/api/v1/statuses")
_REPORTS = "/api/v1/admin/reports"


async def test_only_a_moderator_reads_reports(server: MastodonServer) -> None:
    every = ("read", "write", "admin:read", "admin:write")
    ada = server.town.add_account("ada", scopes=every)
    moderator = server.town.add_account("moderator", role="moderator", scopes=every)
    post = await server.town.post(ada, "hello")
    await server.town.report(moderator, post, "look at this")
    assert await call(server, "GET", _REPORTS, token=ada.token) == (403, {"error": "This action is not allowed"})
    status, reports = await call(server, "GET", _REPORTS, token=moderator.token)
    assert status == 200
    assert [each["comment"] for each in reports] == ["look at this"]
    assert reports[0]["target_account"]["email"] == "ada@example.org"
    assert reports[0]["target_account"]["ip"].startswith("192.0.2.")


async def test_reading_reports_and_working_on_them_are_two_scopes(server: MastodonServer) -> None:
    moderator = server.town.add_account("moderator", role="moderator")
    reads = server.town.token(moderator, ["admin:read:reports"])
    works = server.town.token(moderator, ["admin:write:reports"])
    report = await server.town.report(moderator, await server.town.post(server.bot, "hello"))
    path = f"{_REPORTS}/{report['id']}"
    outside = {"error": "This action is outside the authorized scopes"}
    assert await call(server, "GET", path, token=moderator.token) == (403, outside)
    assert await call(server, "GET", path, token=works) == (403, outside)
    assert await call(server, "POST", f"{path}/resolve", token=reads) == (403, outside)
    assert await call(server, "GET", "/api/v1/admin/accounts", token=reads) == (403, outside)
    assert (await call(server, "GET", path, token=reads))[0] == 200
    _, assigned = await call(server, "POST", f"{path}/assign_to_self", token=works)
    assert assigned["assigned_account"]["account"]["acct"] == "moderator"
    _, resolved = await call(server, "POST", f"{path}/resolve", token=works)
    assert resolved["action_taken"] is True


@pytest.mark.parametrize(
    ("granted", "scope", "is_covered"),
    [
        ("read", "read:statuses", True),
        ("read:statuses", "read:statuses", True),
        ("read:statuses", "read", False),
        ("read:statuses", "read:accounts", False),
        ("write", "read:statuses", False),
        ("read", "admin:read:reports", False),
        ("admin:read", "admin:read:reports", True),
        ("admin:read:reports", "admin:read:accounts", False),
        ("admin", "admin:read:reports", False),
        ("follow", "write:blocks", True),
        ("follow", "write:statuses", False),
        ("read", "", True),
    ],
)
def test_a_wide_scope_holds_the_narrow_ones(granted: str, scope: str, is_covered: bool) -> None:
    assert cover([granted], scope) is is_covered


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("POST", "/api/v1/statuses", ("write:statuses", True)),
        ("GET", "/api/v1/statuses/1", ("read:statuses", False)),
        ("GET", "/api/v1/statuses/1/source", ("read:statuses", True)),
        ("GET", "/api/v1/accounts/1/statuses", ("read:statuses", False)),
        ("GET", "/api/v1/accounts/relationships", ("read:follows", True)),
        ("POST", "/api/v1/accounts/1/unblock", ("write:blocks", True)),
        ("GET", "/api/v1/notifications", ("read:notifications", True)),
        ("POST", "/api/v1/conversations/1/read", ("write:conversations", True)),
        ("GET", "/api/v1/admin/reports", ("admin:read:reports", True)),
        ("POST", "/api/v1/admin/reports/1/resolve", ("admin:write:reports", True)),
        ("GET", "/api/v2/instance", ("", False)),
    ],
)
def test_each_request_needs_its_scope(method: str, path: str, scope: tuple[str, bool]) -> None:
    assert needed(method, path) == scope


async def test_a_token_with_too_little_is_refused(server: MastodonServer) -> None:
    ada = server.town.add_account("ada", scopes=["read:statuses"])
    assert (await call(server, "GET", "/api/v1/notifications", token=ada.token))[0] == 403
    assert (await call(server, *_POST, token=ada.token, status="x"))[0] == 403
    assert (await call(server, "GET", "/api/v1/timelines/home", token=ada.token))[0] == 200


async def test_a_token_that_was_taken_away_is_refused(server: MastodonServer) -> None:
    assert (await call(server, *_POST, status="x"))[0] == 200
    server.town.revoke(server.bot.token)
    assert await call(server, *_POST, status="x") == (401, {"error": "The access token is invalid"})
    assert (await call(server, *_POST, token="", status="x"))[0] == 401


async def test_an_answer_to_a_post_that_is_gone_is_refused(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    post = await server.town.post(ada, "hello")
    await server.town.delete(ada, post)
    status, body = await call(server, *_POST, status="x", in_reply_to_id=post["id"])
    assert status == 404
    assert body["error"].startswith("The post you are trying to reply to")
    assert await server.town.written_by(server.bot) == []


async def test_an_answer_to_somebody_who_blocked_one_is_refused(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    post = await server.town.post(ada, "hello")
    await server.town.block(ada, server.bot)
    status, body = await call(server, *_POST, status="x", in_reply_to_id=post["id"])
    assert status == 404
    assert body["error"].startswith("The post you are trying to reply to")
    await server.town.unblock(ada, server.bot)
    assert (await call(server, *_POST, status="x", in_reply_to_id=post["id"]))[0] == 200


async def test_an_answer_to_a_post_that_one_may_not_see_is_refused(server: MastodonServer) -> None:
    ada, ben = map(server.town.add_account, ("ada", "ben"))
    post = await server.town.direct(ada, "hello", ben)
    assert (await call(server, *_POST, status="x", in_reply_to_id=post["id"]))[0] == 404
    assert (await server.town.post(ben, "well", reply_to=post))["in_reply_to_id"] == post["id"]


@pytest.mark.parametrize(
    ("who", "is_let"),
    [((), False), (("public",), True), (("followers",), False), (("mentioned",), False)],
)
async def test_an_author_may_say_who_answers(server: MastodonServer, who: tuple[str, ...], is_let: bool) -> None:
    ada = server.town.add_account("ada")
    post = await server.town.post(ada, "hello")
    seen = await server.town.see(post)
    assert seen is not None
    assert "interaction_policy" not in seen
    server.town.let_reply(post, *who)
    seen = await server.town.see(post, server.bot)
    assert seen is not None
    assert seen["interaction_policy"]["can_reply"]["always"] == ["author", *who, *(["me"] if is_let else [])]
    status, _ = await call(server, *_POST, status="x", in_reply_to_id=post["id"])
    assert status == (200 if is_let else 403)
    assert (await server.town.post(ada, "more", reply_to=post))["in_reply_to_id"] == post["id"]


async def test_followers_and_the_mentioned_may_be_let_answer(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    first, second = await server.town.post(ada, "hello"), await server.town.post(ada, "hello @antiphon")
    server.town.let_reply(first, "followers")
    server.town.let_reply(second, "mentioned")
    assert (await call(server, *_POST, status="x", in_reply_to_id=second["id"]))[0] == 200
    await server.town.follow(server.bot, ada)
    assert (await call(server, *_POST, status="x", in_reply_to_id=first["id"]))[0] == 200


async def test_a_post_is_as_long_as_mastodon_counts(server: MastodonServer) -> None:
    server.town.add_account("ben", "far.example")
    for text, spoiler, is_taken in (
        ("x" * 500, "", True),
        ("x" * 501, "", False),
        ("x" * 490, "y" * 11, False),
        (f"https://far.example/{'x' * 900} {'x' * 476}", "", True),
        (f"@ben@far.example {'x' * 495}", "", True),
        (f"@ben@far.example {'x' * 496}", "", False),
    ):
        status, body = await call(server, *_POST, status=text, spoiler_text=spoiler)
        assert status == (200 if is_taken else 422), text
        assert body.get("error") == (None if is_taken else "Validation failed: Text character limit of 500 exceeded")


async def test_an_operator_sets_the_length_and_the_rules(server: MastodonServer) -> None:
    server.settings.max_characters = 40
    server.settings.rules += ["Be kind.", "No automated posts without a yes."]
    _, about = await call(server, "GET", "/api/v2/instance")
    assert about["configuration"]["statuses"]["max_characters"] == 40
    assert about["domain"] == "home.example"
    assert [each["text"] for each in about["rules"]] == ["Be kind.", "No automated posts without a yes."]
    assert (await call(server, "GET", "/api/v1/instance/rules"))[1][0]["text"] == "Be kind."
    assert (await call(server, "GET", "/api/v1/instance"))[1]["configuration"]["statuses"]["max_characters"] == 40
    assert (await call(server, *_POST, status="x" * 41))[0] == 422


@pytest.mark.parametrize(
    ("policy", "automatic", "own"),
    [("nobody", [], "denied"), ("followers", ["followers"], "denied"), (None, ["public"], "automatic")],
)
async def test_who_may_quote_is_kept(
    server: MastodonServer, policy: str | None, automatic: list[str], own: str
) -> None:
    ada = server.town.add_account("ada")
    form = {} if policy is None else {"quote_approval_policy": policy}
    _, post = await call(server, *_POST, status="x", **form)
    assert server.requests[-1].form.get("quote_approval_policy") == policy
    seen = await server.town.see(post["id"])
    assert seen is not None
    assert seen["quote_approval"] == {"automatic": automatic, "manual": [], "current_user": own}
    status, _ = await call(server, *_POST, token=ada.token, status="look", quoted_status_id=post["id"])
    assert status == (200 if policy is None else 422)
