"""Receipts: the evidence for each factual sentence of a draft.

The verdict is entailment by the evidence, of the sentence as a whole or of each (subject, relation, object) triplet
that it states (F2RL, section 3.3). A mean over all passages would punish a fact that only one of them supports. So the
best passage counts for each triplet, and the mean is over the triplets.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final

import numpy as np

from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt
from core.engine.ports import Embedder, Generation, Inference
from core.engine.scoring.factual import is_factual
from core.engine.scoring.grounding import NAME, unsupported, without_addresses, without_unaffirmed
from core.engine.wording.giveaways import wordings_of
from core.engine.wording.text import content_stems, numbers, sentences, words
from core.errors import BadAnswer, ModelUnavailable, ScorerUnavailable
from core.i18n.sentences import listed, sentence
from core.models import Brief, Evidence, Receipt, Triplet, Verdict

Parts = tuple[str, str, str]
"""Subject, relation and object; the object is empty where the sentence has none."""

MAX_TRIPLETS: Final = 4
LEAST_KEPT: Final = 2 / 3
"""The share of the sentence's words of meaning that its triplets together must contain."""
LEAST_WORDS: Final = 2
"""The least number of words of meaning in a statement: a year alone states nothing."""

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "t": {
            "type": "array",
            "items": {
                "type": "array",
                "items": {"type": "string", "maxLength": 90},
                "minItems": 3,
                "maxItems": 3,
            },
            "maxItems": MAX_TRIPLETS,
        }
    },
    "required": ["t"],
    "additionalProperties": False,
}
"""The fixed schema of the structured call."""
_SUPPORTED = 0.6
_LEAST_COVERED = 0.5
Best = tuple[float, str]
"""How far the best passage entails a statement, in [0, 1], and the passage's id."""


async def extract(fact: str, language: str | None, model: MeteredModel) -> list[Parts]:
    """The triplets of one sentence, in its own words; at least one.

    Raises:
        BadAnswer: the model's answer has none, or its triplets do not say what the sentence says.
        ModelUnavailable: the model or its budget is gone.
    """
    prompt = load_prompt("triplets").fill(sentence=fact)
    answer = await model.generate(prompt, Generation(max_tokens=160, temperature=0.0, seed=3, schema=SCHEMA))
    triplets = distinct(parse(answer.texts[0]), language)
    fault = fault_of(triplets, fact, language)
    if fault:
        raise BadAnswer(fault)
    return triplets


def parse(answer: str) -> list[Parts]:
    """The triplets of the structured answer, each once.

    Raises:
        BadAnswer: it is not the JSON that was asked for.
    """
    try:
        rows = json.loads(answer)["t"]
        triplets = [tuple(" ".join(part.split()) for part in row) for row in rows]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as err:
        raise BadAnswer(sentence("the answer is not the JSON that was asked for")) from err
    whole = [(row[0], row[1], row[2]) for row in dict.fromkeys(triplets) if len(row) == 3 and row[0] and row[1]]
    if len(whole) < len(dict.fromkeys(triplets)):
        raise BadAnswer(sentence("a triplet is not whole"))
    return whole


def distinct(triplets: Sequence[Parts], language: str | None) -> list[Parts]:
    """The triplets in order, without those that add nothing to another one; of two that say the same, the first."""
    meanings = [_meaning(hypothesis(triplet), language) for triplet in triplets]
    return [
        triplet
        for index, triplet in enumerate(triplets)
        if not any(
            meanings[index] < other or (meanings[index] == other and place < index)
            for place, other in enumerate(meanings)
        )
    ]


def _meaning(text: str, language: str | None) -> set[str]:
    """Words of meaning and numbers."""
    return set(content_stems(text, language)) | numbers(text)


