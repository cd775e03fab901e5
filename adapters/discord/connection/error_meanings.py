"""What Discord's answers mean for a send: certainly not, not now, or nobody knows.

Every error of discord.py and aiohttp becomes one of ``core.errors``, with a remedy that a moderator or a manager can
follow. An error that is not known here leaves it open whether the send arrived.
"""

from typing import Final

import aiohttp
import discord

from adapters.discord.connection.requests import ChannelClosed, RequestFailed
from core.errors import AmbiguousSend, AntiphonError, BadSettings, PlaceClosed, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import Sentence, sentence

FAULTS: Final = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError)
"""What a call of discord.py may raise when Discord, or the way to it, is at fault."""

PORTAL: Final = "https://discord.com/developers/applications"
"""Where the owner of a bot account looks after it."""

UNKNOWN_CHANNEL: Final = 10003
UNKNOWN_MEMBER: Final = 10007
UNKNOWN_MESSAGE: Final = 10008
UNKNOWN_USER: Final = 10013
_BAD_FORM: Final = 50035
_BAD_TOKEN: Final = 4004

_ACCESS: Final = sentence("Give Antiphon's role the right to view this channel, and to read its message history.")
_MEANT: Final[dict[int, tuple[Sentence, Sentence]]] = {
    UNKNOWN_CHANNEL: (sentence("The channel is gone."), sentence("Close the case.")),
    10004: (sentence("Discord does not know this server."), sentence("Invite Antiphon to the server again.")),
    UNKNOWN_MESSAGE: (sentence("The message is gone."), sentence("Close the case.")),
    20028: (sentence("The channel takes no more messages for now."), sentence("Wait.")),
    40001: (
        sentence("Antiphon's account may not do this."),
        sentence("Look at the account in Discord's developer portal."),
    ),
    40002: (
        sentence("Antiphon's account must be verified."),
        sentence("Look at the account in Discord's developer portal."),
    ),
    50001: (sentence("Antiphon cannot see this channel."), _ACCESS),
    50003: (sentence("This cannot be done with a message of Discord's own."), sentence("Answer another message.")),
    50006: (sentence("Discord shows no message without words."), sentence("Write a text, and approve it again.")),
    50008: (sentence("No messages can be sent to this channel."), sentence("Reply by hand, or close the case.")),
    50013: (
        sentence("Antiphon lacks a right in this channel."),
        sentence(
            "Give its role the rights to send messages, to send messages in threads, and to read the message history "
            "here."
        ),
    ),
    50024: (sentence("This cannot be done in a channel of this kind."), sentence("Reply by hand, or close the case.")),
    50083: (sentence("The thread is archived."), sentence("Open the thread again.")),
    160002: (sentence("Antiphon may not read the history of this channel, which replies need."), _ACCESS),
    200000: (
        sentence("AutoMod of this server blocked the reply."),
        sentence("Exempt Antiphon's role from the rule, or approve another text."),
    ),
    240000: (
        sentence("Discord blocked the reply because of a link in it."),
        sentence("Take the link out, and approve the text again."),
    ),
}
_CLOSED: Final = frozenset({10004, 40001, 40002, 50001, 50008, 50013, 50024, 50083, 160002})
"""The codes that no later attempt mends: somebody must change something first."""


def is_passing(error: BaseException | None) -> bool:
    """Whether an error says that Discord is out of reach for now, and nothing else."""
    if isinstance(error, discord.HTTPException):
        return error.status == 429 or error.status >= 500
    if not isinstance(error, FAULTS):
        return False
    return not isinstance(error, discord.DiscordException) or isinstance(error, discord.RateLimited | RequestFailed)


def token_refused() -> BadSettings:
    """What it means that a login, or any request, is not let in."""
    return BadSettings(
        sentence("Discord does not accept the token."),
        remedy=sentence("Make a new one at {address}, page Bot.", address=PORTAL),
    )


