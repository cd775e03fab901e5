"""How an application gets a token on the fake instance."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.fakes.mastodon.plain_calls import call
from tests.fakes.mastodon.server.refusing.oauth import OUT_OF_BAND
from tests.fakes.mastodon.server.refusing.refusals import Refused
from tests.fakes.mastodon.server.server import MastodonServer

_VERIFIER = "a-verifier-that-is-long-enough-for-everybody-concerned"
_CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(_VERIFIER.encode()).digest()).rstrip(b"=").decode()


async def _application(server: MastodonServer, redirect: str = OUT_OF_BAND) -> dict[str, Any]:
    form = {"client_name": "Antiphon", "redirect_uris": redirect, "scopes": "read write:statuses"}
    app: dict[str, Any] = (await call(server, "POST", "/api/v1/apps", token="", **form))[1]
    return app


def _address(server: MastodonServer, app: dict[str, Any], **more: str) -> str:
    asked = {"client_id": app["client_id"], "redirect_uri": app["redirect_uri"], "response_type": "code"}
    return f"{server.url}/oauth/authorize?{urlencode(asked | {'scope': 'read:statuses write:statuses'} | more)}"


async def _token(server: MastodonServer, app: dict[str, Any], code: str, **more: str) -> tuple[int, Any]:
    form = {name: app[name] for name in ("client_id", "client_secret", "redirect_uri")}
    form |= {"grant_type": "authorization_code", "code": code}
    return await call(server, "POST", "/oauth/token", token="", **(form | more))


async def test_a_code_is_good_for_one_token_of_the_scopes_that_were_asked_for(server: MastodonServer) -> None:
    app = await _application(server)
    code = server.town.approve(server.bot, _address(server, app))
    status, token = await _token(server, app, code)
    assert (status, token["scope"], token["token_type"]) == (200, "read:statuses write:statuses", "Bearer")
    used = token["access_token"]
    assert (await call(server, "POST", "/api/v1/statuses", token=used, status="x"))[1]["account"]["acct"] == "antiphon"
    assert (await call(server, "GET", "/api/v1/notifications", token=used))[0] == 403
    assert await _token(server, app, code) == (400, {"error": "invalid_grant"})


async def test_a_challenge_wants_its_verifier(server: MastodonServer) -> None:
    app = await _application(server)
    address = _address(server, app, code_challenge=_CHALLENGE, code_challenge_method="S256")
    for more in ({}, {"code_verifier": "another"}):
        code = server.town.approve(server.bot, address)
        assert (await _token(server, app, code, **more))[0] == 400
    code = server.town.approve(server.bot, address)
    assert (await _token(server, app, code, code_verifier=_VERIFIER))[0] == 200


async def test_a_code_comes_back_with_the_state(server: MastodonServer) -> None:
    app = await _application(server, "http://127.0.0.1:8900/back")
    sent_to = urlsplit(server.town.approve(server.bot, _address(server, app, state="a-state")))
    back = dict(parse_qsl(sent_to.query))
    assert (sent_to.netloc, sent_to.path, back["state"]) == ("127.0.0.1:8900", "/back", "a-state")
    assert (await _token(server, app, back["code"]))[0] == 200


async def test_a_code_is_one_applications(server: MastodonServer) -> None:
    app, other = await _application(server), await _application(server)
    code = server.town.approve(server.bot, _address(server, app))
    assert (await _token(server, other, code))[0] == 400
    code = server.town.approve(server.bot, _address(server, app))
    assert await _token(server, app, code, client_secret="another") == (401, {"error": "invalid_client"})
    assert (await _token(server, app, code, redirect_uri="http://127.0.0.1/other"))[0] == 400


async def test_nobody_lets_an_application_in_that_asks_for_what_it_may_not(server: MastodonServer) -> None:
    app = await _application(server)
    for words, more in (
        ("invalid_scope", {"scope": "admin:read:reports"}),
        ("invalid_request", {"redirect_uri": "http://127.0.0.1/other"}),
        ("invalid_request", {"client_id": "nobody"}),
        ("invalid_request", {"response_type": "token"}),
        ("invalid_code_challenge_method", {"code_challenge": "x", "code_challenge_method": "plain"}),
    ):
        with pytest.raises(Refused, match=words):
            server.town.approve(server.bot, _address(server, app, **more))


async def test_the_server_says_that_it_knows_challenges(server: MastodonServer) -> None:
    _, about = await call(server, "GET", "/.well-known/oauth-authorization-server", token="")
    assert about["code_challenge_methods_supported"] == ["S256"]
    assert about["token_endpoint"] == f"{server.url}/oauth/token"
