"""An error in words for the person it happened to, and in the log.

The log gets its kind and place alone, neither what a person wrote nor the error's own words, which may quote it.
"""

import logging
import traceback
from collections.abc import Awaitable

from adapters.common.words.excerpts import shortened
from core.errors import AntiphonError, TextRefused
from core.i18n.catalogs import gettext, translated
from core.i18n.sentences import sentence

_LOG = logging.getLogger(__name__)


def explain(error: AntiphonError, locale: str, limit: int) -> str:
    """What went wrong and what to do about it, in a language, in at most ``limit`` characters."""
    return shortened(f"{translated(error.message, locale)}\n{translated(error.remedy, locale)}".strip(), limit)


def unforeseen(locale: str) -> str:
    """The sentence about an error that is not one of ``core.errors``."""
    return gettext(
        "Something went wrong in Antiphon, and nothing was changed. Try again, or tell the person who runs it.", locale
    )


def check_length(count: int, most: int) -> None:
    """Refuse, with ``TextRefused``, a reply that is longer than its platform takes."""
    if count > most:
        raise TextRefused(
            sentence(
                "The reply has {count} characters with what is added to it; {most} at most are posted.",
                count=count,
                most=most,
            ),
            remedy=sentence("Shorten it by {over} characters.", over=count - most),
        )


def log_failure(what: str, error: BaseException) -> None:
    """Log an error by its kind and place: its message may quote a person."""
    places = traceback.extract_tb(error.__traceback__)
    where = f"{places[-1].filename}:{places[-1].lineno}" if places else "an unknown place"
    _LOG.error("%s failed: %s at %s", what, type(error).__name__, where)


async def last_said(answer: Awaitable[None]) -> None:
    """Tell the person about an error; if that fails as well, only the log is told."""
    try:
        await answer
    except Exception as err:  # for example, the connection is gone: there is nobody to tell
        _LOG.warning("An error could not be told to who asked: %s", type(err).__name__)
