"""What the client makes of the library's errors, and what it sends beside what was asked."""

from collections.abc import Callable
from typing import Any

import pytest
import requests
from mastodon import Mastodon
from mastodon.errors import MastodonNetworkError, MastodonRatelimitError

from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.error_meanings import NotReached, RateLimit, of_send
from core.errors import AmbiguousSend, BadSettings

Answer = Callable[[str, str, dict[str, Any]], requests.Response]


@pytest.fixture
def client() -> MastodonClient:
    return MastodonClient(MastodonOptions("http://127.0.0.1:1", "a token"))


def _answer(status: int, body: bytes, **headers: str) -> requests.Response:
    made = requests.Response()
    made.status_code, made._content, made.reason = status, body, "Reason"
    made.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return made


def _answered(monkeypatch: pytest.MonkeyPatch, answer: requests.Response) -> list[dict[str, Any]]:
    """Let every request get an answer; what each held."""
    sent = list[dict[str, Any]]()

    def request(_: requests.Session, method: str, url: str, **kwargs: Any) -> requests.Response:
        sent.append(kwargs)
        return answer

    monkeypatch.setattr(requests.Session, "request", request)
    return sent


async def test_nothing_of_the_librarys_own_goes_along(client: MastodonClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends a list of policies beside the one that was asked for."""
    sent = _answered(monkeypatch, _answer(200, b'{"id": "1"}'))
    await client.call(lambda api: api.status_post("Hello.", quote_approval_policy="nobody", idempotency_key="k"))
    (kwargs,) = sent
    assert kwargs["data"] == {"status": "Hello.", "sensitive": "0", "quote_approval_policy": "nobody"}
    assert kwargs["headers"]["Idempotency-Key"] == "k"


async def test_a_limit_says_how_long(client: MastodonClient, monkeypatch: pytest.MonkeyPatch) -> None:
    _answered(monkeypatch, _answer(429, b"{}", X_RateLimit_Reset="2999-01-01T00:00:00Z"))
    with pytest.raises(RateLimit) as caught:
        await client.call(lambda api: api.status_post("Hello."))
    assert caught.value.seconds > 3600


async def test_an_answer_whose_limit_cannot_be_read_may_be_a_success(
    client: MastodonClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library raises its error of limits for it, and the status stands there."""
    _answered(monkeypatch, _answer(200, b'{"id": "1"}', X_RateLimit_Reset="soon"))
    with pytest.raises(MastodonRatelimitError) as caught:
        await client.call(lambda api: api.status_post("Hello."))
    assert isinstance(of_send(caught.value), AmbiguousSend)


async def test_where_nobody_listens_no_request_went_out(client: MastodonClient) -> None:
    with pytest.raises(NotReached):
        await client.call(lambda api: api.status_post("Hello."))


async def test_a_line_that_is_cut_may_have_carried_it(client: MastodonClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(*_: Any, **__: Any) -> requests.Response:
        raise requests.ConnectionError("Connection aborted.")

    monkeypatch.setattr(requests.Session, "request", cut)
    with pytest.raises(MastodonNetworkError) as caught:
        await client.call(lambda api: api.status_post("Hello."))
    assert isinstance(of_send(caught.value), AmbiguousSend)


async def test_each_thread_has_its_own_session(client: MastodonClient) -> None:
    """And the moderator's token another one."""
    first: Mastodon = await client.call(lambda api: api)
    moderator: Mastodon = await client.call(lambda api: api, as_moderator=True)
    assert first is not moderator
    assert (first.ratelimit_method, first.access_token) == ("throw", "a token")
    assert not moderator.access_token


@pytest.mark.parametrize(("url", "token"), [("", "t"), ("home.example", "t"), ("https://home.example", " ")])
def test_without_an_address_or_a_token_there_is_no_client(url: str, token: str) -> None:
    with pytest.raises(BadSettings) as caught:
        MastodonClient(MastodonOptions(url, token))
    assert caught.value.remedy
