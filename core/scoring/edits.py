"""What a text that a person may post states, compared with the evidence of its case.

Owns the check of an edited draft: figures, dates and names are looked up again, and a sentence keeps its receipt if a
draft says it word for word. Asks no model, so that it can run at each key press and again at the approval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from core.models import Draft, Origin, Receipt, Suggestion
from core.scoring.gates import unsupported_in_words
from core.scoring.grounding.grounding import Item, check
from core.scoring.receipts import is_factual, unchecked_in_words
from core.wording.prepared.bank import load_themes, prepared_sentences
from core.wording.text import sentences, words


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """One sentence, and the evidence for it.

    Attributes:
        text: the sentence, with single spaces between its words.
        evidence_id: the passage that holds all of its figures, dates and names; ``None`` if none does.
        unsupported: those that no passage holds, with their places in code points of the whole text.
        receipt: what the engine found, where one of the drafts says the sentence word for word.
        is_unchecked: it states a fact that was not compared with the evidence.
        is_prepared: it is a prepared sentence, word for word, and needs no source.
    """

    text: str
    evidence_id: str | None
    unsupported: tuple[Item, ...]
    receipt: Receipt | None
    is_unchecked: bool
    is_prepared: bool


def check_edit(text: str, suggestion: Suggestion) -> tuple[CheckedSentence, ...]:
    """Look up each sentence of a text in the evidence of a suggestion.

    The post's own words count as known, and prepared sentences need no source, as in the gates.
    """
    language = suggestion.reading.language or "en"
    receipts = {receipt.sentence: receipt for draft in suggestion.drafts for receipt in draft.receipts}
    prepared = _prepared(language) | _prepared_in(suggestion.drafts)
    known = frozenset(words(suggestion.post.text))
    checked = []
    for found in check(text, suggestion.evidence, language, known):
        said = " ".join(text[found.start : found.end].split())
        is_prepared = said in prepared
        receipt = receipts.get(said)
        states_fact = is_factual(said) and not (is_prepared or found.is_quotation)
        checked.append(
            CheckedSentence(
                said,
                found.evidence_id,
                () if is_prepared else found.unsupported,
                receipt,
                is_unchecked=states_fact and receipt is None,
                is_prepared=is_prepared,
            )
        )
    return tuple(checked)


def warnings_of(checked: Sequence[CheckedSentence]) -> tuple[str, ...]:
    """What a person must look at before they approve the text, in sentences."""
    return tuple(warning for one in checked for warning in _warnings(one))


def _warnings(checked: CheckedSentence) -> list[str]:
    found = [unsupported_in_words(item) for item in checked.unsupported]
    return [*found, unchecked_in_words(checked.text)] if checked.is_unchecked else found


def _prepared_in(drafts: Sequence[Draft]) -> frozenset[str]:
    """The prepared sentences of drafts, including those that the community added."""
    return frozenset(
        said
        for draft in drafts
        for said, origin in zip(sentences(draft.text), draft.origins, strict=False)
        if origin is Origin.PREPARED
    )


@cache
def _prepared(language: str) -> frozenset[str]:
    return prepared_sentences(load_themes(language))
