"""Whether a reply may stand under a post: refused, warned or fine, why, and the evidence for each sentence.

Drafts, edits and `antiphon check` share this one reading of a reply: the rules of ``core.engine.scoring.gates``, what
the reader of drafts says, and what the evidence holds. It asks no language model and never changes a text.

What an edited draft states is compared with the evidence of its case: figures, dates and names are looked up again, and
a sentence keeps its receipt if a draft says it word for word. ``check_edit`` asks no model, so that it can run at each
key press and again at the approval. ``checked_edit`` also has the text read by the reader of drafts.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final, Protocol

from core import models
from core.engine.cards.bank import load_cards, prepared_sentences
from core.engine.readers.networks import DraftReader, DraftSigns
from core.engine.scoring import gates
from core.engine.scoring.factual import is_factual
from core.engine.scoring.grounding import Item, check, without_addresses, without_unaffirmed
from core.engine.scoring.receipts import unchecked_in_words
from core.engine.wording.community_rules import NO_RULES, TextRules
from core.engine.wording.text import sentences, words
from core.errors import Unavailable
from core.i18n.sentences import sentence

MAX_CHARACTERS: Final = 2000
"""What the platforms take, where no community says less."""
_NO_RECEIPTS: Final[Mapping[str, models.Receipt]] = MappingProxyType({})


class Level(StrEnum):
    """What becomes of a reply."""

    REFUSED = "refused"
    WARNED = "warned"
    FINE = "fine"


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
    receipt: models.Receipt | None
    is_unchecked: bool
    is_prepared: bool


@dataclass(frozen=True, slots=True)
class CheckedText:
    """What was found in a reply.

    Attributes:
        faults: the rules and the reader that refuse it, in a few words each, the first that counts first.
        warnings: what a person should look at, in sentences.
        signs: what was read in it; ``None`` where only the rules were applied.
        read_by: who read it.
    """

    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    signs: DraftSigns | None
    read_by: models.ReadBy

    @property
    def level(self) -> Level:
        if self.faults:
            return Level.REFUSED
        return Level.WARNED if self.warnings else Level.FINE

    @property
    def fault(self) -> str | None:
        """The first fault, as it is counted."""
        return self.faults[0] if self.faults else None

    @property
    def why(self) -> tuple[str, ...]:
        """Why it is refused or warned of, in sentences; nothing for a reply that is fine."""
        return (
            *(sentence("The reply may not be shown: {fault}.", fault=fault) for fault in self.faults),
            *self.warnings,
        )


@dataclass(frozen=True, slots=True)
class ReplyReading:
    """What somebody read in a reply: the reader of drafts, a larger model, or both.

    ``limits``: the chances of being unfit from which a reply is warned of, and refused (``DraftReader.limits``).
    """

    signs: DraftSigns
    limits: tuple[float, float]
    by: models.ReadBy = models.ReadBy.SMALL

    @property
    def fault(self) -> str | None:
        """Why this alone refuses the reply, or ``None``."""
        return gates.reader_fault(self.signs, self.limits)

    @property
    def doubt(self) -> str | None:
        """What a person should look at in a reply that this does not refuse, or ``None``."""
        return None if self.fault else gates.reader_doubt(self.signs, self.limits)


def check_reply(text: str, context: gates.GateContext, opinion: ReplyReading | None = None) -> CheckedText:
    """Hold a reply against the rules, and against what was read in it.

    Args:
        read: ``None`` where nobody read it, as in a language that the reader does not know.
    """
    by_rules, doubts = list(gates.faults_of(text, context)), gates.doubts_of(text, context)
    if opinion is None:
        return CheckedText(tuple(by_rules), doubts, None, models.ReadBy.RULES)
    fault, doubt = opinion.fault, opinion.doubt
    faults = dict.fromkeys([*by_rules, fault] if fault else by_rules)
    return CheckedText(tuple(faults), (*doubts, doubt) if doubt else doubts, opinion.signs, opinion.by)


def context_for(
    post: str,
    language: str,
    evidence: Sequence[models.Evidence] = (),
    max_characters: int = MAX_CHARACTERS,
    rules: TextRules = NO_RULES,
) -> gates.GateContext:
    """What a reply is held against where there is no suggestion: the post and the evidence that somebody gives."""
    flagged = models.FlaggedPost(models.PostRef("", "", "", ""), post, author="", flagged_by="", flagged_how="")
    reading = models.Reading(language, None, None, None, None, None, None, None, None, models.Action.REPLY, "")
    return gates.GateContext(models.Brief(flagged, reading, "", tuple(evidence)), max_characters, rules=rules)


def read_drafts(
    reader: DraftReader, post: str, texts: Sequence[str], language: str | None
) -> list[ReplyReading | None]:
    """What the small reader says of replies to one post; nothing in a language that it does not know. Blocking."""
    if not reader.knows(language):
        return [None] * len(texts)
    return [ReplyReading(signs, reader.limits) for signs in reader.read(post, texts, language)]


def sentences_of(
    text: str,
    evidence: Sequence[models.Evidence],
    language: str,
    *,
    post: str = "",
    prepared: AbstractSet[str] = frozenset(),
    receipts: Mapping[str, models.Receipt] = _NO_RECEIPTS,
) -> tuple[CheckedSentence, ...]:
    """Look up each sentence of a text in the evidence.

    Args:
        post: what it answers; the names in it, and figures that the text repeats from there, are known.
        prepared: prepared sentences, which need no source.
        receipts: what the engine found for sentences, by their words.
    """
    checked = []
    for look_up in check(text, evidence, language, frozenset(words(post)), post=post):
        part = " ".join(text[look_up.start : look_up.end].split())
        is_prepared = part in prepared
        receipt = receipts.get(part)
        stated = without_unaffirmed(without_addresses(part, evidence), post, language)
        states_fact = is_factual(stated, language) and not (is_prepared or look_up.is_quotation)
        checked.append(
            CheckedSentence(
                part,
                look_up.evidence_id,
                () if is_prepared else look_up.unsupported,
                receipt,
                is_unchecked=states_fact and receipt is None,
                is_prepared=is_prepared,
            )
        )
    return tuple(checked)


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


def checked_edit(text: str, suggestion: models.Suggestion, rules: TextRules, reader: EditReader | None) -> CheckedEdit:
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


def read_edit(text: str, suggestion: models.Suggestion, reader: EditReader | None) -> ReplyReading | None:
    """What the reader says of a text that a person wrote or changed.

    A draft that stayed as it was is not read again: it has its warnings already. A text of prepared sentences and
    evidence alone is not read either: the reader is not asked about such drafts.
    """
    plain = " ".join(text.split())
    is_drafted = any(plain == " ".join(draft.text.split()) for draft in suggestion.drafts)
    context = _context(text, suggestion)
    if reader is None or is_drafted or not gates.own_sentences(plain, context):
        return None
    return reader.read(suggestion.post.text, text, context.brief.language)


def check_edit(text: str, suggestion: models.Suggestion) -> tuple[CheckedSentence, ...]:
    """Look up each sentence of a text in the evidence of a suggestion.

    The post's own words count as known, and prepared sentences need no source, as in the gates.
    """
    language = suggestion.reading.language or "en"
    receipts = {receipt.sentence: receipt for draft in suggestion.drafts for receipt in draft.receipts}
    prepared = _prepared_sentences(language) | _prepared_in(suggestion.drafts)
    post = suggestion.post.text
    return sentences_of(text, suggestion.evidence, language, post=post, prepared=prepared, receipts=receipts)


def warnings_on(
    text: str, suggestion: models.Suggestion, rules: TextRules = NO_RULES, opinion: ReplyReading | None = None
) -> tuple[str, ...]:
    """All that a person should look at before they approve a text, in sentences.

    They are in charge: what would refuse a draft is a warning here. Only the form of a text can stop it
    (``core.engine.wording.final_text.check_sendable``), and a rule of the community
    (``core.engine.wording.community_rules.check_rules``).

    Args:
        read: what was read in the text; ``None`` where nobody read it.
    """
    reply, checked = check_reply(text, _context(text, suggestion, rules), opinion), check_edit(text, suggestion)
    told_by_name = gates.UNPROVEN if any(part.unsupported for part in checked) else ()
    faults = [fault for fault in reply.faults if fault not in told_by_name]
    refusals = [sentence("Antiphon would not have suggested this: {fault}.", fault=fault) for fault in faults]
    return tuple(dict.fromkeys([*refusals, *warnings_of(checked), *reply.warnings]))


def warnings_of(checked: Sequence[CheckedSentence]) -> tuple[str, ...]:
    """What a person must look at before they approve the text, in sentences.

    A figure, date or name without evidence is told once; that its sentence was not checked is not told besides.
    """
    return tuple(warning for part in checked for warning in _warnings(part))


def _context(text: str, suggestion: models.Suggestion, rules: TextRules = NO_RULES) -> gates.GateContext:
    brief = models.Brief(suggestion.post, suggestion.reading, suggestion.claim or "", suggestion.evidence)
    prepared = _prepared_sentences(brief.language) | _prepared_in(suggestion.drafts)
    return gates.GateContext(brief, len(text), prepared, rules=rules)


def _warnings(checked: CheckedSentence) -> list[str]:
    warnings = [gates.unsupported_in_words(item) for item in checked.unsupported]
    return [unchecked_in_words(checked.text)] if checked.is_unchecked and not warnings else warnings


def _prepared_in(drafts: Sequence[models.Draft]) -> frozenset[str]:
    return frozenset(
        part
        for draft in drafts
        for part, origin in zip(sentences(draft.text), draft.origins, strict=False)
        if origin is models.Origin.PREPARED
    )


@cache
def _prepared_sentences(language: str) -> frozenset[str]:
    return prepared_sentences(load_cards(language))
