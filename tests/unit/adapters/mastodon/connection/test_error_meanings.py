"""What each error of the library, or of the way to the instance, comes to."""

import pytest
from mastodon import errors

from adapters.mastodon.connection.error_meanings import (
    NotReached,
    RateLimit,
    is_gone,
    of_connection,
    of_question,
    of_send,
    refuses_quote_policy,
)
from core.errors import AmbiguousSend, BadSettings, PlatformBusy, PlatformUnavailable


def _api(kind: type[errors.MastodonAPIError], status: int, words: str | None = None) -> errors.MastodonAPIError:
    """As the library raises it."""
    return kind("Mastodon API returned error", status, "Reason", words)


CERTAIN = {
    "a bad token": _api(errors.MastodonUnauthorizedError, 401),
    "no scope": _api(errors.MastodonAPIError, 403, "This action is outside the authorized scopes"),
    "the post is gone": _api(errors.MastodonNotFoundError, 404, "Record not found"),
    "not allowed": _api(errors.MastodonAPIError, 422, "Validation failed: Text can't be blank"),
    "what nobody knows": _api(errors.MastodonAPIError, 418),
}
AMBIGUOUS = {
    "a server's error": _api(errors.MastodonInternalServerError, 500),
    "a bad gateway": _api(errors.MastodonBadGatewayError, 502),
    "another server's error": _api(errors.MastodonServerError, 520),
    "an answer that cannot be read": errors.MastodonAPIError("Could not parse response as JSON", "Exception was: x"),
    "a limit that cannot be read, of whatever answer": errors.MastodonRatelimitError(
        "Rate limit time calculations failed"
    ),
    "no answer": errors.MastodonNetworkError("Could not complete request"),
    "our own patience": TimeoutError(),
    "the line": OSError("line"),
    "what the library adds one day": errors.MastodonError("new"),
}


@pytest.mark.parametrize("error", CERTAIN.values(), ids=CERTAIN.keys())
def test_a_refusal_is_certain(error: Exception) -> None:
    for found in (of_send(error), of_question(error)):
        assert type(found) is PlatformUnavailable
        assert found.remedy


@pytest.mark.parametrize("error", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_what_may_have_arrived_is_ambiguous_and_a_question_is_asked_again(error: Exception) -> None:
    assert isinstance(of_send(error), AmbiguousSend)
    assert isinstance(of_question(error), PlatformBusy)


@pytest.mark.parametrize(("error", "seconds"), [(RateLimit(12.5), 12.5), (NotReached(), 0.0)])
def test_what_never_left_or_is_refused_for_now_is_tried_later(error: Exception, seconds: float) -> None:
    for found in (of_send(error), of_question(error)):
        assert isinstance(found, PlatformBusy)
        assert found.retry_after_seconds == seconds


def test_what_is_known_stays_what_it_is() -> None:
    known = PlatformUnavailable("Known.")
    assert of_send(known) is of_question(known) is of_connection(known) is known


def test_only_a_404_means_gone() -> None:
    assert is_gone(CERTAIN["the post is gone"])
    assert not any(is_gone(each) for name, each in (CERTAIN | AMBIGUOUS).items() if name != "the post is gone")
    assert not is_gone(None)


@pytest.mark.parametrize(
    ("status", "words", "is_so"),
    [
        (422, "Validation failed: Quote approval policy is not included in the list", True),
        (400, "unknown parameter quote_approval_policy", True),
        (422, "Validation failed: Text character limit of 500 exceeded", False),
        (422, None, False),
        (500, "quote_approval_policy", False),
    ],
)
def test_a_server_may_know_no_policy_of_quotes(status: int, words: str | None, is_so: bool) -> None:
    assert refuses_quote_policy(_api(errors.MastodonAPIError, status, words)) is is_so


def test_a_token_is_for_the_operator_to_mend() -> None:
    assert isinstance(of_connection(CERTAIN["a bad token"]), BadSettings)
    assert isinstance(of_connection(CERTAIN["no scope"]), BadSettings)
    assert isinstance(of_connection(NotReached()), PlatformUnavailable)
