"""Drafts that argue nothing and have no scores and no receipts: the notice on the rules, and words of support."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from core.engine.cards.bank import project_notices, support_in
from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.ports import Generation, Scorer, StageOutcome
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights
from core.engine.reading.signals import people_named
from core.engine.review.candidates import Candidate
from core.engine.scoring.gates import GateContext, doubts_of, fault_of, score_fault, whole_fault
from core.engine.scoring.rewards import evaluate
from core.engine.wording.community_rules import NO_RULES, TextRules
from core.engine.wording.giveaways import checkable_in
from core.engine.wording.language import name_of
from core.engine.wording.slurs import slurs_in
from core.engine.wording.text import sentences, stop_words, words
from core.engine.writing.first_drafts import TEMPERATURE, tidy
from core.errors import ModelUnavailable
from core.i18n.sentences import sentence
from core.models import Action, Brief, Draft, FlaggedPost, Intent, Kind, Origin, ReadBy, Reading, Scores

_AS_IF = {Kind.SUPPORT: Intent.EMPATHETIC, Kind.NOTICE: Intent.DENOUNCING}
"""The intent of a reply that does what this kind does: every stored draft has one."""
WEAK_FIT: Final = 0.8
"""A best reply that is less fit than this is weak.

The shipped reader of drafts warns of what a model wrote from about here on (0.81); it reads no prepared reply for that
warning. Of 51 hateful posts in English, each a wording of one stereotype, the first draft without a model was less fit
for one. So a prepared reply is seldom behind the notice.
"""
SHOWN: Final = 3
"""How many words of support a moderator may choose from: they differ in tone, not in what they say."""
_MAX_TOKENS: Final = 90


def unargued(kind: Kind, text: str, language: str, reasons: tuple[str, ...], writer: str | None = None) -> Draft:
    """A draft of this kind, not ranked yet.

    Args:
        reasons: why it is shown, in sentences.
        writer: the model that wrote it; ``None`` where a person did.
    """
    why = sentence("it argues nothing, so nothing is scored")
    origin = Origin.PREPARED if writer is None else Origin.MODEL
    return Draft(
        rank=1,
        text=text,
        intent=_AS_IF[kind],
        scores=Scores(),
        origins=(origin,) * len(sentences(text)),
        read_by=ReadBy.RULES,
        language=language,
        writer=writer,
        reasons=reasons,
        unscored={score.name: why for score in fields(Scores) if score.name != "parts"},
        kind=kind,
    )


def with_notice(
    drafts: Sequence[Draft], replies: Sequence[Candidate], reading: Reading, notice: str, writer: PoolingWeights
) -> StageOutcome[list[Draft]]:
    """The drafts with the notice on the rules: last, or first where the best reply is weak.

    A post that does not read as hateful breaks no rule, and gets none. Where there is no notice, a note says that the
    best reply is weak.

    Args:
        drafts: the replies as a moderator is shown them, best first.
        replies: the same replies as the search left them, in the same order.
        notice: the words in the post's language; "" where the community wants none.
        writer: which model wrote the replies.
    """
    if reading.recommended_action is Action.STAY_SILENT:
        return StageOutcome(list(drafts), [])
    is_first, language = is_weak(replies, writer), reading.language or "en"
    if not notice:
        silence = sentence("drafts: no reply is free of doubt; silence may serve better")
        return StageOutcome(list(drafts), [silence] if is_first else [])
    reasons = (_whose(notice, language), _before()) if is_first else (_whose(notice, language),)
    own = unargued(Kind.NOTICE, notice, language, reasons)
    in_order = [own, *drafts] if is_first else [*drafts, own]
    return StageOutcome([replace(draft, rank=rank) for rank, draft in enumerate(in_order, start=1)], [])


def is_weak(replies: Sequence[Candidate], writer: PoolingWeights) -> bool:
    """Whether the best reply is doubted or hardly fit to be posted, or there is none.

    What a larger model wrote, and its review would publish or nobody doubts, is never weak: the small reader's word on
    its fitness is the weaker one.

    Args:
        replies: in any order; the one that is shown first need not be the fittest.
    """
    if any(reply.is_vouched and not reply.is_prepared for reply in replies):
        return False
    sound = [reply for reply in replies if not reply.is_doubted]
    if not sound:
        return True
    if writer.is_larger and any(not reply.is_prepared for reply in sound):
        return False
    fits = [reply.scores.fit for reply in sound if reply.scores.fit is not None]
    return len(fits) == len(sound) and max(fits) < WEAK_FIT


def _whose(text: str, language: str) -> str:
    if text == project_notices().get(language):
        return sentence("It is the notice that comes with Antiphon: the community has set none of its own.")
    return sentence("It is the community's own notice on its rules.")


def _before() -> str:
    return sentence("It comes first since no reply is free of doubt: a notice, or silence, may serve better.")


@dataclass(frozen=True, slots=True)
class Supporter:
    """Finds words of support for the person whom one post attacks.

    Attributes:
        recent: what was posted or drafted lately; the same is not said again, as long as there is something else.
        rules: what the community asks of every text, prepared ones too.
        writer: which model ``model`` is; only a larger one is asked.
    """

    post: FlaggedPost
    reading: Reading
    style: str
    max_characters: int
    recent: tuple[str, ...]
    model: MeteredModel
    writer: PoolingWeights
    readers: Readers
    scorers: Sequence[Scorer]
    chance: random.Random
    rules: TextRules = NO_RULES

    async def drafts(self) -> StageOutcome[list[Draft]]:
        """Words of support, what a larger model wrote first, and why there is nothing of it."""
        written = await self._model_words() if self.writer.is_larger else StageOutcome(list[str](), [])
        by_model = sentence("The model wrote it for the person attacked.")
        prepared = sentence("It was prepared for any person who is attacked: it says nothing of this one.")
        drafts = [self._draft(text, by_model, self.writer.model) for text in written.value]
        drafts += [self._draft(text, prepared) for text in self._prepared_words()]
        notes = list(written.notes)
        if not drafts:
            notes.append(
                sentence("support: each prepared word of support is too long here, or breaks a rule of the community")
            )
        return StageOutcome([replace(draft, rank=rank) for rank, draft in enumerate(drafts[:SHOWN], start=1)], notes)

    @property
    def _language(self) -> str:
        return self.reading.language or "en"

    @property
    def _brief(self) -> Brief:
        return Brief(self.post, self.reading, "", ())

    def _context(self, prepared: frozenset[str] = frozenset()) -> GateContext:
        return GateContext(self._brief, self.max_characters, prepared, self.recent, rules=self.rules)

    def _prepared_words(self) -> list[str]:
        """Prepared words in another order for each draft, those first that were not said lately."""
        prepared = support_in(self._language)
        context = self._context(frozenset(part for text in prepared for part in sentences(text)))
        sendable = [text for text in prepared if not whole_fault(text, context)]
        mixed = self.chance.sample(sendable, len(sendable))
        return sorted(mixed, key=lambda text: fault_of(text, context) is not None)

    async def _model_words(self) -> StageOutcome[list[str]]:
        """What the model wrote, if it may be shown."""
        prompt = load_prompt("support").fill(
            post=quoted(self.post.text), style=self.style, language=name_of(self._language)
        )
        try:
            answer = await self.model.generate(prompt, Generation(max_tokens=_MAX_TOKENS, temperature=TEMPERATURE))
        except ModelUnavailable as err:
            return StageOutcome([], [sentence("support: the model wrote no words of support ({why})", why=err.message)])
        text = tidy(answer.texts[0])
        fault = self._fault(text) or await self._toxic(text)
        if fault:
            return StageOutcome([], [sentence("support: what the model wrote was dropped ({fault})", fault=fault)])
        return StageOutcome([text], [])

    def _fault(self, text: str) -> str | None:
        """Why a text of the model may not be shown by the rules alone, or ``None``."""
        language, context = self._language, self._context()
        if fault := fault_of(text, context):
            return fault
        if slurs_in(text, language):
            return sentence("slur or insult")
        if self._names_somebody(text):
            return sentence("names a person")
        if checkable_in(text, language) or doubts_of(text, context):
            return sentence("states something that needs a source")
        return None

    def _names_somebody(self, text: str) -> bool:
        """Whether a text holds a name, also a part of one that the post has."""
        ordinary = stop_words(self._language)
        attacked = {part for name in people_named(self.post.text, self._language) for part in words(name)} - ordinary
        return bool(people_named(text, self._language)) or not attacked.isdisjoint(words(text))

    async def _toxic(self, text: str) -> str | None:
        """Why the readers would not show a text, or ``None``. A scorer that cannot be asked says nothing."""
        toxicity = [scorer for scorer in self.scorers if scorer.name == "non_toxicity"]
        (scores,), _ = await evaluate(self._brief, [text], toxicity)
        if await asyncio.to_thread(self.readers.drafts.reads_as_hate, text, self._language):
            return sentence("reads as hateful")
        return score_fault(scores, is_read=True)

    def _draft(self, text: str, reason: str, writer: str | None = None) -> Draft:
        return unargued(Kind.SUPPORT, text, self._language, (reason,), writer)


def led_by(support: Sequence[Draft], drafts: Sequence[Draft], most: int) -> list[Draft]:
    """Drafts that somebody forced, with the advised word of support before them; ``most`` of them beside a notice."""
    if not support:
        return list(drafts)
    room = most - 1
    replies = [draft for draft in drafts if draft.kind is Kind.REPLY][:room]
    kept = [support[0], *(draft for draft in drafts if draft.kind is Kind.NOTICE or draft in replies)]
    return [replace(draft, rank=rank) for rank, draft in enumerate(kept, start=1)]
