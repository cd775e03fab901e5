"""What makes a draft good: CoARL's reward, F2RL's rewards, and the one weighted sum that the loop climbs.

An unknown score is ``None``; it is left out of the sum and never guessed. Why it is missing is told by what a reader
can do about it: a code for programs, and words for people.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from core.engine.llm.budget import Budget, MeteredModel
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.ports import Embedder, Inference, Scorer
from core.engine.readers.networks import DraftSigns, Readers
from core.engine.readers.outputs import DraftFault
from core.errors import ModelUnavailable, ScorerUnavailable
from core.i18n.sentences import Sentence, listed, sentence
from core.models import Brief, Scores

WEIGHTS: Mapping[str, float] = {
    "stance": 0.15,
    "argument_quality": 0.1,
    "non_toxicity": 0.15,
    "fit": 0.25,
    "factuality": 0.1,
    "faithfulness_post": 0.15,
    "faithfulness_claim": 0.1,
}
"""CoARL's three parts (section 4), F2RL's two (section 3.3), and whether a reader would post the draft. F2RL's gamma is
not published; these are ours. Faithfulness to the evidence is shown and counts for nothing: it would reward a fact that
nobody asked for."""
_TOXIC = (DraftFault.INSULTS, DraftFault.CALLS_FOR_HARM, DraftFault.STEREOTYPES)
_BESIDE = (DraftFault.GENERIC, DraftFault.OFF_SUBJECT)


class SharedReading:
    """What the reader of drafts says, read once for all rewards that rest on it: they score the same texts in turn."""

    def __init__(self, readers: Readers) -> None:
        self._drafts = readers.drafts
        self._of: tuple[str, tuple[str, ...]] | None = None
        self._said: Sequence[DraftSigns | None] = ()

    async def of(self, brief: Brief, texts: Sequence[str]) -> Sequence[DraftSigns | None]:
        """What each text does under the post; ``None`` in a language that the reader does not know."""
        language, texts_of_post = brief.reading.language, (brief.post.text, tuple(texts))
        if not self._drafts.knows(language):
            return [None] * len(texts)
        if self._of != texts_of_post:
            self._said = await asyncio.to_thread(self._drafts.read, brief.post.text, texts, language)
            self._of = texts_of_post
        return self._said


_BY_READER: Mapping[str, Callable[[DraftSigns], float]] = {
    "stance": lambda signs: signs.opposes,
    "non_toxicity": lambda signs: 1.0 - max(signs.faults[fault] for fault in _TOXIC),
    "fit": lambda signs: 1.0 - signs.unfit,
    "faithfulness_post": lambda signs: 1.0 - max(signs.faults[fault] for fault in _BESIDE),
}
"""What the reader of drafts tells: CoARL's (1 - stance) / 2 with the post as topic and the reply as sentence, that the
reply insults nobody and calls for no harm, that a reader would post it, and that it is about this post."""


@dataclass(frozen=True)
class ReaderScorer:
    """A reward by the reader of drafts."""

    name: str
    reading: SharedReading

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        reward = _BY_READER[self.name]
        return [reward(signs) if signs else None for signs in await self.reading.of(brief, texts)]


@dataclass(frozen=True)
class InferredStanceScorer:
    """CoARL's (1 - PC) / 2 by inference (section 4, Appendix E): topic = the post, sentence = the reply.

    PC is the probability that the reply entails the post minus the probability that it contradicts it, in [-1, 1].
    """

    inference: Inference
    name: str = "stance"

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        """How far each text opposes the post: 1 contradicts it, 0.5 is neutral, 0 says the same."""
        if brief.reading.language not in self.inference.languages:
            return [None] * len(texts)
        relations = await self.inference.infer([(text, brief.post.text) for text in texts])
        return [(1.0 - (relation.entailment - relation.contradiction)) / 2 for relation in relations]


@dataclass(frozen=True)
class FaithfulnessScorer:
    """F2RL's sim(reply, claim) or sim(reply, evidence): the cosine of sentence vectors, cut at 0.

    The evidence is compared passage by passage and the best counts: a mean would punish a fact that only one passage
    supports.
    """

    embedder: Embedder
    name: str

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        """The best cosine of each text with the claim, or with a passage."""
        claim = [brief.claim] if brief.claim else []
        against = claim if self.name == "faithfulness_claim" else [passage.text for passage in brief.evidence]
        if not against or brief.reading.language not in self.embedder.languages:
            return [None] * len(texts)
        vectors = await asyncio.to_thread(self.embedder.encode, [*texts, *against])
        cosines = vectors[: len(texts)] @ vectors[len(texts) :].T
        return [float(best) for best in np.clip(cosines.max(axis=1), 0.0, 1.0)]


def embedded_scorers(readers: Readers) -> list[Scorer]:
    """The scorers that need no call of the language model."""
    reading = SharedReading(readers)
    return [
        *(ReaderScorer(name, reading) for name in _BY_READER),
        FaithfulnessScorer(readers.embedder, "faithfulness_claim"),
        FaithfulnessScorer(readers.embedder, "faithfulness_evidence"),
    ]


@dataclass(frozen=True)
class Scorers:
    """The configured scorers of a community; where one is ``None``, the built-in one is used.

    Attributes:
        non_toxicity: used instead of the reader of drafts.
        argument_quality: used instead of the language model's answer.
        inference: used for factuality instead of the language model's answer, and for stance in languages that the
            reader of drafts does not know.
        notes: what could not be loaded, and what replaces it.
        weights: the weight of each reward in the sum.
    """

    non_toxicity: Scorer | None = None
    argument_quality: Scorer | None = None
    inference: Inference | None = None
    notes: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)

    def over(self, readers: Readers, language: str | None) -> list[Scorer]:
        """The scorers of drafts that need no call of the language model, for a post in ``language``.

        The reader of drafts was trained on posts and replies, so inference scores the stance only in languages that it
        does not know. There is no stance where neither knows the language.
        """
        own = [scorer for scorer in (self.non_toxicity, self.argument_quality) if scorer]
        if self.inference and language in self.inference.languages and not readers.drafts.knows(language):
            own.append(InferredStanceScorer(self.inference))
        settled = {scorer.name for scorer in own} | (set() if readers.drafts.knows(language) else {"stance"})
        return [*own, *(scorer for scorer in embedded_scorers(readers) if scorer.name not in settled)]


BUILT_IN = Scorers()
"""Nothing configured: the reader of drafts and the language model score."""


async def argument_quality(brief: Brief, text: str, model: MeteredModel) -> float | None:
    """Argument quality (CoARL, Appendix E) by the language model: the share of "Yes" in one token; ``None`` without."""
    prompt = load_prompt("quality").fill(post=quoted(brief.post.text), reply=text)
    try:
        shares = await model.choose(prompt, ("yes", "no"))
    except ModelUnavailable:
        return None  # the engine itself reports the spent budget
    return None if shares is None else shares["yes"]


async def evaluate(
    brief: Brief, texts: Sequence[str], scorers: Sequence[Scorer], weights: Mapping[str, float] = WEIGHTS
) -> tuple[list[Scores], dict[str, Sentence]]:
    """The rewards of each text that need no call of the model, and a note on each scorer that failed, by its score.

    Factuality follows later, for the best candidates, and so does argument quality where no scorer is configured for
    it.
    """
    columns, failed = dict[str, list[float | None]](), dict[str, Sentence]()
    for scorer in scorers:
        try:
            columns[scorer.name] = await scorer.score(brief, texts)
        except ScorerUnavailable as err:
            columns[scorer.name] = [None] * len(texts)
            failed[scorer.name] = sentence(
                "rewards: some drafts have no score for {reward} ({why})", reward=in_words(scorer.name), why=err.message
            )
    rows: list[dict[str, Any]] = [
        {name: _round(values[row]) for name, values in columns.items()} for row in range(len(texts))
    ]
    scores = [Scores(**row) for row in rows]
    return [with_total(row, weights) for row in scores], failed


def with_total(scores: Scores, weights: Mapping[str, float] = WEIGHTS) -> Scores:
    """The scores with their weighted sum on the 0-10 scale, over the parts that are known."""
    parts = {name: getattr(scores, name) for name in weights}
    values = {name: value for name, value in parts.items() if value is not None}
    if not values:
        return replace(scores, total=None, parts=0)
    weight = sum(weights[name] for name in values)
    total = 10 * sum(weights[name] * value for name, value in values.items()) / weight
    return replace(scores, total=round(total, 3), parts=len(values))


def in_words(reward: str) -> str:
    names = {
        "stance": sentence("stance"),
        "argument_quality": sentence("argument quality"),
        "non_toxicity": sentence("non-toxicity"),
        "fit": sentence("fitness to be posted"),
        "factuality": sentence("factuality"),
        "faithfulness_post": sentence("faithfulness to the post"),
        "faithfulness_claim": sentence("faithfulness to the claim"),
        "faithfulness_evidence": sentence("faithfulness to the evidence"),
    }
    return names.get(reward, reward)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


class MissingScore(StrEnum):
    """Why a score is missing, by what a reader can do about it; the value is its code, which keeps its meaning."""

    LANGUAGE = "no_scorer_for_language"
    NOT_INSTALLED = "scorer_not_installed"
    NOT_REACHED = "not_reached"
    FAILED = "scorer_failed"
    UNCHECKED = "fact_not_checked"
    NOT_APPLICABLE = "not_applicable"


def why_in_words(why: MissingScore) -> Sentence:
    """The reason as part of a sentence."""
    return {
        MissingScore.LANGUAGE: sentence("no scorer knows the language"),
        MissingScore.NOT_INSTALLED: sentence("no scorer is installed, and the profile does not ask the language model"),
        MissingScore.NOT_REACHED: sentence("the profile does not measure it, or ended before"),
        MissingScore.FAILED: sentence("the scorer or the language model did not answer"),
        MissingScore.UNCHECKED: sentence("what is stated could not be checked"),
        MissingScore.NOT_APPLICABLE: sentence("it does not apply to this draft"),
    }[why]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known of a draft's scoring beside the scores.

    Attributes:
        states_fact: the draft states something that needs a source.
        quality: why no model told the argument quality, where one was asked or configured.
        failed: the names of the scores whose scorers failed.
    """

    states_fact: bool = False
    quality: MissingScore | None = None
    failed: Collection[str] = ()


