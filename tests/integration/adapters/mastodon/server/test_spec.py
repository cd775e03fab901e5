"""The check of requests and answers by Mastodon's published description."""

from typing import Any

import pytest

from tests.fakes.mastodon.plain_calls import call
from tests.fakes.mastodon.server.refusing.spec import MastodonSpec, published
from tests.fakes.mastodon.server.server import MastodonServer

pytestmark = pytest.mark.skipif(
    published() is None,
    reason="shared/specs/mastodon-openapi.json is not here (made by github.com/abraham/mastodon-openapi)",
)

_POST = ("POST", "/api/v1/statuses")


@pytest.fixture
def spec() -> MastodonSpec:
    found = published()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("method", "path", "query", "form", "words"),
    [
        (*_POST, {}, {"status": "x", "visability": "direct"}, "there is no field visability"),
        (*_POST, {}, {"status": "x", "visibility": "narrow"}, "narrow"),
        (*_POST, {}, {"visibility": "direct"}, "is not valid under any"),
        ("GET", "/api/v1/notifications", {"min": "1"}, {}, "there is no parameter min"),
        ("GET", "/api/v1/notifications/1", {}, {"limit": "1"}, "takes no limit"),
        ("POST", "/api/v1/statuses/1", {}, {}, "there is no such operation"),
        ("POST", "/api/v1/reports", {}, {"comment": "x"}, "'account_id' is a required property"),
    ],
)  # fmt: skip
def test_what_the_description_does_not_know_is_told(
    spec: MastodonSpec, method: str, path: str, query: dict[str, Any], form: dict[str, Any], words: str
) -> None:
    faults = spec.faults_of_request(method, path, query, form)
    assert any(words in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("method", "path", "query", "form"),
    [
        (*_POST, {}, {"status": "x", "visibility": "unlisted", "sensitive": "true", "media_ids": ["1"]}),
        ("GET", "/api/v1/notifications", {"types": ["mention"], "min_id": "1", "limit": "40"}, {}),
        ("GET", "/api/v1/instance/", {}, {}),
        ("POST", "/api/v1/admin/reports/1/resolve", {}, {"anything": "1"}),
    ],
)
def test_what_it_knows_is_let_pass(
    spec: MastodonSpec, method: str, path: str, query: dict[str, Any], form: dict[str, Any]
) -> None:
    assert spec.faults_of_request(method, path, query, form) == []


def test_an_answer_is_checked_too(spec: MastodonSpec) -> None:
    faults = spec.faults_of_answer("GET", "/api/v1/statuses/1", {"id": 1})
    assert any("'account' is a required property" in fault for fault in faults)
    assert any("1 is not of type 'string'" in fault for fault in faults)


async def test_the_server_keeps_what_was_wrong(server: MastodonServer) -> None:
    await call(server, *_POST, status="x", colour="red")
    assert server.errors == ["POST /api/v1/statuses: there is no field colour"]
    server.errors.clear()
    await server.town.post(server.bot, "x", colour="red")
    assert server.errors == []