def fault_of(triplets: Sequence[Parts], fact: str, language: str | None) -> str | None:
    """Why the triplets do not say what the sentence says, in words, or ``None`` if they do."""
    if not triplets:
        return sentence("there are none")
    statement = " ".join(hypothesis(triplet) for triplet in triplets)
    own, stems = set(content_stems(fact, language)), set(content_stems(statement, language))
    if any(len(set(content_stems(hypothesis(triplet), language))) < LEAST_WORDS for triplet in triplets):
        return sentence("a triplet says nothing")
    if not stems <= own or not numbers(statement) <= numbers(fact):
        return sentence("they say more than the sentence")
    if numbers(statement) != numbers(fact) or len(stems) < LEAST_KEPT * len(own):
        return sentence("they say less than the sentence")
    negation = wordings_of(language).negation
    if bool(negation.search(statement)) != bool(negation.search(fact)):
        return sentence("they lose a negation")
    return None


def hypothesis(triplet: Parts) -> str:
    """A triplet as a plain sentence that can be checked against evidence."""
    text = " ".join(part for part in triplet if part)
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


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
        model: takes sentences apart in the published search, and checks where ``inference`` cannot; ``None`` for
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
        elif part not in prepared and is_factual(_stated(part, brief), brief.language):
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
        closest, bearing = await self._near_passages(sentence)
        if not bearing:
            return Receipt(sentence, closest.id, Verdict.UNSUPPORTED, 0.0)
        parts = await self._triplets(sentence)
        best = await self._best([hypothesis(triplet) for triplet in parts] or [sentence], bearing)
        if best is None:
            return Receipt(sentence, bearing[0].id, Verdict.UNVERIFIED, None)
        triplets = tuple(Triplet(*triplet, share) for triplet, (share, _) in zip(parts, best, strict=False))
        verdict = Verdict.SUPPORTED if min(best)[0] >= _SUPPORTED else Verdict.UNSUPPORTED
        carrier = Counter(passage_id for _, passage_id in best).most_common(1)[0][0]
        return Receipt(sentence, carrier, verdict, round(fmean(share for share, _ in best), 4), triplets)

    async def _near_passages(self, sentence: str) -> tuple[Evidence, list[Evidence]]:
        """The closest passage, and those with the sentence's numbers and half of its words, the closest first."""
        evidence = self.brief.evidence
        plain = _stated(sentence, self.brief)
        holding = [p for p in evidence if self._has_figures(plain, p)]
        among = holding or evidence
        vectors = await asyncio.to_thread(self.embedder.encode, [sentence, *(p.text for p in among)])
        ordered = [among[index] for index in np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")]
        return ordered[0], [p for p in ordered if holding and _overlap(sentence, p.text) >= _LEAST_COVERED]

    def _has_figures(self, sentence: str, passage: Evidence) -> bool:
        return all(item.kind == NAME for item in unsupported(sentence, [passage], self.brief.language))

    async def _triplets(self, fact: str) -> list[Parts]:
        """The sentence taken apart, or nothing where it is to be checked as a whole."""
        if self.model is None or not self.model.budget.profile.is_published:
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
                return await _inferences(statements, passages, self.inference)
            except ScorerUnavailable as err:
                self.notes.append(sentence("receipts: the model of inference failed ({why})", why=err.message))
        best = []
        for statement in statements:
            support = await self._support_by_model(statement, passages)
            if support is None:
                return None
            best.append(support)
        return best

    async def _support_by_model(self, statement: str, passages: Sequence[Evidence]) -> Best | None:
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
            support = (round(shares["yes"], 4), passage.id)
            best = support if best is None or support[0] > best[0] else best
            if best[0] >= _SUPPORTED:
                break
        return best


def _stated(part: str, brief: Brief) -> str:
    """A sentence without what needs no evidence: addresses of sources, and figures that it repeats from the post."""
    return without_unaffirmed(without_addresses(part, brief.evidence), brief.post.text, brief.language)


async def _inferences(statements: Sequence[str], passages: Sequence[Evidence], inference: Inference) -> list[Best]:
    """Every statement against every passage, in one batch."""
    pairs = [(passage.text, statement) for statement in statements for passage in passages]
    results = iter(await inference.infer(pairs))
    shares = [[(round(next(results).entailment, 4), passage.id) for passage in passages] for _ in statements]
    return [max(row, key=lambda best: best[0]) for row in shares]


def _overlap(sentence: str, passage: str) -> float:
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
