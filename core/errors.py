"""The errors that callers and people see, each with a remedy.

    AntiphonError                 carries ``remedy``: what to do about it
    +-- BadInput                  the call is wrong (exit code 2)
    |   +-- BadSettings           config.toml or the environment is wrong
    |   +-- Unsendable            a reply that can never be posted as it is; its text is kept
    +-- Unavailable               a part that Antiphon needs does not answer (exit code 4)
    |   +-- ModelUnavailable      the language model or its weights
    |   |   +-- ModelAway         nobody gets an answer of it now, whatever is asked
    |   |   +-- BudgetExhausted   the deadline, or the limit of calls or tokens, is reached
    |   +-- IndexUnavailable      the knowledge base or its embedding model
    |   +-- SourceUnavailable     a place that documents are fetched from
    |   +-- ScorerUnavailable     a classifier that scores drafts or checks facts
    |   +-- StoreUnavailable      the database
    |   +-- PlatformUnavailable   a chat platform: the call certainly did not reach it, or it refused
    |       +-- PlatformBusy      it refused for now, and may be asked again later
    |       |   +-- CardCanWait   it has room for cards that somebody must decide on, and for no other now
    |       +-- CardRefused       it refused to change one card for now; others can be shown
    |       +-- TextRefused       it never takes this text as it is
    |       +-- PlaceClosed       it lets us do nothing in this place, until somebody changes that
    |       +-- TextHidden        the post exists, but the platform does not show us its words
    |       +-- NeverShownAgain   the platform shows nobody like us a post a second time
    +-- DocumentRefused           one document cannot be used: missing, too large, damaged, or a trap
    +-- BadAnswer                 the model answered, but not in a form that can be used
    +-- Conflict                  somebody else was faster: the case has another version
    +-- NotAllowed                the rules forbid it (an illegal transition, a text that was not approved)
    +-- AmbiguousSend             a reply may or may not be on the platform

Vendor errors are translated once, at the boundary. Only calls that failed with an ``Unavailable`` may be repeated; a
send may be repeated only after ``PlatformBusy``.
"""

from typing import Self

from core.i18n.sentences import Sentence, joined, nameless


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
        return joined(self.message, self.remedy)

    def without_names(self) -> Self:
        """The same error for a log, or for somebody who may not know who else decides: it names nobody."""
        self.message, self.remedy = nameless(self.message), nameless(self.remedy)
        self.args = (self.message,)
        return self


class BadInput(AntiphonError):
    """The call is wrong."""


class BadSettings(BadInput):
    """config.toml or the environment is wrong."""


class Unsendable(BadInput):
    """A reply that can never be posted as it is; ``text_id`` names the text, which is kept for its writer to mend."""

    def __init__(self, message: str, *, remedy: str = "", text_id: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.text_id = text_id


class Unavailable(AntiphonError):
    """A part that Antiphon needs does not answer."""


class ModelUnavailable(Unavailable):
    """The language model or its weights cannot be used."""


class ModelAway(ModelUnavailable):
    """Nobody gets an answer of the language model now, whatever is asked: it is no fault of the post."""


class NoLanguageModel(ModelUnavailable):
    """There is none, by choice or since it cannot be loaded: nothing was asked, and nobody waits for it."""


class BudgetExhausted(ModelUnavailable):
    """The deadline, or the limit of calls or tokens, is reached."""


class IndexUnavailable(Unavailable):
    """The knowledge base or its embedding model cannot be used."""


class SourceUnavailable(Unavailable):
    """A place that documents are fetched from cannot be reached, or answers in an unexpected form."""


class ScorerUnavailable(Unavailable):
    """A classifier that scores drafts or checks facts cannot be used."""


class StoreUnavailable(Unavailable):
    """The database cannot be used."""


class PlatformUnavailable(Unavailable):
    """A call certainly did not reach a chat platform, or the platform refused it."""


class PlatformBusy(PlatformUnavailable):
    """A chat platform certainly refused a call for now: a rate limit, or a server error before it took the body.

    ``retry_after_seconds`` is how long the platform asks us to wait, 0 where it does not say.
    """

    def __init__(self, message: str, *, remedy: str = "", retry_after_seconds: float = 0.0) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after_seconds = retry_after_seconds


class CardCanWait(PlatformBusy):
    """A chat platform has room for what somebody must decide, and none for this card, which only tells of progress."""


class CardRefused(PlatformUnavailable):
    """A chat platform does not let one card be changed for now; all others can be shown."""


class TextRefused(PlatformUnavailable):
    """A chat platform never takes this text as it is, or would show it otherwise."""


class PlaceClosed(PlatformUnavailable):
    """A place of a chat platform is closed to us, or to everybody; asking again changes nothing."""


class TextHidden(PlatformUnavailable):
    """The post exists, but the platform does not show us its words.

    ``revision`` names its last edit, as ``FlaggedPost.revision`` does: equal revisions mean equal words.
    """

    def __init__(self, message: str, *, remedy: str = "", revision: str) -> None:
        super().__init__(message, remedy=remedy)
        self.revision = revision


class NeverShownAgain(PlatformUnavailable):
    """The platform shows no bot a post a second time.

    What it told of edits and deletions since the post was flagged is all that can be known of it.
    """


class DocumentRefused(AntiphonError):
    """One document cannot be used; all others can."""


class BadAnswer(AntiphonError):
    """The model answered, but not in a form that can be used."""


class Conflict(AntiphonError):
    """Somebody else was faster."""


class NotAllowed(AntiphonError):
    """The rules forbid it."""


class LimitReached(NotAllowed):
    """Somebody did as much as one may; later they may again."""


class AmbiguousSend(AntiphonError):
    """A reply may or may not be on the platform; it must not be sent again without a check."""
