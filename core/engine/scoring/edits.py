"""The check of an edited draft: what it states, compared with the evidence of its case.

Figures, dates and names are looked up again, and a sentence keeps its receipt if a draft says it word for word.
``check_edit`` asks no model, so that it can run at each key press and again at the approval. ``checked_edit`` also has
the text read by the reader of drafts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from core.engine.cards.bank import load_cards, prepared_sentences
from core.engine.scoring.check import CheckedSentence, ReplyReading, check_reply, sentences_of
from core.engine.scoring.gates import UNPROVEN, GateContext, own_sentences, unsupported_in_words
from core.engine.scoring.receipts import unchecked_in_words
from core.engine.wording.text import sentences
from core.engine.wording.text_rules import NO_RULES, TextRules
from core.errors import Unavailable
from core.i18n.sentences import sentence
from core.models import Brief, Draft, Origin, Suggestion


class EditReader(Protocol):
    """Reads what a person may post as the reader of drafts reads a draft."""

    def read(self, post: str, text: str, language: str) -> ReplyReading | None:
        """What a text does under a post; ``None`` in a language that the reader does not know. Blocking.

        Raises:
            Unavailable: the reader cannot be loaded.
        """
        ...


@dataclass(frozen=True, slots=True)
class CheckedEdit:
    """The sentences of a text with their evidence, and what a person should look at, in sentences."""

    sentences: tuple[CheckedSentence, ...] = ()
    warnings: tuple[str, ...] = ()


def checked_edit(text: str, suggestion: Suggestion, rules: TextRules, reader: EditReader | None) -> CheckedEdit:
    """Hold a text against the evidence, the gates and the community's rules, and have it read.

    Blocking: call it in a thread, outside of any transaction. A reader that cannot be loaded stops nobody; the warnings
    say that the text was not read.
    """
    unread = tuple[str, ...]()
    try:
        opinion = read_edit(text, suggestion, reader)
    except Unavailable as err:
        opinion = None
        unread = (sentence("The reader of drafts did not read this text: {why}", why=err.message),)
    return CheckedEdit(check_edit(text, suggestion), (*unread, *warnings_on(text, suggestion, rules, opinion)))


def read_edit(text: str, suggestion: Suggestion, reader: EditReader | None) -> ReplyReading | None:
    """What the reader says of a text that a person wrote or changed.

    A draft that stayed as it was is not read again: it has its warnings already. A text of prepared sentences and
    evidence alone is not read either: the reader is not asked about such drafts.
    """
    plain = " ".join(text.split())
    is_drafted = any(plain == " ".join(draft.text.split()) for draft in suggestion.drafts)
    context = _context(text, suggestion)
    if reader is None or is_drafted or not own_sentences(plain, context):
        return None
    return reader.read(suggestion.post.text, text, context.brief.language)


def check_edit(text: str, suggestion: Suggestion) -> tuple[CheckedSentence, ...]:
    """Look up each sentence of a text in the evidence of a suggestion.

    The post's own words count as known, and prepared sentences need no source, as in the gates.
    """
    language = suggestion.reading.language or "en"
    receipts = {receipt.sentence: receipt for draft in suggestion.drafts for receipt in draft.receipts}
    prepared = _prepared_sentences(language) | _prepared_in(suggestion.drafts)
    post = suggestion.post.text
    return sentences_of(text, suggestion.evidence, language, post=post, prepared=prepared, receipts=receipts)


def warnings_on(
    text: str, suggestion: Suggestion, rules: TextRules = NO_RULES, opinion: ReplyReading | None = None
) -> tuple[str, ...]:
    """All that a person should look at before they approve a text, in sentences.

    They are in charge: what would refuse a draft is a warning here. Only the form of a text can stop it
    (``core.engine.wording.final_text.check_sendable``), and a rule of the community
    (``core.engine.wording.text_rules.check_rules``).

    Args:
        read: what was read in the text; ``None`` where nobody read it.
    """
    reply, checked = check_reply(text, _context(text, suggestion, rules), opinion), check_edit(text, suggestion)
    told_by_name = UNPROVEN if any(part.unsupported for part in checked) else ()
    faults = [fault for fault in reply.faults if fault not in told_by_name]
    refusals = [sentence("Antiphon would not have suggested this: {fault}.", fault=fault) for fault in faults]
    return tuple(dict.fromkeys([*refusals, *warnings_of(checked), *reply.warnings]))


def warnings_of(checked: Sequence[CheckedSentence]) -> tuple[str, ...]:
    """What a person must look at before they approve the text, in sentences.

    A figure, date or name without evidence is told once; that its sentence was not checked is not told besides.
    """
    return tuple(warning for part in checked for warning in _warnings(part))


def _context(text: str, suggestion: Suggestion, rules: TextRules = NO_RULES) -> GateContext:
    brief = Brief(suggestion.post, suggestion.reading, suggestion.claim or "", suggestion.evidence)
    prepared = _prepared_sentences(brief.language) | _prepared_in(suggestion.drafts)
    return GateContext(brief, len(text), prepared, rules=rules)


def _warnings(checked: CheckedSentence) -> list[str]:
    warnings = [unsupported_in_words(item) for item in checked.unsupported]
    return [unchecked_in_words(checked.text)] if checked.is_unchecked and not warnings else warnings


def _prepared_in(drafts: Sequence[Draft]) -> frozenset[str]:
    """The prepared sentences of drafts, including those that the community added."""
    return frozenset(
        part
        for draft in drafts
        for part, origin in zip(sentences(draft.text), draft.origins, strict=False)
        if origin is Origin.PREPARED
    )


@cache
def _prepared_sentences(language: str) -> frozenset[str]:
    return prepared_sentences(load_cards(language))
