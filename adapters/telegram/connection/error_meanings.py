"""What Telegram's answers mean: certainly not, not now, or nobody knows; for a send, a card, and a person.

Every error of python-telegram-bot becomes one of ``core.errors``, with a remedy that a moderator or a manager can
follow. An error of a send that is not known counts as uncertain: the message may have arrived.
"""

from math import ceil
from typing import Final

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)

from adapters.telegram.connection.limiter import seconds_of
from core.errors import AmbiguousSend, AntiphonError, BadSettings, CardCanWait, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import Sentence, sentence

FAULTS: Final = (TelegramError, OSError, TimeoutError)
"""What a call of python-telegram-bot may raise when Telegram, or the way to it, is at fault."""

TOKEN: Final = {"bot": "@BotFather", "command": "/token", "key": "ANTIPHON__TELEGRAM__TOKEN"}
"""Who makes a token, how it is asked for, and where it is set."""

_NEVER_LEFT: Final = (httpx.ConnectTimeout, httpx.ConnectError, httpx.PoolTimeout, httpx.UnsupportedProtocol)
"""The connection was not made, so no byte of the request went out."""

_RIGHTS: Final = sentence("Make Antiphon an administrator of the group, or let its members write there.")
_EDITED: Final = sentence("The post was edited: it no longer has the quoted words.")
_READ_AGAIN: Final = sentence(
    "Read it again. If it reads as before, these words have a format such as bold: switch quotes off with /setup."
)
_MEANT: Final[tuple[tuple[str, Sentence, Sentence], ...]] = (
    (
        "message to be replied not found",
        sentence("The post that the reply answers is gone."),
        sentence("Close the case."),
    ),
    (
        "replied message not found",
        sentence("The post that the reply answers is gone."),
        sentence("Close the case."),
    ),
    (
        "quote not found",
        _EDITED,
        _READ_AGAIN,
    ),
    (
        "quote_text_invalid",
        _EDITED,
        _READ_AGAIN,
    ),
    ("chat not found", sentence("Telegram does not know this chat."), sentence("Add Antiphon to the group again.")),
    ("message thread not found", sentence("The topic is gone."), sentence("Close the case.")),
    ("topic_closed", sentence("The topic is closed."), sentence("Open the topic again, or reply by hand.")),
    ("not enough rights", sentence("Antiphon may not write in this chat."), _RIGHTS),
    ("chat_write_forbidden", sentence("Antiphon may not write in this chat."), _RIGHTS),
    ("message can't be deleted", sentence("Telegram lets nobody delete this message."), sentence("Delete it by hand.")),
    ("message is too long", sentence("The text is too long for Telegram."), sentence("Make it shorter.")),
)
_AGAIN_SECONDS: Final = 5.0
CHOOSE_ANOTHER: Final = sentence("A manager chooses another one with /setup.")
"""What to do about a review chat, or a topic of it, that is of no use."""


def description_of(error: BaseException | None) -> str:
    """Telegram's own words on an error, in small letters, to be looked at and never to be shown."""
    return error.message.casefold() if isinstance(error, TelegramError) else ""


def is_message_gone(error: BaseException | None) -> bool:
    """Whether Telegram says that the message to change or to delete is not there."""
    description = description_of(error)
    return isinstance(error, BadRequest) and any(
        words in description
        for words in ("message to edit not found", "message to delete not found", "message_id_invalid")
    )


def is_unchanged(error: BaseException | None) -> bool:
    """Whether Telegram says that a message shows the new text already."""
    return isinstance(error, BadRequest) and "message is not modified" in description_of(error)


def cannot_be_edited(error: BaseException | None) -> bool:
    """Whether Telegram says that a message stands and is not ours to change."""
    return isinstance(error, BadRequest) and "message can't be edited" in description_of(error)


def never_left(error: BaseException) -> bool:
    """Whether the request certainly did not leave this machine."""
    return isinstance(error, NetworkError) and isinstance(error.__cause__, _NEVER_LEFT)


def of_connection(error: BaseException) -> AntiphonError:
    """Why a connection could not be made, or ended."""
    if isinstance(error, AntiphonError):
        return error
    if isinstance(error, InvalidToken | Forbidden):
        return BadSettings(
            sentence("Telegram does not accept the token."),
            remedy=sentence("Ask {bot} for a new one with {command}, and set {key}.", **TOKEN),
        )
    if isinstance(error, Conflict):
        return PlatformUnavailable(
            sentence("Another program receives this bot's updates, or a webhook is set for it."),
            remedy=sentence("Stop the other program. A webhook is taken away when Antiphon connects."),
        )
    return PlatformUnavailable(
        sentence("Telegram could not be reached."), remedy=sentence("It is tried again later by itself.")
    )


