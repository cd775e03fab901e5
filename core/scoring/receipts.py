"""Receipts: the evidence for each factual sentence of a draft.

Owns which passages bear on each sentence that states a fact, and the verdict: entailment by the evidence, triplet by
triplet or of the sentence as a whole (F2RL, section 3.3). A mean over all passages would punish a fact that only one of
them supports. So the best passage counts for each triplet, and the mean is over the triplets.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from core.errors import BadAnswer, ModelUnavailable, ScorerUnavailable
from core.i18n.sentences import listed, sentence
from core.llm.budget import MeteredModel
from core.llm.prompting import load_prompt
from core.models import Brief, Evidence, Receipt, Triplet, Verdict
from core.ports import Embedder, Inference
from core.scoring.grounding.factual import is_factual
from core.scoring.grounding.grounding import NAME, unsupported, without_addresses
from core.scoring.triplets import Parts, extract, hypothesis
from core.wording.text import content_stems, sentences, words

_SUPPORTED = 0.6
_LEAST_COVERED = 0.5
Best = tuple[float, str]
"""How far the best passage entails a statement, in [0, 1], and the passage's id."""


async def verify(
    text: str,
    brief: Brief,
    prepared: frozenset[str],
    model: MeteredModel | None,
    embedder: Embedder,
    *,
    inference: Inference | None = None,
) -> tuple[tuple[Receipt, ...], list[str]]:
    """The receipts of a draft, one for each sentence that states a fact, and notes on what could not be checked fully.

    Args:
        prepared: prepared sentences, which get no receipt.
        model: takes sentences apart, in a profile that asks for it, and checks where ``inference`` cannot; ``None`` for
            a draft that is shown meanwhile.
        inference: checks in the languages that it knows.

    The evidence entails each of its own sentences, word for word. Any other sentence is compared with the passages that
    have its numbers and at least half of its words; where it cannot be checked, it is ``unverified``.
    """
    checker = _Checker(brief, model, embedder, inference)
    receipts = []
    for part in sentences(text):
        quoted = next((passage for passage in brief.evidence if part in sentences(passage.text)), None)
        if quoted:
            receipts.append(Receipt(part, quoted.id, Verdict.SUPPORTED, 1.0))
        elif part not in prepared and is_factual(without_addresses(part, brief.evidence), brief.language):
            receipts.append(await checker.check(part))
    return tuple(receipts), checker.notes


