"""What a text that a person may post states, compared with the evidence of its case.

Owns the check of an edited draft: figures, dates and names are looked up again, and a sentence keeps its receipt if a
draft says it word for word. Asks no model, so that it can run at each key press and again at the approval.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from core.i18n.sentences import sentence
from core.models import Brief, Draft, Origin, Suggestion
from core.scoring.checking import CheckedSentence, Read, check_reply, sentences_of
from core.scoring.gates import GateContext, unsupported_in_words
from core.scoring.receipts import unchecked_in_words
from core.wording.prepared.bank import load_themes, prepared_sentences
from core.wording.text import sentences, words


def check_edit(text: str, suggestion: Suggestion) -> tuple[CheckedSentence, ...]:
    """Look up each sentence of a text in the evidence of a suggestion.

    The post's own words count as known, and prepared sentences need no source, as in the gates.
    """
    language = suggestion.reading.language or "en"
    receipts = {receipt.sentence: receipt for draft in suggestion.drafts for receipt in draft.receipts}
    prepared = _prepared(language) | _prepared_in(suggestion.drafts)
    known = frozenset(words(suggestion.post.text))
    return sentences_of(text, suggestion.evidence, language, known, prepared=prepared, receipts=receipts)


def warnings_on(text: str, suggestion: Suggestion, read: Read | None = None) -> tuple[str, ...]:
    """All that a person should look at before they approve a text, in sentences.

    They are in charge: what would refuse a draft is a warning here. Only the form of a text can stop it
    (``core.wording.final_text.check_sendable``).

    Args:
        read: what was read in the text; ``None`` where nobody read it.
    """
    brief = Brief(suggestion.post, suggestion.reading, suggestion.claim or "", suggestion.evidence)
    prepared = _prepared(brief.language) | _prepared_in(suggestion.drafts)
    found = check_reply(text, GateContext(brief, len(text), prepared), read)
    faults = [sentence("A draft would be refused for this: {fault}.", fault=fault) for fault in found.faults]
    return tuple(dict.fromkeys([*faults, *warnings_of(check_edit(text, suggestion)), *found.warnings]))


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
