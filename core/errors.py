"""Every error that Antiphon raises on purpose.

    AntiphonError                 carries ``remedy``: what to do about it
    +-- BadInput                  the call is wrong (exit code 2)
    |   +-- BadSettings           config.toml or the environment is wrong
    +-- Unavailable               a part that Antiphon needs does not answer (exit code 4)
    |   +-- ModelUnavailable      the language model or its weights
    |   |   +-- BudgetExhausted   the deadline, or the limit of calls or tokens, is reached
    |   +-- IndexUnavailable      the knowledge base or its embedding model
    |   +-- SourceUnavailable     a place that documents are fetched from
    |   +-- ScorerUnavailable     a classifier that scores drafts or checks facts
    |   +-- StoreUnavailable      the database
    |   +-- PlatformUnavailable   a chat platform: it was certainly not reached, or it refused
    |       +-- PlatformBusy      it refused for now, and may be asked again later
    |       +-- TextHidden        a post stands there, but its words are not for us
    +-- DocumentRefused           one document cannot be used: missing, too large, damaged, or a trap
    +-- BadAnswer                 the model answered, but not in a form that can be used
    +-- Conflict                  somebody else was faster: the case has another version
    +-- NotAllowed                the rules forbid it (an illegal transition, a text that was not approved)
    +-- AmbiguousSend             a post may or may not stand on the platform

Vendor errors are translated once, at the boundary, ``from err``. Only ``Unavailable`` errors may be tried
again, and a send after ``PlatformBusy`` alone.
"""

from __future__ import annotations

from core.i18n.sentences import Sentence, joined


class AntiphonError(Exception):
    """The root: what went wrong, and the remedy."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()

    @property
    def said(self) -> Sentence:
        """Message and remedy as one sentence that can be translated."""
        return joined(self.message, self.remedy)


class BadInput(AntiphonError):
    """The call is wrong."""


class BadSettings(BadInput):
    """config.toml or the environment is wrong."""


class Unavailable(AntiphonError):
    """A part that Antiphon needs does not answer."""


class ModelUnavailable(Unavailable):
    """The language model or its weights cannot be had."""


class BudgetExhausted(ModelUnavailable):
    """The deadline, or the limit of calls or tokens, is reached."""


class IndexUnavailable(Unavailable):
    """The knowledge base or its embedding model cannot be had."""


class SourceUnavailable(Unavailable):
    """A place that documents are fetched from cannot be reached, or answers in a form that is not its own."""


class ScorerUnavailable(Unavailable):
    """A classifier that scores drafts or checks facts cannot be had."""


class StoreUnavailable(Unavailable):
    """The database cannot be had."""


class PlatformUnavailable(Unavailable):
    """A chat platform was certainly not reached, or it refused."""


class PlatformBusy(PlatformUnavailable):
    """A chat platform certainly refused a call for now: a rate limit, or a server error before it took the body.

    ``retry_after_seconds`` is how long it asks to be left alone, 0 where it does not say.
    """

    def __init__(self, message: str, *, remedy: str = "", retry_after_seconds: float = 0.0) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after_seconds = retry_after_seconds


class TextHidden(PlatformUnavailable):
    """A post stands there, but the platform keeps its words from us.

    ``revision`` names its last edit, as ``FlaggedPost.revision`` does: two that are equal mean the same words.
    """

    def __init__(self, message: str, *, remedy: str = "", revision: str) -> None:
        super().__init__(message, remedy=remedy)
        self.revision = revision


class DocumentRefused(AntiphonError):
    """One document cannot be used; all others can."""


class BadAnswer(AntiphonError):
    """The model answered, but not in a form that can be used."""


class Conflict(AntiphonError):
    """Somebody else was faster."""


class NotAllowed(AntiphonError):
    """The rules forbid it."""


class AmbiguousSend(AntiphonError):
    """A post may or may not stand on the platform; it must not be sent again blindly."""
