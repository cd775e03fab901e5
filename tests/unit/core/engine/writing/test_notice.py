"""Where the notice on the rules stands among the replies: last, and first where the best of them is weak."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.engine.cards.bank import project_notices
from core.engine.ports import StageOutcome
from core.engine.readers.pooling import PoolingWeights, shipped
from core.engine.review.candidates import Candidate
from core.engine.writing.unargued_drafts import WEAK_FIT, is_weak, with_notice
from core.models import Action, Draft, Intent, Kind, Receipt, Scores, Verdict
from tests.fakes.engine.brief import reading_of

LARGER = PoolingWeights("larger", is_larger=True)
OWN = "Here nobody is judged by where they were born."
FIT, UNFIT = Scores(fit=WEAK_FIT), Scores(fit=WEAK_FIT - 0.01)
SOUND = Candidate("They are neighbours.", Intent.POSITIVE, is_prepared=True, scores=FIT)
UNREAD = replace(SOUND, scores=Scores())
WEAK = replace(SOUND, scores=UNFIT)
DOUBTED = replace(SOUND, doubt="Look twice.")
UNCARRIED = replace(SOUND, receipts=(Receipt("They are.", None, Verdict.UNVERIFIED, None),))
WRITTEN = replace(WEAK, is_prepared=False)


def shown(
    replies: Sequence[Candidate],
    *,
    notice: str = OWN,
    writer: PoolingWeights | None = None,
    action: Action = Action.REPLY,
) -> StageOutcome[list[Draft]]:
    drafts = [Draft(rank, one.text, one.intent, one.scores) for rank, one in enumerate(replies, start=1)]
    reading = replace(reading_of(), recommended_action=action)
    return with_notice(drafts, replies, reading, notice, writer or shipped())


@pytest.mark.parametrize(
    ("replies", "writer", "weak"),
    [
        ([SOUND, WEAK], shipped(), False),
        ([UNREAD], shipped(), False),
        ([WEAK, SOUND], shipped(), False),
        ([DOUBTED, UNCARRIED], shipped(), True),
        ([SOUND, DOUBTED], shipped(), False),
        ([], shipped(), True),
        ([], LARGER, True),
        ([WRITTEN], shipped(), True),
        ([WRITTEN], LARGER, False),
        ([WEAK, WRITTEN], LARGER, False),
        ([WEAK], LARGER, True),
        ([replace(WRITTEN, doubts=("A name.",))], LARGER, True),
    ],
    ids=[
        "fit", "not read", "the second fit", "all doubted", "one undoubted", "none", "none of a larger model",
        "unfit", "of a larger model", "of a larger model, second", "prepared for a larger one", "doubted, larger",
    ],
)  # fmt: skip
def test_the_best_reply_is_weak_or_it_is_not(replies: list[Candidate], writer: PoolingWeights, weak: bool) -> None:
    """A larger model's reply that nobody doubts never waits behind a notice, whatever the small reader thinks."""
    assert is_weak(replies, writer) is weak
    kinds = [draft.kind for draft in shown(replies, writer=writer).value]
    assert kinds.index(Kind.NOTICE) == (0 if weak else len(replies))


def test_the_notice_is_one_more_and_ranks_stay_whole() -> None:
    """No reply gives up its place, and none loses its words or its order."""
    for replies in ([SOUND] * 4, [WEAK] * 4):
        drafts = shown(replies).value
        assert [draft.rank for draft in drafts] == [1, 2, 3, 4, 5]
        assert [draft.text for draft in drafts if draft.kind is Kind.REPLY] == [one.text for one in replies]


def test_a_notice_says_whose_it_is_and_why_it_comes_first() -> None:
    """A moderator reads whose words these are; it has no score, and says why."""
    own = shown([SOUND]).value[-1]
    assert (own.text, own.language, own.writer, own.receipts) == (OWN, "en", None, ())
    assert own.reasons == ("It is the community's own notice on its rules.",)
    assert own.scores == Scores()
    assert set(own.unscored.values()) == {"it argues nothing, so nothing is scored"}
    projects = shown([], notice=project_notices()["en"]).value[0]
    assert "comes with Antiphon" in projects.reasons[0]
    assert "no reply is free of doubt" in projects.reasons[1]


def test_without_a_notice_silence_is_named_where_the_best_reply_is_weak() -> None:
    """A community that wants no notice is told all the same that the replies are weak."""
    quiet, weak = shown([SOUND], notice=""), shown([DOUBTED], notice="")
    assert (len(quiet.value), quiet.notes) == (1, [])
    assert [draft.kind for draft in weak.value] == [Kind.REPLY]
    assert weak.notes == ["drafts: no reply is free of doubt; silence may serve better"]


def test_a_post_that_does_not_read_as_hateful_gets_no_notice() -> None:
    """Drafts that somebody asked for do not make it break a rule."""
    found = shown([DOUBTED], action=Action.STAY_SILENT)
    assert ([draft.kind for draft in found.value], found.notes) == ([Kind.REPLY], [])