def of_send(error: BaseException) -> AntiphonError:
    refusal = _refusal(error)
    if refusal is not None:
        return refusal
    if never_left(error):
        return _busy(sentence("Telegram could not be reached."), 0.0)
    return AmbiguousSend(
        sentence("Telegram gave no clear answer."),
        remedy=sentence("Look in the chat: Telegram lets no bot look."),
    )


def of_question(error: BaseException) -> PlatformUnavailable:
    """What an error of a question means, which changes nothing and may be asked again."""
    refusal = _refusal(error)
    if refusal is not None:
        return refusal
    return PlatformUnavailable(
        sentence("Telegram did not answer ({kind}).", kind=type(error).__name__),
        remedy=sentence("It is asked again later."),
    )


def _refusal(error: BaseException) -> PlatformUnavailable | None:
    """What Telegram refused for certain, or ``None`` where nobody can tell."""
    if isinstance(error, RetryAfter):
        return _busy(sentence("Telegram asks to wait."), seconds_of(error))
    if isinstance(error, ChatMigrated):
        return PlatformUnavailable(
            sentence("The group became a supergroup, where its earlier messages cannot be answered."),
            remedy=sentence("Flag the post again."),
        )
    if isinstance(error, InvalidToken):
        return PlatformUnavailable(
            sentence("Telegram does not accept Antiphon's token."),
            remedy=sentence("Put a new token into the settings."),
        )
    if isinstance(error, Forbidden):
        return PlatformUnavailable(
            sentence("Antiphon is not in this chat, or may not write there."),
            remedy=sentence("Add Antiphon to the group again."),
        )
    return _refused(error) if isinstance(error, BadRequest) else None


def _refused(error: BadRequest) -> PlatformUnavailable:
    description = description_of(error)
    for words, message, remedy in _MEANT:
        if words in description:
            return PlatformUnavailable(message, remedy=remedy)
    return PlatformUnavailable(
        sentence("Telegram refused the request."), remedy=sentence("Reply by hand, or close the case.")
    )


def _busy(message: str, seconds: float) -> PlatformBusy:
    return PlatformBusy(message, remedy=sentence("It is tried again later by itself."), retry_after_seconds=seconds)


def chat_gone() -> PlatformUnavailable:
    """The review chat is gone, or Antiphon is not in it."""
    return PlatformUnavailable(
        sentence("The review chat is gone, or Antiphon is not in it."),
        remedy=sentence("Add Antiphon to it again, or choose another chat with /setup."),
    )


def chat_full(seconds: float) -> PlatformBusy:
    """Telegram takes no message in the review chat for so many seconds; who pressed or wrote something is told."""
    return PlatformBusy(
        sentence("Telegram takes no more messages in the review chat for {seconds} seconds.", seconds=ceil(seconds)),
        remedy=sentence("Look at the card then, and try again."),
        retry_after_seconds=seconds,
    )


def of_card(err: BaseException, *, is_progress: bool = False) -> PlatformUnavailable:
    """What went wrong when a card was shown; a call of unknown outcome counts as busy, and is made again.

    Args:
        is_progress: the card only tells how far the drafts are, so others may have room where it has none.
    """
    if isinstance(err, RetryAfter):
        return _card_busy(seconds_of(err), CardCanWait if is_progress else PlatformBusy)
    if isinstance(err, ChatMigrated):
        return PlatformUnavailable(
            sentence("The review chat became a supergroup."), remedy=sentence("Antiphon tries again by itself.")
        )
    if isinstance(err, InvalidToken):
        return PlatformUnavailable(
            sentence("Telegram does not accept Antiphon's token."),
            remedy=sentence("Put a new token into the settings."),
        )
    if isinstance(err, Forbidden) or "chat not found" in description_of(err):
        return chat_gone()
    if "message thread not found" in description_of(err) or "topic_closed" in description_of(err):
        return PlatformUnavailable(sentence("The review topic is gone or closed."), remedy=CHOOSE_ANOTHER)
    if "not enough rights" in description_of(err) or "chat_write_forbidden" in description_of(err):
        return PlatformUnavailable(
            sentence("Antiphon may not write in the review chat."),
            remedy=sentence("Let members write there, or make Antiphon an administrator of it."),
        )
    if isinstance(err, BadRequest):
        return PlatformUnavailable(
            sentence("Telegram refused the card."),
            remedy=sentence("Update Antiphon; the card can be seen on the desk meanwhile."),
        )
    return _card_busy(_AGAIN_SECONDS)


def _card_busy(seconds: float, kind: type[PlatformBusy] = PlatformBusy) -> PlatformBusy:
    return kind(
        sentence("Telegram does not take the card now."),
        remedy=sentence("Antiphon tries again by itself."),
        retry_after_seconds=seconds,
    )
