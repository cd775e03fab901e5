"""What an instance's answers mean for a send: certainly not, not now, or nobody knows.

Every error of the library becomes one of ``core.errors``, with a remedy that a moderator or the operator can follow. An
error that is not known counts as uncertain: the status may have arrived.
"""

from typing import Final

from mastodon import errors

from core.errors import AmbiguousSend, AntiphonError, BadSettings, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import Sentence, sentence

_LOG_IN: Final = sentence("Run {command}, and set the new token.", command="antiphon mastodon login")
_REACHED_LATER: Final = sentence("It is tried again later by itself.")


class NotReached(Exception):
    """No request went out: there is no such host, or nobody took the connection."""


class RateLimit(Exception):
    """The instance asks to wait: a rate limit. ``seconds``: how long, 0 where it does not say."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


FAULTS: Final = (errors.MastodonError, NotReached, RateLimit, OSError, TimeoutError)
"""What ``MastodonClient.call`` may raise when the instance, or the way to it, is at fault."""


def status_of(error: BaseException) -> int | None:
    """The HTTP status with which an instance refused; ``None`` where it gave no answer."""
    if isinstance(error, RateLimit):
        return 429
    if isinstance(error, errors.MastodonAPIError) and len(error.args) > 1 and isinstance(error.args[1], int):
        return error.args[1]
    return None


def is_gone(error: BaseException | None) -> bool:
    """Whether an error says that a status is not there, or is not shown to us."""
    return isinstance(error, errors.MastodonNotFoundError)


def is_passing(error: BaseException | None) -> bool:
    """Whether a question may well be answered later: nobody answered, or only that it cannot be done now."""
    status = None if error is None else status_of(error)
    return status is None or status == 429 or status >= 500


def refuses_quote_policy(error: errors.MastodonAPIError) -> bool:
    """Whether a server posted nothing because it knows no ``quote_approval_policy``, or not this one."""
    words = str(error.args[-1]) if status_of(error) in (400, 422) else ""
    return "quote" in words.casefold()


def of_connection(error: BaseException) -> AntiphonError:
    """Why we cannot be connected."""
    if isinstance(error, AntiphonError):
        return error
    if isinstance(error, errors.MastodonUnauthorizedError):
        return BadSettings(sentence("The instance does not accept the token of Mastodon."), remedy=_LOG_IN)
    if status_of(error) == 403:
        return BadSettings(
            sentence("The token of Mastodon lacks a scope, or the account is suspended."), remedy=_LOG_IN
        )
    return PlatformUnavailable(sentence("The instance of Mastodon could not be reached."), remedy=_REACHED_LATER)


def of_send(error: BaseException) -> AntiphonError:
    if isinstance(error, AntiphonError):
        return error
    if isinstance(error, NotReached):
        return _busy(sentence("The instance of Mastodon could not be reached."), 0.0)
    if isinstance(error, RateLimit):
        return _busy(sentence("The instance of Mastodon asks to wait."), error.seconds)
    status = status_of(error)
    if status is None or isinstance(error, errors.MastodonServerError) or status >= 500:
        return AmbiguousSend(
            sentence("The instance of Mastodon gave no clear answer."),
            remedy=sentence("It is looked up there by itself."),
        )
    return _refusal(status, error)


def of_question(error: BaseException) -> PlatformUnavailable:
    """What an error of a question means, which changes nothing; ``PlatformBusy`` where it may be asked again."""
    if isinstance(error, PlatformUnavailable):
        return error
    if isinstance(error, RateLimit):
        return _busy(sentence("The instance of Mastodon asks to wait."), error.seconds)
    status = status_of(error)
    if status is None or status >= 500:
        return _busy(sentence("The instance of Mastodon could not be reached."), 0.0)
    return _refusal(status, error)


def gone() -> PlatformUnavailable:
    """What it means that a status is not there, or not shown to us."""
    return PlatformUnavailable(
        sentence("The post is gone, or its author lets Antiphon not see it."), remedy=sentence("Close the case.")
    )


def _refusal(status: int, error: BaseException) -> PlatformUnavailable:
    if status == 401:
        return PlatformUnavailable(
            sentence("The instance does not accept Antiphon's token any more."),
            remedy=sentence("Tell the person who runs Antiphon."),
        )
    if status == 403:
        return PlatformUnavailable(
            sentence("Antiphon's account may not do this on its instance."),
            remedy=sentence("Tell the person who runs Antiphon; antiphon mastodon check says what is missing."),
        )
    if is_gone(error):
        return gone()
    return PlatformUnavailable(
        sentence("The instance of Mastodon refused it (status {status}).", status=status),
        remedy=sentence("Look at it there, or close the case."),
    )


def _busy(message: Sentence, seconds: float) -> PlatformBusy:
    return PlatformBusy(message, remedy=_REACHED_LATER, retry_after_seconds=seconds)
