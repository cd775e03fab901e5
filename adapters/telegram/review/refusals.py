"""What Telegram's refusals mean for a card that is to be shown, and for the person who pressed a button of one.

Each becomes one of ``core.errors``, with a remedy that a community's manager can follow.
"""

from __future__ import annotations

from math import ceil
from typing import Final

from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, RetryAfter

from adapters.telegram.connection.error_meanings import description_of
from adapters.telegram.connection.limiter import seconds_of
from core.errors import CardCanWait, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import sentence

_AGAIN_SECONDS: Final = 5.0
_CHOOSE: Final = sentence("A manager chooses another one with /setup.")


def not_a_place() -> PlatformUnavailable:
    """The review channel is a name of another platform."""
    return PlatformUnavailable(sentence("The review chat is not on Telegram."), remedy=_CHOOSE)


def is_watched_itself() -> PlatformUnavailable:
    """The review chat is the group whose posts are reviewed."""
    return PlatformUnavailable(sentence("Cases are not shown in the group that they come from."), remedy=_CHOOSE)


def chat_of_one() -> PlatformUnavailable:
    """The review chat is somebody's own, and the cases are those of another platform."""
    return PlatformUnavailable(
        sentence("Cases of another platform are not shown in a private chat."),
        remedy=sentence("Choose a private group of the moderators."),
    )


def chat_open() -> PlatformUnavailable:
    """The review chat is open: nothing hateful is shown there, for whatever reason it was opened."""
    return PlatformUnavailable(
        sentence("Others than moderators can read the review chat: cases are not shown there."),
        remedy=sentence(
            "Make it a private group without a public name and without a channel, or choose another chat with /setup."
        ),
    )


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
        return _busy(seconds_of(err), CardCanWait if is_progress else PlatformBusy)
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
        return PlatformUnavailable(sentence("The review topic is gone or closed."), remedy=_CHOOSE)
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
    return _busy(_AGAIN_SECONDS)


def _busy(seconds: float, kind: type[PlatformBusy] = PlatformBusy) -> PlatformBusy:
    return kind(
        sentence("Telegram does not take the card now."),
        remedy=sentence("Antiphon tries again by itself."),
        retry_after_seconds=seconds,
    )
