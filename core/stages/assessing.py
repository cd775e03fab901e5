"""What becomes of a candidate: the gates, the rewards, the receipts, and who may enter the tournament.

Owns the order of these checks, the cheap ones first: the wording, the rewards that ask no model, the scores, and only
for the best candidates the checks that cost a call. It does not know the stages of the search.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.i18n.sentences import Sentence, sentence
from core.llm.budget import MeteredModel
from core.models import Brief, Draft, Evidence, Intent, Origin, Receipt, Verdict
from core.ports import Inference, Scorer
from core.scoring.checking import Read, check_reply, read_drafts
from core.scoring.gates import GateContext, fault_of, intent_fault, score_fault
from core.scoring.readers.readers import Readers
from core.scoring.receipts import factuality, verify, warnings_of
from core.scoring.rewards import WEIGHTS, argument_quality, evaluate, with_total
from core.stages.drafting import Candidate
from core.stages.judge import best_of_each_intent, seeded
from core.wording.prepared.bank import Theme, prepared_id, prepared_in, prepared_sentences
from core.wording.text import sentences, words

_LEAST_LIKENESS = 0.5
MAX_DRAFTS = 4
"""The most drafts that a moderator is shown."""


@dataclass
class Assessor:
    """Assesses the candidates for one brief.

    Attributes:
        themes: what the post is about, with the prepared sentences for it.
        allowed: the intents that the community wants.
        recent: replies posted lately.
        scorers: the rewards that ask no language model.
        readers: the reader of drafts reads each candidate; prepared ones are exempt from its gate.
        model: asked for receipts and argument quality.
        inference: checks facts instead, in the languages that it knows.
        weights: the weight of each reward.
        faults: how many candidates each gate refused.
        notes: what could not be found out, and why.
    """

    brief: Brief
    themes: Sequence[Theme]
    allowed: Sequence[Intent]
    max_characters: int
    recent: tuple[str, ...]
    scorers: Sequence[Scorer]
    readers: Readers
    model: MeteredModel
    inference: Inference | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    faults: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.prepared = prepared_sentences(self.themes)

    async def best(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that pass the gates, the best of each intent, enough of each to fill the list."""
        each = -(-MAX_DRAFTS // len(self.allowed))
        return best_of_each_intent(await self.passing(candidates), each)

    async def passing(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that pass the gates, in their order, with the rewards that cost no call of the model."""
        named = frozenset(word for text in self.prepared for word in words(text))
        context = GateContext(self.brief, self.max_characters, self.prepared, self.recent, named)
        passed = [c for c in candidates if self._passes(intent_fault(c.text, c.intent) or fault_of(c.text, context))]
        passed = [c for c in passed if self._passes(await self._drift_fault(c))]
        if not passed:
            return []
        passed = await self._checked(passed, context)
        scored, failed = await evaluate(self.brief, [c.text for c in passed], self.scorers, self.weights)
        self.notes += failed
        is_read = self.readers.drafts.knows(self.brief.language)
        return [
            replace(candidate, scores=scores)
            for candidate, scores in zip(passed, scored, strict=True)
            if candidate.is_prepared or self._passes(score_fault(scores, is_read=is_read))
        ]

    async def _checked(self, candidates: Sequence[Candidate], context: GateContext) -> list[Candidate]:
        """Those that rules and reader would show, each with its doubts; the reader reads no prepared ones."""
        post, language = self.brief.post.text, self.brief.language
        own = [candidate for candidate in candidates if not candidate.is_prepared]
        said = await asyncio.to_thread(read_drafts, self.readers.drafts, post, [c.text for c in own], language)
        read_of: dict[Candidate, Read | None] = dict(zip(own, said, strict=True))
        kept = list[Candidate]()
        for candidate in candidates:
            checked = check_reply(candidate.text, context, read_of.get(candidate))
            if self._passes(checked.fault):
                kept.append(replace(candidate, doubts=checked.warnings))
        return kept

    async def finish(self, candidate: Candidate, *, asks_model: bool = True) -> Candidate:
        """The candidate with its receipts, its warnings, and the rewards that cost a call of the model."""
        model = self.model if asks_model else None
        receipts, whole = await verify(
            candidate.text, self.brief, self.prepared, model, self.readers.embedder, inference=self.inference
        )
        self.notes += whole
        quality = candidate.scores.argument_quality  # from a configured scorer, or an earlier call
        if quality is None and model:
            quality = await argument_quality(self.brief, candidate.text, model)
        scores = replace(candidate.scores, argument_quality=quality, factuality=factuality(receipts))
        warnings = (*candidate.doubts, *warnings_of(receipts), *_cautions(receipts, self.brief.evidence))
        return replace(candidate, scores=with_total(scores, self.weights), receipts=receipts, warnings=warnings)

    async def entrants(self, pool: Sequence[Candidate], count: int) -> list[Candidate]:
        """The ``count`` best candidates, finished; for each with an unsupported sentence another one is added."""
        finished = list[Candidate]()
        for candidate in seeded(pool, 2 * count):
            done = await self.finish(candidate)
            finished += [done] if self._passes(self._ungrounded_fault(done)) else []
            if sum(not candidate.is_unsupported for candidate in finished) == count:
                break
        return seeded(finished, count)

    def draft(self, rank: int, candidate: Candidate) -> Draft:
        """The candidate as a moderator is shown it."""
        prepared = prepared_in(candidate.text, self.themes)
        of = {sentence: Origin.EVIDENCE for passage in self.brief.evidence for sentence in sentences(passage.text)}
        of |= {sentence: Origin.PREPARED for text in prepared for sentence in sentences(text)}
        return Draft(
            rank,
            candidate.text,
            candidate.intent,
            candidate.scores,
            candidate.receipts,
            candidate.warnings,
            origins=tuple(of.get(sentence, Origin.MODEL) for sentence in sentences(candidate.text)),
            prepared=tuple(prepared_id(self.brief.language, text) for text in prepared),
        )

    async def _drift_fault(self, candidate: Candidate) -> str | None:
        """Find a rewrite that says something else, as a small model's sometimes does."""
        if not candidate.rewrites or self.brief.language not in self.readers.embedder.languages:
            return None
        first, second = await asyncio.to_thread(self.readers.embedder.encode, [candidate.text, candidate.rewrites])
        return sentence("strays from what it rewrites") if float(first @ second) < _LEAST_LIKENESS else None

    def _ungrounded_fault(self, candidate: Candidate) -> str | None:
        """Find a fact in a draft that has no evidence."""
        return sentence("a fact without any evidence") if candidate.is_unsupported and not self.brief.evidence else None

    def _passes(self, fault: str | None) -> bool:
        if fault:
            self.faults[fault] += 1
        return fault is None


def _cautions(receipts: Sequence[Receipt], evidence: Sequence[Evidence]) -> tuple[str, ...]:
    used = {receipt.evidence_id for receipt in receipts if receipt.verdict is not Verdict.UNSUPPORTED}
    return tuple(
        sentence("Caution ({passage}): {caution}", passage=p.id, caution=Sentence(p.caution))
        for p in evidence
        if p.caution and p.id in used
    )
