"""Where a draft comes from, in words: precise about what is mixed, and about who reviewed what."""

from datetime import UTC, datetime

import pytest

from core.desk.rules.case_cards import ReviewOfPrepared, kind_in_words, origin_in_words
from core.i18n.catalogs import translated
from core.models import Draft, Intent, Kind, Origin, Scores

ANE = ReviewOfPrepared("Ane", datetime(2026, 3, 2, tzinfo=UTC))
JON = ReviewOfPrepared("Jon", datetime(2026, 3, 3, tzinfo=UTC))
PREPARED, EVIDENCE, MODEL = Origin


def said(*origins: Origin, prepared: tuple[str, ...] = (), **reviews: ReviewOfPrepared) -> str:
    return origin_in_words(Draft(1, "x", Intent.POSITIVE, Scores(), (), (), origins, prepared), reviews)


@pytest.mark.parametrize(
    ("origins", "words"),
    [
        ((PREPARED, PREPARED), "prepared reply, not reviewed"),
        ((PREPARED, EVIDENCE), "prepared reply, not reviewed + quotation from the evidence"),
        ((EVIDENCE,), "quotation from the evidence"),
        ((MODEL, MODEL), "written by the model"),
        ((MODEL, EVIDENCE), "written by the model + quotation from the evidence"),
        ((PREPARED, MODEL), "prepared reply, not reviewed + written by the model"),
    ],
)
def test_each_kind_is_said_once_in_order(origins: tuple[Origin, ...], words: str) -> None:
    """A moderator reads what they would approve, not a label for all."""
    assert said(*origins, prepared=("a",)) == words


def test_only_what_somebody_reviewed_is_called_so() -> None:
    """A claim that nobody reviewed beside a reviewed reply is said to be there."""
    assert said(PREPARED, prepared=("a",), a=ANE) == "prepared reply, reviewed by Ane on 2026-03-02"
    assert said(PREPARED, prepared=("a", "b"), a=ANE) == "prepared reply, reviewed in part by Ane on 2026-03-02"
    both = said(PREPARED, prepared=("a", "b"), a=ANE, b=JON)
    assert both == "prepared reply, reviewed by Ane on 2026-03-02, Jon on 2026-03-03"
    assert said(PREPARED, prepared=("a", "b"), a=ANE, b=ANE) == "prepared reply, reviewed by Ane on 2026-03-02"
    assert said(MODEL, prepared=(), a=ANE) == "written by the model"


def test_the_model_that_wrote_a_draft_is_named_where_it_was_kept() -> None:
    """On each card; what older versions stored has no name."""
    draft = Draft(1, "x", Intent.POSITIVE, Scores(), writer="llama-3.3-70b")
    assert origin_in_words(draft, {}) == "written by llama-3.3-70b"
    assert translated(origin_in_words(draft, {}), "es") == "escrito por llama-3.3-70b"


def test_what_is_no_reply_is_named_and_called_no_reply() -> None:
    """A moderator reads what it is before they read where it comes from; a reply is told by its intent."""
    assert kind_in_words(Kind.REPLY) is None
    assert (kind_in_words(Kind.SUPPORT), kind_in_words(Kind.NOTICE)) == ("A word of support", "A notice on the rules")
    notice = Draft(1, "x", Intent.POSITIVE, Scores(), origins=(PREPARED,), kind=Kind.NOTICE)
    assert origin_in_words(notice, {}) == "prepared in advance"