def unscored(scores: Scores, brief: Brief, readers: Readers, circumstances: Circumstances) -> dict[str, MissingScore]:
    """Why each score that a draft lacks is missing, by its name."""
    language = brief.reading.language
    is_unlike = language not in readers.embedder.languages
    why = {
        "argument_quality": circumstances.quality or MissingScore.NOT_INSTALLED,
        "factuality": MissingScore.UNCHECKED if circumstances.states_fact else MissingScore.NOT_APPLICABLE,
        "faithfulness_claim": _unlike(is_unlike=is_unlike, is_there=bool(brief.claim)),
        "faithfulness_evidence": _unlike(is_unlike=is_unlike, is_there=bool(brief.evidence)),
        "judge": MissingScore.NOT_REACHED,
        "judge_spread": MissingScore.NOT_REACHED,
    }
    unread = MissingScore.NOT_REACHED if readers.drafts.knows(language) else MissingScore.LANGUAGE
    why |= dict.fromkeys(_BY_READER, unread) | dict.fromkeys(circumstances.failed, MissingScore.FAILED)
    why["total"] = Counter(why[name] for name in WEIGHTS).most_common(1)[0][0]  # it is missing where all of them are
    return {name: reason for name, reason in why.items() if getattr(scores, name) is None}


def _unlike(*, is_unlike: bool, is_there: bool) -> MissingScore:
    if is_unlike:
        return MissingScore.LANGUAGE
    return MissingScore.NOT_REACHED if is_there else MissingScore.NOT_APPLICABLE


def unanswered(budget: Budget) -> MissingScore:
    """Why a model that was asked for a score gave none."""
    return MissingScore.NOT_REACHED if budget.exhausted() else MissingScore.FAILED


def note_of_missing(drafts: Sequence[Mapping[str, MissingScore]]) -> Sentence | None:
    """One sentence on the rewards that no draft has, grouped by their reasons; ``None`` where each is there.

    The code of each reason is among the sentence's values, by the name of the score.

    Args:
        drafts: for each draft, what ``unscored`` says of it. Where drafts differ, the commonest reason is told.
    """
    names = [name for name in WEIGHTS if drafts and all(name in draft for draft in drafts)]
    if not names:
        return None
    codes = {name: Counter(draft[name] for draft in drafts).most_common(1)[0][0] for name in names}
    groups = {why: [in_words(name) for name in names if codes[name] is why] for why in codes.values()}
    parts = [sentence("{scores} ({why})", scores=listed(group), why=why_in_words(why)) for why, group in groups.items()]
    return sentence("rewards: no draft has these scores: {scores}", scores=listed(parts, "; "), **codes)