@dataclass
class _Checker:
    """Compares the sentences of one draft with its evidence."""

    brief: Brief
    model: MeteredModel | None
    embedder: Embedder
    inference: Inference | None
    notes: list[str] = field(default_factory=list)

    async def check(self, sentence: str) -> Receipt:
        if not self.brief.evidence:
            return Receipt(sentence, None, Verdict.UNSUPPORTED, None)
        closest, bearing = await self._bearing(sentence)
        if not bearing:
            return Receipt(sentence, closest.id, Verdict.UNSUPPORTED, 0.0)
        parts = await self._triplets(sentence)
        best = await self._best([hypothesis(triplet) for triplet in parts] or [sentence], bearing)
        if best is None:
            return Receipt(sentence, bearing[0].id, Verdict.UNVERIFIED, None)
        triplets = tuple(Triplet(*said, share) for said, (share, _) in zip(parts, best, strict=False))
        verdict = Verdict.SUPPORTED if min(best)[0] >= _SUPPORTED else Verdict.UNSUPPORTED
        carrier = Counter(passage_id for _, passage_id in best).most_common(1)[0][0]
        return Receipt(sentence, carrier, verdict, round(fmean(share for share, _ in best), 4), triplets)

    async def _bearing(self, sentence: str) -> tuple[Evidence, list[Evidence]]:
        """The closest passage, and those with the sentence's numbers and half of its words, the closest first."""
        evidence = self.brief.evidence
        said = without_addresses(sentence, evidence)
        holding = [p for p in evidence if self._has_figures(said, p)]
        among = holding or evidence
        vectors = await asyncio.to_thread(self.embedder.encode, [sentence, *(p.text for p in among)])
        ordered = [among[index] for index in np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")]
        return ordered[0], [p for p in ordered if holding and _covered(sentence, p.text) >= _LEAST_COVERED]

    def _has_figures(self, sentence: str, passage: Evidence) -> bool:
        return all(item.kind == NAME for item in unsupported(sentence, [passage], self.brief.language))

    async def _triplets(self, fact: str) -> list[Parts]:
        """The sentence taken apart, or nothing where it is to be checked as a whole."""
        if self.model is None or not self.model.budget.profile.extracts_triplets:
            return []
        try:
            return await extract(fact, self.brief.reading.language, self.model)
        except (BadAnswer, ModelUnavailable) as err:
            self.notes.append(
                sentence("receipts: a fact was checked as a whole, not triplet by triplet ({why})", why=err.message)
            )
            return []

    async def _best(self, statements: Sequence[str], passages: Sequence[Evidence]) -> list[Best] | None:
        """For each statement the support by the best passage; ``None`` where it is not known."""
        if self.inference and self.brief.reading.language in self.inference.languages:
            try:
                return await _inferred(statements, passages, self.inference)
            except ScorerUnavailable as err:
                self.notes.append(sentence("receipts: the model of inference failed ({why})", why=err.message))
        best = []
        for statement in statements:
            found = await self._asked(statement, passages)
            if found is None:
                return None
            best.append(found)
        return best

    async def _asked(self, statement: str, passages: Sequence[Evidence]) -> Best | None:
        """As ``_best`` for one statement, by the language model; it stops at the first passage that supports it."""
        best: Best | None = None
        for passage in passages:
            prompt = load_prompt("entailment").fill(evidence=passage.text, sentence=statement)
            try:
                shares = await self.model.choose(prompt, ("yes", "no")) if self.model else None
            except ModelUnavailable:
                return None  # the budget is spent: the verdict is "unverified"
            if shares is None:
                return None
            found = (round(shares["yes"], 4), passage.id)
            best = found if best is None or found[0] > best[0] else best
            if best[0] >= _SUPPORTED:
                break
        return best


async def _inferred(statements: Sequence[str], passages: Sequence[Evidence], inference: Inference) -> list[Best]:
    """Every statement against every passage, in one batch."""
    pairs = [(passage.text, statement) for statement in statements for passage in passages]
    found = iter(await inference.infer(pairs))
    shares = [[(round(next(found).entailment, 4), passage.id) for passage in passages] for _ in statements]
    return [max(row, key=lambda best: best[0]) for row in shares]


def _covered(sentence: str, passage: str) -> float:
    """The share of a sentence's words of meaning that the passage has too.

    A small model often accepts a sentence that says more than the passage.
    """
    own = set(content_stems(sentence))
    return len(own & set(content_stems(passage))) / len(own) if own else 1.0


def factuality(receipts: Sequence[Receipt]) -> float | None:
    """The mean probability over the triplets of all facts (F2RL reports the mean); ``None`` if there are no facts.

    A sentence that was not taken apart counts as one triplet. A sentence without evidence counts 0; one that could not
    be checked makes the whole unknown.
    """
    if not receipts or any(receipt.verdict is Verdict.UNVERIFIED for receipt in receipts):
        return None
    by_receipt = [[triplet.probability for triplet in r.triplets] or [r.probability or 0.0] for r in receipts]
    return fmean(share for shares in by_receipt for share in shares)


def warnings_of(receipts: Sequence[Receipt]) -> list[str]:
    """The sentences that a moderator must look at."""
    wanting = [receipt for receipt in receipts if receipt.verdict is not Verdict.SUPPORTED and words(receipt.sentence)]
    return [_warning(receipt) for receipt in wanting]


def _warning(receipt: Receipt) -> str:
    if receipt.verdict is Verdict.UNVERIFIED:
        return unchecked_in_words(receipt.sentence)
    loose = [f"“{triplet}”" for triplet in receipt.triplets if triplet.probability < _SUPPORTED]
    if 0 < len(loose) < len(receipt.triplets):
        return sentence(
            "No evidence carries {parts} in this sentence: “{text}”", parts=listed(loose), text=receipt.sentence
        )
    return sentence("No evidence carries this sentence: “{text}”", text=receipt.sentence)


def unchecked_in_words(text: str) -> str:
    """The warning that a sentence was not compared with the evidence."""
    return sentence("This sentence was not checked against evidence: “{text}”", text=text)