def of_connection(error: BaseException) -> AntiphonError:
    """Why a connection ended for good."""
    if isinstance(error, AntiphonError):
        return error
    code = error.code if isinstance(error, discord.ConnectionClosed) else 0
    if isinstance(error, discord.LoginFailure) or code == _BAD_TOKEN:
        return token_refused()
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return BadSettings(
            sentence("Discord does not let this bot read messages."),
            remedy=sentence(
                "Switch on {intent} at {address}, page Bot, or set {key} to false.",
                intent='"Message Content Intent"',
                address=PORTAL,
                key="reads_messages",
            ),
        )
    if is_passing(error):
        return PlatformUnavailable(
            sentence("Discord could not be reached."), remedy=sentence("It is tried again later by itself.")
        )
    return PlatformUnavailable(
        sentence(
            "Discord ended the connection ({kind}).", kind=f"{type(error).__name__}{f', code {code}' if code else ''}"
        ),
        remedy=sentence("It is connected again by itself; if that does not help, update Antiphon."),
    )


def of_send(error: BaseException, *, is_sent: bool = True) -> AntiphonError:
    """What an error of a send, or of a removal, means.

    Args:
        error: one of ``FAULTS``.
        is_sent: whether a request may have gone out at all.
    """
    refusal = _refusal(error)
    if refusal is not None:
        return refusal
    if not is_sent or isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return _busy(sentence("Discord could not be reached."), 0.0)
    return AmbiguousSend(
        sentence("Discord gave no clear answer."),
        remedy=sentence("It is looked up on Discord by itself."),
    )


def of_question(error: BaseException) -> PlatformUnavailable:
    """What an error of a question means, which changes nothing and may be asked again."""
    refusal = _refusal(error)
    if refusal is not None:
        return refusal
    return PlatformUnavailable(
        sentence("Discord did not answer ({kind}).", kind=type(error).__name__),
        remedy=sentence("It is asked again later."),
    )


def _refusal(error: BaseException) -> PlatformUnavailable | None:
    """What Discord refused for certain, or ``None`` where nobody can tell."""
    if isinstance(error, ChannelClosed):
        return PlatformUnavailable(
            sentence("This channel refused Antiphon several times; it is left alone for some minutes."), remedy=_ACCESS
        )
    if isinstance(error, discord.RateLimited):
        return _busy(sentence("Discord asks to wait."), error.retry_after)
    if not isinstance(error, discord.HTTPException):
        return None
    if error.status == 429:
        return _busy(sentence("Discord asks to wait."), _header_seconds(error))
    if error.status >= 500 or error.status == 408:
        return None
    if error.status == 401:
        return PlatformUnavailable(
            sentence("Discord does not accept Antiphon's token."), remedy=sentence("Put a new token into the settings.")
        )
    return _http_refusal(error)


def _http_refusal(error: discord.HTTPException) -> PlatformUnavailable:
    if error.code == _BAD_FORM and "message_reference" in error.text:
        return PlatformUnavailable(
            sentence("The post that the reply answers is gone."), remedy=sentence("Close the case.")
        )
    if error.code in _MEANT:
        message, remedy = _MEANT[error.code]
        kind = PlaceClosed if error.code in _CLOSED else PlatformUnavailable
        return kind(message, remedy=remedy)
    if error.status == 403:
        message, remedy = _MEANT[50013]
        return PlaceClosed(
            sentence("{message} (Discord's code {code}.)", message=message, code=error.code), remedy=remedy
        )
    return PlatformUnavailable(
        sentence("Discord refused it (status {status}, code {code}).", status=error.status, code=error.code),
        remedy=sentence("Look the code up in Discord's documentation, or reply by hand."),
    )


def _busy(message: str, seconds: float) -> PlatformBusy:
    return PlatformBusy(message, remedy=sentence("It is tried again later by itself."), retry_after_seconds=seconds)


def _header_seconds(error: discord.HTTPException) -> float:
    try:
        return max(float(error.response.headers.get("Retry-After", "0")), 0.0)
    except ValueError:
        return 0.0
