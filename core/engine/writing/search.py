"""Stage 4 as a whole with the model that ships: prepared drafts at once, then what the model writes.

A larger model has a search of its own (``core.engine.writing.larger_search``).

Beside it stands the search of CODEOFCONDUCT as it was published (section 3 and Algorithms 1 and 2), to compare ours
with. The loop starts from c0, the background knowledge: append sampled words, judge, draw k with P proportional to T^E,
have the model rewrite them, judge again, keep the best k. What the paper leaves open is decided here: each candidate
gets k strings; strings are judged in pairs, in both orders, as its public code does; k are drawn with replacement; C
holds k candidates, as its estimate of the cost assumes. A string with appended words is judged, but never becomes a
draft.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean
from typing import TypeVar

from core.engine.cards.answers import ANSWERED, answers
from core.engine.cards.bank import ArgumentCard, load_cards
from core.engine.llm.budget import MeteredModel, PublishedProfile
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.ports import Generation, Search, StageOutcome
from core.engine.review.assessment import MAX_DRAFTS, Assessor
from core.engine.review.candidates import Candidate
from core.engine.review.judge import LEADING, Judge, Rubric, seeded
from core.engine.scoring.gates import intent_fault
from core.engine.wording.language import name_of
from core.engine.wording.slurs import is_slur
from core.engine.wording.text import counted, join, words
from core.engine.writing.first_drafts import TEMPERATURE, compose, tidy, weakest, write
from core.errors import ModelUnavailable
from core.i18n.sentences import sentence
from core.models import Brief, Intent

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

    async def run(self) -> Search[Candidate]:
        """The drafts that pass the gates, in no order, and how the search ended.

        Where prepared replies are held back the model that ships writes none: what it writes fits less often than they.
        """
        start = await self._prepared_drafts()
        await self.show(start)
        if self.assessor.is_held_back:
            self.report("drafts", f"drafts that pass the gates: {len(start)}")
            return Search(start, 0, sentence("what seldom fits is held back"))
        async for written in self._model_drafts(
            [] if self._is_filled(start) else weakest(self.assessor.allowed, start)
        ):
            texts = {candidate.text for candidate in start}
            start += await self.assessor.best([candidate for candidate in written if candidate.text not in texts])
            await self.show(start)
        self.report("drafts", f"drafts that pass the gates: {len(start)}")
        start.sort(key=lambda candidate: -candidate.energy)
        empty = None if start else sentence("no draft passed the gates")
        return Search(start, 0, empty or self.assessor.model.budget.exhausted() or sentence("drafted"))

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
        answers, drafts = (
            [draft for draft in drafts if draft.is_answer],
            [draft for draft in drafts if not draft.is_answer],
        )
        sure = seeded([draft for draft in drafts if not draft.may_miss] or drafts, len(drafts))
        best = {draft.intent: draft for draft in reversed(sure)}
        leading = [best[intent] for intent in LEADING if intent in best]
        others = [*leading, *(draft for draft in sure if draft not in leading)]
        return [*answers, *others[: max(MAX_DRAFTS - guesses, 2)]]

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


@dataclass(frozen=True, slots=True)
class PublishedSearch(DraftSearch):
    """The search of CODEOFCONDUCT as it was published (``core.engine.writing.search``).

    Attributes:
        profile: that of the budget.
        judge: asked within the search.
    """

    profile: PublishedProfile
    judge: Judge

    async def run(self) -> Search[Candidate]:
        """The best answers of the published search that pass the gates, as many as the judge compares."""
        brief = self.assessor.brief
        background = join(passage.summary for passage in brief.evidence) or brief.claim
        published = await search(
            self.profile, background, brief, word_list(brief), self.assessor.model, self.judge, self.chance
        )
        rounds, found = counted(published.rounds, "round"), counted(len(published.found), "draft")
        self.report("anneal", f"{rounds}, {found}, {published.stopped}")
        pool = (await self._fit_drafts([answer.text for answer in published.found]))[: self.profile.proposals]
        if not pool:
            self.assessor.notes.append(
                sentence("drafts: no answer of the published search passed the gates; prepared drafts are shown")
            )
            pool = await self._prepared_drafts()
        await self.show(pool)
        return Search(pool, published.rounds, published.stopped)

    async def _fit_drafts(self, texts: Sequence[str]) -> list[Candidate]:
        """The texts that pass the gates and have an intent that the community wants."""
        drafts = [Candidate(text, await self._intent_of(text), is_prepared=False) for text in texts]
        return await self.assessor.passing([draft for draft in drafts if draft.intent in self.assessor.allowed])

    async def _intent_of(self, text: str) -> Intent:
        """The intent that the reader of drafts gives a text, among the possible ones."""
        reader, brief = self.assessor.readers.drafts, self.assessor.brief
        if not reader.knows(brief.language):
            return Intent.INFORMATIVE
        shares = (await asyncio.to_thread(reader.read, brief.post.text, [text], brief.language))[0].intents
        return max((intent for intent in shares if not intent_fault(text, intent)), key=lambda intent: shares[intent])


def _by_stereotype(cards: Sequence[ArgumentCard]) -> list[tuple[str, list[ArgumentCard]]]:
    """The cards of each stereotype, in their order."""
    return [(id_, list(group)) for id_, group in groupby(cards, key=lambda card: card.stereotype.id)]


APPENDED_WORDS = 20
"""The number in the public code; the paper gives none."""
_MAX_TOKENS = 150
_T0, _T_STEP = 2.0, 1.0
"""The annealing temperature before the first round, and what each round adds (CODEOFCONDUCT raises T): an answer with
score E is picked with a probability proportional to T^E, which prefers the better one only where T > 1."""
Answered = TypeVar("Answered")


@dataclass(frozen=True, slots=True)
class ScoredText:
    """A text with E, its score by the judge, in [0, 10]."""

    text: str
    score: float


def word_list(brief: Brief) -> list[str]:
    """The words to sample from: a word list of the language (that of the prepared sentences) and the post's own words.

    Slurs of the post are left out; the paper keeps them.
    """
    texts = [text for card in load_cards(brief.language) for own in card.replies.values() for text in own]
    texts += [answer.text for answer in answers() if brief.language in ANSWERED]
    candidates = {word for text in [*texts, brief.post.text] for word in words(text)}
    return sorted(word for word in candidates if not is_slur(word))


async def search(
    profile: PublishedProfile,
    background: str,
    brief: Brief,
    bag: Sequence[str],
    writer: MeteredModel,
    by: Judge,
    chance: random.Random,
) -> Search[ScoredText]:
    """Answers to a post, within the budget of ``writer``.

    Args:
        profile: that of the budget.
        background: c0, the string that the search starts from.
        bag: the words to append: a word list of the language, and the post's own words.

    Returns:
        Every answer that was written and could be judged.
    """
    return await _Loop(profile, background, brief, bag, writer, by, chance).run()


@dataclass
class _Loop:
    profile: PublishedProfile
    background: str
    brief: Brief
    bag: Sequence[str]
    writer: MeteredModel
    by: Judge
    chance: random.Random

    async def run(self) -> Search[ScoredText]:
        budget, profile = self.writer.budget, self.profile
        current, scored = [self.background], dict[str, ScoredText]()
        for done in range(profile.rounds):
            ended = budget.exhausted() or budget.is_late()
            if ended:
                return Search(_best_first(scored.values()), done, ended)
            temperature = _T0 + (done + 1) * _T_STEP
            fresh = [answer for text in current for answer in await self._grow(text, temperature)]
            if not fresh:
                return Search(
                    _best_first(scored.values()), done, budget.exhausted() or sentence("no answer could be judged")
                )
            scored |= {answer.text: answer for answer in fresh}
            best = _best_first(fresh)[: profile.proposals]
            if best[0].score >= profile.target_score:
                return Search(_best_first(scored.values()), done + 1, sentence("target score"))
            current = [answer.text for answer in best]
        return Search(_best_first(scored.values()), profile.rounds, budget.exhausted() or sentence("round limit"))

    async def _grow(self, text: str, temperature: float) -> list[ScoredText]:
        """The next candidates from one candidate: the best k of the answers that its k drawn strings lead to."""
        count = self.profile.proposals
        sampled = [self.chance.sample(self.bag, min(APPENDED_WORDS, len(self.bag))) for _ in range(count)]
        hint_of = {" ".join([text, *hint]): hint for hint in sampled}
        strings = await self._judge(list(hint_of))
        if not strings:
            return []
        top = max(string.score for string in strings)
        weights = [temperature ** (string.score - top) for string in strings]  # scaled, so that none overflows
        drawn = self.chance.choices(strings, weights, k=count)
        answers = await self._rewrite(text, [hint_of[string.text] for string in drawn])
        return _best_first(await self._judge(answers))[:count]

    async def _rewrite(self, text: str, hints: Sequence[Sequence[str]]) -> list[str]:
        """Ask for rewrites, with the words apart from the candidate: a model repeats words that are in the text."""
        brief, jobs = self.brief, []
        for hint in hints:
            prompt = load_prompt("rewrite").fill(
                post=quoted(brief.post.text), reply=text, words=", ".join(hint), language=name_of(brief.language)
            )
            seed = self.chance.randrange(2**31)
            how = Generation(max_tokens=_MAX_TOKENS, temperature=TEMPERATURE, seed=seed)
            jobs.append(self.writer.generate(prompt, how))
        answers = _answers(await asyncio.gather(*jobs, return_exceptions=True))
        return list(dict.fromkeys(text for answer in answers if (text := tidy(answer.texts[0]))))

    async def _judge(self, texts: Sequence[str]) -> list[ScoredText]:
        """Each text with the mean of its scores; a text without a readable comparison is left out."""
        rivals = [*texts, self.background] if len(texts) == 1 else list(texts)
        pairs = list(zip(rivals[::2], rivals[1::2], strict=False))
        if len(rivals) % 2:
            pairs.append((rivals[-1], rivals[0]))
        orders = [order for first, second in pairs for order in ((first, second), (second, first))]
        jobs = (self.by.compare(self.brief, first, second, Rubric.LOOP) for first, second in orders)
        marks: dict[str, list[float]] = {}
        comparisons = await asyncio.gather(*jobs, return_exceptions=True)
        for (first, second), comparison in zip(orders, comparisons, strict=True):
            for marks_of_pair in _answers([comparison]):
                if marks_of_pair is not None:
                    marks.setdefault(first, []).append(marks_of_pair.first)
                    marks.setdefault(second, []).append(marks_of_pair.second)
        return [ScoredText(text, fmean(marks[text])) for text in texts if text in marks]


def _answers(answers: Sequence[Answered | BaseException]) -> list[Answered]:
    """The answers that came. Only a spent budget or a lost server ends the loop early, with the best so far."""
    came = []
    for answer in answers:
        if isinstance(answer, BaseException):
            if not isinstance(answer, ModelUnavailable):
                raise answer
        else:
            came.append(answer)
    return came


def _best_first(answers: Iterable[ScoredText]) -> list[ScoredText]:
    return sorted(answers, key=lambda answer: -answer.score)
