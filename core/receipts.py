"""Receipts: what carries each factual sentence of a draft.

Owns which sentences state facts, which passage bears on each, and the verdict (F2RL, section 3.3: entailment by the
evidence, read from one token; here by sentence, not yet by triplet).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from core.budget import MeteredModel
from core.errors import ModelUnavailable
from core.models import Brief, Evidence, Receipt, Verdict
from core.ports import Embedder
from core.prompting import load_prompt
from core.text import content_stems, numbers, sentences, words

_SUPPORTED = 0.6
_LEAST_COVERED = 0.5
_VALUE = re.compile(
    r"\b(?:should|deserves?|everyone|everybody|nobody|no one|let'?s|let us|we|our|us|please|rights?|imagine|picture|"
    r"think|hope|matters?|belongs?|hurts?|stings?|dignity|respect|respected|acceptable|fair|unfair|welcome|kindness|"
    r"here|worth|human beings?|isn't ok|feels?)\b",
    re.IGNORECASE,
)


def is_factual(sentence: str) -> bool:
    """Whether a sentence states something that evidence could carry or refute.

    A number makes it factual; a question, a value or an appeal is not.
    """
    if numbers(sentence):
        return True
    return not sentence.rstrip("\"'”’)").endswith("?") and not _VALUE.search(sentence)


async def verify(
    text: str, brief: Brief, vetted: frozenset[str], model: MeteredModel | None, embedder: Embedder
) -> tuple[Receipt, ...]:
    """The receipts of a draft, one for each sentence that states a fact.

    Args:
        vetted: sentences that people vetted as needing no source; they get no receipt.
        model: who checks; ``None`` to verify no more than numbers and quotations, for a draft that is shown meanwhile.

    A whole sentence of the evidence, word for word, is entailed by it. Any other is put to the model beside the closest
    passage that holds its numbers, if that has at least half of its words; without an answer it is ``unverified``.
    """
    receipts = []
    for sentence in sentences(text):
        quoted = next((passage for passage in brief.evidence if sentence in sentences(passage.text)), None)
        if quoted:
            receipts.append(Receipt(sentence, quoted.id, Verdict.SUPPORTED, 1.0))
        elif sentence not in vetted and is_factual(sentence):
            receipts.append(await _ask(sentence, brief.evidence, model, embedder))
    return tuple(receipts)


async def _ask(sentence: str, evidence: Sequence[Evidence], model: MeteredModel | None, embedder: Embedder) -> Receipt:
    if not evidence:
        return Receipt(sentence, None, Verdict.UNSUPPORTED, None)
    holding = [p for p in evidence if numbers(sentence) <= numbers(p.text) | numbers(str(p.source.year))]
    vectors = await asyncio.to_thread(embedder.encode, [sentence, *(p.text for p in holding or evidence)])
    passage = (holding or evidence)[int(np.argmax(vectors[1:] @ vectors[0]))]
    if not holding or _covered(sentence, passage.text) < _LEAST_COVERED:
        return Receipt(sentence, passage.id, Verdict.UNSUPPORTED, 0.0)
    prompt = load_prompt("entailment").fill(evidence=passage.text, sentence=sentence)
    try:
        shares = await model.choose(prompt, ("yes", "no")) if model else None
    except ModelUnavailable:
        shares = None  # the budget is spent: the verdict below says that nobody checked
    if shares is None:
        return Receipt(sentence, passage.id, Verdict.UNVERIFIED, None)
    probability = round(shares["yes"], 4)
    verdict = Verdict.SUPPORTED if probability >= _SUPPORTED else Verdict.UNSUPPORTED
    return Receipt(sentence, passage.id, verdict, probability)


def _covered(sentence: str, passage: str) -> float:
    """The share of a sentence's words of meaning that the passage has too.

    A small model takes many a sentence for supported that says more than the passage.
    """
    own = set(content_stems(sentence))
    return len(own & set(content_stems(passage))) / len(own) if own else 1.0


def factuality(receipts: Sequence[Receipt]) -> float | None:
    """The mean probability over the sentences that state a fact (F2RL reports the mean); ``None`` if none does.

    A sentence that no evidence bears on counts 0; one that nobody could check makes the whole unknown.
    """
    if not receipts or any(receipt.verdict is Verdict.UNVERIFIED for receipt in receipts):
        return None
    return fmean(receipt.probability or 0.0 for receipt in receipts)


def warnings_of(receipts: Sequence[Receipt]) -> list[str]:
    """What a moderator must look at."""
    return [
        f"No evidence carries this sentence: “{receipt.sentence}”"
        if receipt.verdict is Verdict.UNSUPPORTED
        else f"This sentence was not checked against evidence: “{receipt.sentence}”"
        for receipt in receipts
        if receipt.verdict is not Verdict.SUPPORTED and words(receipt.sentence)
    ]
