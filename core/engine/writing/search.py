"""Stage 4 as a whole with the model that ships: prepared drafts at once, then what the model writes.

A larger model has a search of its own (``core.engine.writing.larger_search``), and so has the published one
(``core.engine.writing.published_search``).
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

from core.engine.cards.bank import ArgumentCard
from core.engine.ports import SearchOutcome, StageOutcome
from core.engine.review.assessment import MAX_DRAFTS, Assessor
from core.engine.review.candidates import Candidate
from core.engine.review.judge import LEADING, seeded
from core.engine.writing.first_drafts import compose, weakest, write
from core.i18n.sentences import sentence
from core.models import Intent

_WRITTEN_AT_ONCE = 2
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DraftSearch:
    """The search for drafts of one suggestion.

    Attributes:
        assessor: which candidates pass, and how good they are; it knows the brief, the cards, the model and who writes.
        style: how the community speaks.
        exemplars: replies that it approved, the closest to the post first.
        variant: how often the post was drafted before.
        chance: makes the search repeatable.
        show: called with the candidates so far, whenever there are better ones.
        report: called with the name of a step and what came of it.
    """

    assessor: Assessor
    style: str
    exemplars: Sequence[str]
    variant: int
    chance: random.Random
    show: Callable[[Sequence[Candidate]], Awaitable[None]]
    report: Callable[[str, str], None]

    async def run(self) -> SearchOutcome[Candidate]:
        """The drafts that pass the gates, in no order, and how the search ended.

        Where prepared replies are held back the model that ships writes none: what it writes fits less often than they.
        """
        start = await self._prepared_drafts()
        await self.show(start)
        if self.assessor.is_held_back:
            self.report("drafts", f"drafts that pass the gates: {len(start)}")
            return SearchOutcome(start, 0, sentence("what seldom fits is held back"))
        async for written in self._model_drafts(
            [] if self._is_filled(start) else weakest(self.assessor.allowed, start)
        ):
            texts = {candidate.text for candidate in start}
            start += await self.assessor.best([candidate for candidate in written if candidate.text not in texts])
            await self.show(start)
        self.report("drafts", f"drafts that pass the gates: {len(start)}")
        start.sort(key=lambda candidate: -candidate.energy)
        empty = None if start else sentence("no draft passed the gates")
        return SearchOutcome(start, 0, empty or self.assessor.model.budget.exhausted() or sentence("drafted"))

    def _is_filled(self, start: Sequence[Candidate]) -> bool:
        """Whether nobody needs more: what the model that ships writes seldom is better."""
        return len(start) >= MAX_DRAFTS and not self.assessor.is_claim_chosen

    async def _prepared_drafts(self) -> list[Candidate]:
        """Prepared drafts of the first stereotype that still has some: a community may have posted all of one.

        Where that is only the group, those for what the post may say stand beside them.
        """
        brief, intents = self.assessor.brief, self.assessor.allowed
        drafts = list[Candidate]()
        for _, cards in _by_stereotype(self.assessor.cards):
            drafts = [*drafts, *await self.assessor.best(compose(brief, cards, intents, self.chance))]
            if not cards[0].stereotype.is_general:
                if any(not draft.is_answer for draft in drafts):
                    return drafts
            else:
                guessed = await self._guesses()
                return [*self._beside(drafts, len(guessed)), *guessed]
        return drafts

    @staticmethod
    def _beside(drafts: Sequence[Candidate], guesses: int) -> Sequence[Candidate]:
        """What answers any post about the group: all of it, or as much as fills the list with guesses, two at least.

        Replies to other posts stand before it, and take nobody's place.
        """
        if not guesses:
            return drafts
        to_others, drafts = (
            [draft for draft in drafts if draft.is_answer],
            [draft for draft in drafts if not draft.is_answer],
        )
        sure = seeded([draft for draft in drafts if not draft.may_miss] or drafts, len(drafts))
        best = {draft.intent: draft for draft in reversed(sure)}
        leading = [best[intent] for intent in LEADING if intent in best]
        others = [*leading, *(draft for draft in sure if draft not in leading)]
        return [*to_others, *others[: max(MAX_DRAFTS - guesses, 2)]]

    async def _guesses(self) -> list[Candidate]:
        """One prepared draft for each stereotype that the post may put forward."""
        drafts = list[Candidate]()
        for _, cards in _by_stereotype(self.assessor.guesses):
            prepared = compose(self.assessor.brief, cards, self.assessor.allowed, self.chance)
            fitting = await self.assessor.passing(prepared)
            leading = sorted(fitting, key=lambda draft: (draft.may_miss, draft.intent is not LEADING[0], draft.order))
            drafts += [replace(draft, may_miss=True) for draft in leading[:1]]
        return drafts

    async def _model_drafts(self, intents: Sequence[Intent]) -> AsyncIterator[list[Candidate]]:
        """What the model writes, two drafts at a time, as long as there is time."""
        for start in range(0, len(intents), _WRITTEN_AT_ONCE):
            if start and not self.assessor.model.budget.is_time_to_write:
                return
            drafts = await write(
                self.assessor.brief,
                intents[start : start + _WRITTEN_AT_ONCE],
                self.assessor.model,
                style=self.style,
                exemplars=self.exemplars,
                cards=self.assessor.cards,
                variant=self.variant,
            )
            yield self._value_of(drafts)

    def _value_of(self, noted: StageOutcome[list[T]]) -> list[T]:
        self.assessor.notes += noted.notes
        return noted.value


def _by_stereotype(cards: Sequence[ArgumentCard]) -> list[tuple[str, list[ArgumentCard]]]:
    """The cards of each stereotype, in their order."""
    return [(id_, list(group)) for id_, group in groupby(cards, key=lambda card: card.stereotype.id)]
