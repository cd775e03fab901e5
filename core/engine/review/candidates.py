"""A draft on its way through the search: its text, what is known and doubted of it, and what it is sorted by."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.engine.cards.bank import ArgumentCard, FittingReply
from core.engine.readers.networks import DraftSigns
from core.engine.scoring.rewards import MissingScore
from core.models import Intent, ReadBy, Receipt, Scores, Verdict

_CARRIES = 0.6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A draft during the search.

    ``is_prepared``: it was put together from prepared sentences of a ``card`` and evidence; the model may have
    summarised a long passage. It ``may_miss`` what the post says where it answers a guess, is of an intent whose
    prepared replies seldom fit, or was written by the model that ships, which was not trained for it. ``answer``:
    what it was found by, where it answers what this post says; ``None`` where it was written for any post. ``suits``:
    of a prepared one how close it is to the post and how surely about it, in [-1, 2]; one that was written to another
    post stands right before or behind the best of them.
    ``chance``: how likely a reader would publish a prepared one under this post, where that can be told
    (``core.engine.cards.answers``); it ``is_unsure`` where that is less than what is offered unasked. It ``stands_in``
    where a larger model writes: only until that one's drafts pass.
    ``doubts``: what a moderator is warned of
    before any receipt (``core.engine.scoring.gates``). ``signs``: what the small reader says of it, ``None`` in a
    language that it does not know; ``doubt``: what the readers think likely, "" for nothing. ``contested``: why the
    small reader would refuse it, while a larger model has still to review it; ``unsourced``: likewise why the rules on
    figures, dates and credits would. It ``is_vouched`` for where that review would publish it. ``read_by``: whose word
    the signs are.
    ``no_quality``: why no model told how well it argues, where one was to.
    """

    text: str
    intent: Intent
    is_prepared: bool
    scores: Scores = field(default_factory=Scores)
    receipts: tuple[Receipt, ...] = ()
    warnings: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    signs: DraftSigns | None = None
    doubt: str = ""
    contested: str = ""
    unsourced: str = ""
    is_vouched: bool = False
    read_by: ReadBy = ReadBy.RULES
    card: ArgumentCard | None = field(default=None, compare=False)
    stands_in: bool = False
    may_miss: bool = False
    suits: float | None = None
    answer: FittingReply | None = field(default=None, compare=False)
    no_quality: MissingScore | None = None
    chance: float | None = None
    is_unsure: bool = False

    @property
    def is_answer(self) -> bool:
        """Whether it was found since it answers what this post says (``core.engine.cards.answers``)."""
        return self.answer is not None

    @property
    def is_own(self) -> bool:
        """Whether the community wrote it beforehand."""
        return self.answer is None and self.card is not None and self.card.is_from_community(self.text)

    def answers_as(self, other: Candidate) -> bool:
        """Whether both are prepared for the same: to answer the same, or the same stereotype with the same intent."""
        if self.card is None or other.card is None:
            return False
        if self.answer or other.answer:
            return self.answer is not None and other.answer is not None and self.answer.says == other.answer.says
        return self.card.stereotype.id == other.card.stereotype.id and self.intent is other.intent

    @property
    def is_unsupported(self) -> bool:
        """Whether one of its sentences states a fact without known evidence: such drafts come last."""
        return any(receipt.verdict is not Verdict.SUPPORTED for receipt in self.receipts)

    @property
    def is_doubted(self) -> bool:
        """Whether a moderator is warned of it, or it states a fact without evidence."""
        return bool(self.doubts or self.doubt) or self.is_unsupported

    @property
    def argues(self) -> bool:
        """Whether it carries the counter-claim, as far as that is known."""
        return self.scores.faithfulness_claim is None or self.scores.faithfulness_claim >= _CARRIES

    @property
    def last(self) -> tuple[bool, int]:
        """What sends a draft down the list before any score: that it only stands in, and each doubt about it."""
        return self.stands_in, self.is_unsupported + len(self.doubts) + bool(self.doubt)

    @property
    def order(self) -> tuple[bool, int, bool, float]:
        """By this candidates are sorted, the best first."""
        return *self.last, self.may_miss, -self.merit

    @property
    def merit(self) -> float:
        """How good it is on the 0-10 scale: how well it suits the post, where it is prepared and that is known."""
        return self.energy if self.suits is None else 5 * self.suits

    @property
    def energy(self) -> float:
        """E of CODEOFCONDUCT (section 3): the weighted reward on the 0-10 scale, 0 where nothing could be scored."""
        return self.scores.total or 0.0
