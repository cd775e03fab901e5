"""The search of CODEOFCONDUCT as it was published (section 3 and Algorithms 1 and 2), to compare ours with.

The loop starts from c0, the background knowledge: append sampled words, judge, draw k with P proportional to T^E, have
the model rewrite them, judge again, keep the best k. What the paper leaves open is decided here: each candidate gets k
strings; strings are judged in pairs, in both orders, as its public code does; k are drawn with replacement; C holds k
candidates, as its estimate of the cost assumes. A string with appended words is judged, but never becomes a draft.
"""

import asyncio
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from core.engine.cards.answers import ANSWERED, answers
from core.engine.cards.bank import load_cards
from core.engine.llm.budget import MeteredModel, PublishedProfile
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.ports import Generation, SearchOutcome
from core.engine.review.candidates import Candidate
from core.engine.review.judge import Judge, Rubric
from core.engine.scoring.gates import intent_fault
from core.engine.wording.language import name_of
from core.engine.wording.slurs import is_slur
from core.engine.wording.text import counted, join, words
from core.engine.writing.first_drafts import TEMPERATURE, tidy
from core.engine.writing.search import DraftSearch
from core.errors import ModelUnavailable
from core.i18n.sentences import sentence
from core.models import Brief, Intent

APPENDED_WORDS = 20
"""The number in the public code; the paper gives none."""
_MAX_TOKENS = 150
_T0, _T_STEP = 2.0, 1.0
"""The annealing temperature before the first round, and what each round adds (CODEOFCONDUCT raises T): an answer with
score E is picked with a probability proportional to T^E, which prefers the better one only where T > 1."""
Answered = TypeVar("Answered")


@dataclass(frozen=True, slots=True)
class PublishedSearch(DraftSearch):
    """The search of CODEOFCONDUCT as it was published.

    Attributes:
        profile: that of the budget.
        judge: asked within the search.
    """

    profile: PublishedProfile
    judge: Judge

    async def run(self) -> SearchOutcome[Candidate]:
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
        return SearchOutcome(pool, published.rounds, published.stopped)

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
) -> SearchOutcome[ScoredText]:
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

    async def run(self) -> SearchOutcome[ScoredText]:
        budget, profile = self.writer.budget, self.profile
        current, scored = [self.background], dict[str, ScoredText]()
        for done in range(profile.rounds):
            ended = budget.exhausted() or budget.is_late()
            if ended:
                return SearchOutcome(_best_first(scored.values()), done, ended)
            temperature = _T0 + (done + 1) * _T_STEP
            fresh = [answer for text in current for answer in await self._grow(text, temperature)]
            if not fresh:
                return SearchOutcome(
                    _best_first(scored.values()), done, budget.exhausted() or sentence("no answer could be judged")
                )
            scored |= {answer.text: answer for answer in fresh}
            best = _best_first(fresh)[: profile.proposals]
            if best[0].score >= profile.target_score:
                return SearchOutcome(_best_first(scored.values()), done + 1, sentence("target score"))
            current = [answer.text for answer in best]
        return SearchOutcome(
            _best_first(scored.values()), profile.rounds, budget.exhausted() or sentence("round limit")
        )

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
        rewritten = await self._rewrite(text, [hint_of[string.text] for string in drawn])
        return _best_first(await self._judge(rewritten))[:count]

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
        came = _answers(await asyncio.gather(*jobs, return_exceptions=True))
        return list(dict.fromkeys(text for answer in came if (text := tidy(answer.texts[0]))))

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


def _answers(outcomes: Sequence[Answered | BaseException]) -> list[Answered]:
    """The answers that came. Only a spent budget or a lost server ends the loop early, with the best so far."""
    came = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            if not isinstance(outcome, ModelUnavailable):
                raise outcome
        else:
            came.append(outcome)
    return came


def _best_first(texts: Iterable[ScoredText]) -> list[ScoredText]:
    return sorted(texts, key=lambda text: -text.score)
