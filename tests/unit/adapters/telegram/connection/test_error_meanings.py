"""What each error of Telegram, or of the way to it, comes to."""

from datetime import timedelta

import httpx
import pytest
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from adapters.telegram.connection import error_meanings
from core.errors import AmbiguousSend, BadSettings, PlatformBusy, PlatformUnavailable


def _caused(error: TelegramError, cause: Exception) -> TelegramError:
    """As the library raises it: ``raise error from cause``."""
    error.__cause__ = cause
    return error


REQUEST = httpx.Request("POST", "https://api.telegram.org/")
CERTAIN = {
    "the post is gone": BadRequest("Message to be replied not found"),
    "the topic is closed": BadRequest("TOPIC_CLOSED"),
    "the topic is gone": BadRequest("Message thread not found"),
    "no right": BadRequest("not enough rights to send text messages to the chat"),
    "what nobody knows": BadRequest("SOMETHING_NEW"),
    "not in the chat": Forbidden("Forbidden: bot was kicked from the supergroup chat"),
    "a bad token": InvalidToken(),
    "a supergroup now": ChatMigrated(-1009),
}
AMBIGUOUS = {
    "no answer in time": _caused(TimedOut(), httpx.ReadTimeout("read", request=REQUEST)),
    "not all was sent": _caused(TimedOut(), httpx.WriteTimeout("write", request=REQUEST)),
    "cut while reading": _caused(NetworkError("httpx.ReadError"), httpx.ReadError("cut", request=REQUEST)),
    "closed without an answer": _caused(NetworkError("closed"), httpx.RemoteProtocolError("closed", request=REQUEST)),
    "a server's error": NetworkError("Bad Gateway"),
    "an answer that cannot be read": TelegramError("Invalid server response"),
    "another program": Conflict("terminated by other getUpdates request"),
    "our own patience": TimeoutError(),
    "the line": OSError("line"),
}
NEVER_LEFT = {
    "refused": _caused(NetworkError("httpx.ConnectError"), httpx.ConnectError("refused", request=REQUEST)),
    "not connected in time": _caused(TimedOut(), httpx.ConnectTimeout("connect", request=REQUEST)),
    "no connection free": _caused(TimedOut(), httpx.PoolTimeout("pool", request=REQUEST)),
}


@pytest.mark.parametrize("error", CERTAIN.values(), ids=CERTAIN.keys())
def test_a_refusal_is_certain_and_names_a_remedy(error: TelegramError) -> None:
    """Telegram answered, and said no."""
    for found in (error_meanings.of_send(error), error_meanings.of_question(error)):
        assert type(found) is PlatformUnavailable
        assert found.remedy


@pytest.mark.parametrize("error", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_what_may_have_arrived_is_never_called_certain(error: Exception) -> None:
    """Telegram may have taken the request: a send is of unknown fate, a question can be asked again."""
    assert isinstance(error_meanings.of_send(error), AmbiguousSend)
    assert isinstance(error_meanings.of_question(error), PlatformUnavailable)


@pytest.mark.parametrize("error", NEVER_LEFT.values(), ids=NEVER_LEFT.keys())
def test_what_never_left_may_be_tried_again(error: TelegramError) -> None:
    """Without a connection no byte went out."""
    assert isinstance(error_meanings.of_send(error), PlatformBusy)


@pytest.mark.parametrize("pause", [17, timedelta(seconds=17)])
def test_a_pause_that_telegram_asks_for_is_handed_on(pause: int | timedelta) -> None:
    """The outbox waits so long."""
    found = error_meanings.of_send(RetryAfter(pause))
    assert isinstance(found, PlatformBusy)
    assert found.retry_after_seconds == 17


def test_no_error_quotes_what_was_sent() -> None:
    """Telegram's own words may quote a text; ours name a kind only."""
    secret = "We all live here."
    for error in (BadRequest(secret), Forbidden(secret), NetworkError(secret), TelegramError(secret)):
        for found in (
            error_meanings.of_send(error),
            error_meanings.of_question(error),
            error_meanings.of_connection(error),
        ):
            assert secret not in f"{found.message} {found.remedy}"


def test_a_connection_that_ends_says_what_to_do() -> None:
    """Only a bad token needs the operator at once; all else may pass."""
    assert isinstance(error_meanings.of_connection(InvalidToken()), BadSettings)
    for error in (Conflict("two"), NetworkError("cut"), OSError("line")):
        found = error_meanings.of_connection(error)
        assert isinstance(found, PlatformUnavailable)
        assert found.remedy
    own = PlatformBusy("Wait.")
    assert error_meanings.of_connection(own) is own


def test_messages_that_are_gone_stand_unchanged_or_are_not_ours() -> None:
    """Told apart by Telegram's words, and only in a refusal of the request."""
    gone, same, other = (
        BadRequest("Message to delete not found"),
        BadRequest("Message is not modified: specified new message content is the same"),
        BadRequest("Message can't be edited"),
    )
    for error in (gone, same, other, NetworkError("message to edit not found"), None, OSError("line")):
        assert error_meanings.is_message_gone(error) is (error is gone)
        assert error_meanings.is_unchanged(error) is (error is same)
        assert error_meanings.cannot_be_edited(error) is (error is other)
