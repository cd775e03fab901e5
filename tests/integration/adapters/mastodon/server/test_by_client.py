"""The fake instance, driven by Mastodon.py: the library and the plain requests of the other tests agree about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from mastodon import Mastodon
from mastodon.errors import (
    MastodonAPIError,
    MastodonInternalServerError,
    MastodonNetworkError,
    MastodonNotFoundError,
    MastodonRatelimitError,
    MastodonServerError,
    MastodonServiceUnavailableError,
    MastodonUnauthorizedError,
)

from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.mastodon.server.server import MastodonServer


def _client(server: MastodonServer, token: str | None = None) -> Mastodon:
    return Mastodon(
        access_token=server.bot.token if token is None else token,
        api_base_url=server.url,
        ratelimit_method="throw",
        version_check_mode="none",
        request_timeout=GUARD_SECONDS,
    )


async def _ask(ask: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(ask)


async def test_a_mention_is_read_and_answered(server: MastodonServer) -> None:
    ada, ben = server.town.add_account("ada"), server.town.add_account("ben", "far.example")
    post = await server.town.post(ben, "hello all", language="eu", spoiler="greetings")
    called = await server.town.mention(ada, server.bot, "counter", reply_to=post)
    client = _client(server)
    assert (await _ask(client.account_verify_credentials)).bot is True
    (told,) = await _ask(lambda: client.notifications(types=["mention"], min_id="0"))
    assert (told.status.id, told.status.in_reply_to_id, told.account.acct) == (called["id"], post["id"], "ada")
    parent = await _ask(lambda: client.status(post["id"]))
    assert (parent.language, parent.spoiler_text, parent.account.acct) == ("eu", "greetings", "ben@far.example")
    assert parent.account.url == "https://far.example/@ben"
    reply = await _ask(
        lambda: client.status_post(
            "@ben@far.example not so",
            in_reply_to_id=parent.id,
            visibility="unlisted",
            spoiler_text=parent.spoiler_text,
            language=parent.language,
            idempotency_key="k",
            quote_approval_policy="nobody",
        )
    )
    assert [each.acct for each in reply.mentions] == ["ben@far.example"]
    assert server.requests[-1].form["quote_approval_policy"] == "nobody"
    thread = await _ask(lambda: client.status_context(post["id"]))
    assert [each.id for each in thread.descendants] == [called["id"], reply.id]
    mine = await _ask(lambda: client.account_statuses(server.bot.id, limit=5))
    assert [each.id for each in mine] == [reply.id]


async def test_new_notifications_are_found_from_a_cursor(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    for number in range(5):
        await server.town.mention(ada, server.bot, f"{number}")
    client, read = _client(server), list[Any]()

    def page() -> Any:
        return client.notifications(types=["mention"], min_id=read[-1].id if read else "0", limit=2)

    while found := await _ask(page):
        assert len(found) <= 2
        read += reversed(found)
    assert [each.status.content[-5:-4] for each in read] == list("01234")


async def test_each_fault_is_an_error_of_the_library(server: MastodonServer) -> None:
    client = _client(server)
    faults: dict[str, type[Exception]] = {
        "401": MastodonUnauthorizedError,
        "403": MastodonAPIError,
        "404": MastodonNotFoundError,
        "422": MastodonAPIError,
        "429": MastodonRatelimitError,
        "500 after": MastodonInternalServerError,
        "503": MastodonServiceUnavailableError,
        "not JSON": MastodonServerError,
        "drop": MastodonNetworkError,
        "lose reply": MastodonNetworkError,
    }
    for number, (kind, error) in enumerate(faults.items()):
        server.fault("/api/v1/statuses", kind, method="POST", seconds=90)
        with pytest.raises(error):
            await _ask(lambda: client.status_post("x", idempotency_key=kind))  # noqa: B023 - it is called at once
        made = len(await server.town.written_by(server.bot))
        assert made - number == (1 if kind in ("500 after", "not JSON", "lose reply") else 0), kind
        if kind == "429":
            assert client.ratelimit_reset == pytest.approx(server.now().timestamp() + 90, abs=60)
        await _ask(lambda: client.status_post("x", idempotency_key=kind))  # noqa: B023 - it is called at once
        assert len(await server.town.written_by(server.bot)) == number + 1, kind


async def test_a_lost_reply_is_found_again_by_reading_back(gotosocial: MastodonServer) -> None:
    ada = gotosocial.town.add_account("ada")
    post = await gotosocial.town.post(ada, "hello")
    client = _client(gotosocial)
    gotosocial.fault("/api/v1/statuses", "lose reply", method="POST")
    with pytest.raises(MastodonNetworkError):
        await _ask(lambda: client.status_post("@ada x", in_reply_to_id=post["id"], idempotency_key="k"))
    mine = await _ask(lambda: client.account_statuses(gotosocial.bot.id))
    assert [each.in_reply_to_id for each in mine] == [post["id"]]


async def test_a_slow_server_times_out(server: MastodonServer) -> None:
    client = _client(server)
    client.request_timeout = 3  # for long enough that the request is out
    server.fault("/api/v1/statuses", "timeout")
    with pytest.raises(MastodonNetworkError):
        await _ask(lambda: client.status_post("x"))
    await server.until(lambda: server.home.written_by(server.bot.id))


async def test_a_post_is_edited_and_taken_away(server: MastodonServer) -> None:
    client = _client(server)
    post = await _ask(lambda: client.status_post("one", visibility="direct"))
    edited = await _ask(lambda: client.status_update(post.id, "two", spoiler_text="changed"))
    assert (edited.content, edited.spoiler_text, edited.visibility) == ("<p>two</p>", "changed", "direct")
    assert len(await _ask(lambda: client.status_history(post.id))) == 2
    assert (await _ask(lambda: client.status_source(post.id))).text == "two"
    assert (await _ask(lambda: client.status_delete(post.id))).text == "two"
    with pytest.raises(MastodonNotFoundError):
        await _ask(lambda: client.status(post.id))


async def test_quotes_are_limited_later_and_revoked(server: MastodonServer) -> None:
    ada, client = server.town.add_account("ada"), _client(server)
    post = await _ask(lambda: client.status_post("one"))
    quote = await server.town.post(ada, "look", quoted_status_id=post.id)
    assert [each.id for each in await _ask(lambda: client.status_quotes(post.id))] == [quote["id"]]
    await _ask(lambda: client.status_quote_revoke(post.id, quote["id"]))
    seen = await server.town.see(quote)
    assert seen is not None
    assert seen["quote"]["state"] == "revoked"
    changed = await _ask(lambda: client.status_update_quote_approval_policy(post.id, "nobody"))
    assert changed.quote_approval.automatic == []


async def test_reports_are_read_assigned_and_resolved(server: MastodonServer) -> None:
    ada, ben = map(server.town.add_account, ("ada", "ben"))
    moderator = server.town.add_account("moderator", role="moderator")
    client = _client(server, server.town.token(moderator, ["admin:read:reports", "admin:write:reports"]))
    post = await server.town.post(ada, "hello", visibility="private")
    filed = await server.town.report(ben, post, "look at this", category="violation")
    (report,) = await _ask(lambda: client.admin_reports(min_id="0"))
    assert (report.id, report.comment, report.category) == (filed["id"], "look at this", "violation")
    assert [each.id for each in report.statuses] == [post["id"]]
    assert report.target_account.email == "ada@example.org"
    assert (await _ask(lambda: client.admin_report_assign(report.id))).assigned_account.username == "moderator"
    assert (await _ask(lambda: client.admin_report_resolve(report.id))).action_taken is True
    assert await _ask(client.admin_reports) == []
    assert len(await _ask(lambda: client.admin_reports(resolved=True))) == 1


async def test_the_instance_tells_what_the_library_looks_for(server: MastodonServer) -> None:
    server.settings.rules.append("Be kind.")
    client = _client(server)
    about = await _ask(client.instance_v2)
    assert (about.domain, about.version, about.rules[0].text) == ("home.example", "4.5.2", "Be kind.")
    assert about.configuration.statuses.characters_reserved_per_url == 23
    server.settings.timelines_access["live_feeds"]["local"] = "disabled"
    about = await _ask(client.instance_v2)
    assert about.configuration.timelines_access.live_feeds.local == "disabled"


async def test_conversations_are_read(server: MastodonServer) -> None:
    ada, client = server.town.add_account("ada"), _client(server)
    post = await server.town.direct(ada, "hello", server.bot)
    (conversation,) = await _ask(client.conversations)
    assert (conversation.last_status.id, conversation.unread) == (post["id"], True)
    await _ask(lambda: client.conversations_read(conversation.id))
    assert (await _ask(client.conversations))[0].unread is False


async def test_an_application_logs_in(server: MastodonServer) -> None:
    client_id, secret = await _ask(
        lambda: Mastodon.create_app("Antiphon", scopes=["read:accounts"], api_base_url=server.url)
    )
    client = Mastodon(client_id, secret, api_base_url=server.url, version_check_mode="none")
    address = await _ask(lambda: client.auth_request_url(scopes=["read:accounts"], allow_http=True))
    code = server.town.approve(server.bot, address)
    token = await _ask(lambda: client.log_in(code=code, scopes=["read:accounts"], allow_http=True))
    assert (await _ask(_client(server, token).me)).acct == "antiphon"
