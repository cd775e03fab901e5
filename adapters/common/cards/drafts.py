"""A draft in words: short on the card, with all that it rests on in a private answer.

A draft's text is shown whole or not at all: half of a reply is not what would be posted. Scores are words, never a bare
number, and one that could not be computed is said to be missing. What the first of two persons approved is shown to the
second, who approves exactly the same text.
"""

from dataclasses import dataclass
from typing import Final

from adapters.common.words.excerpts import Segment
from adapters.common.words.labels import draft_in_words, verdict_in_words
from adapters.common.words.markup import Markup, Reader
from core.desk.rules.approval import text_hash
from core.desk.rules.case_cards import Card, origin_and_reader
from core.i18n.catalogs import gettext
from core.models import Draft, Evidence, Kind, Receipt, Scores, Source, Verdict

_MOST_SHOWN: Final = 2
"""More would push the draft off a phone's screen."""
_MARK, _DIGITS = "t", 15
_SENTENCE, _TITLE, _SOURCE_CAUTION = 90, 110, 160
_HIGH, _FAIR = 0.75, 0.5
_STRONG, _MIDDLING = 0.7, 0.4
_SPREAD = 2.0
DRAFT: Final = "draft"
_WARNING, _ORIGIN, _CAUTION = 240, 160, 500


@dataclass(frozen=True, slots=True)
class FirstText:
    """A text that is not the draft on the card: who approved it first, and by which key a button names it."""

    name: str
    text: str
    key: str


def written(card: Card) -> list[FirstText]:
    """The newest of the texts other than the draft on the card, in the order in which they were approved."""
    drafts = _ranks(card)
    texts: dict[str, FirstText] = {}
    for name, text in zip(card.first_approvals, card.first_texts, strict=False):
        if text.strip() and text.strip() not in drafts:
            key = _key(text)
            texts.setdefault(key, FirstText(name, text.strip(), key))
    return list(texts.values())[-_MOST_SHOWN:]


def chosen(card: Card) -> list[tuple[str, int]]:
    """Who approved the draft on the card, by name, with its rank."""
    drafts = _ranks(card)
    pairs = zip(card.first_approvals, card.first_texts, strict=False)
    return [(name, drafts[text.strip()]) for name, text in pairs if text.strip() in drafts]


def is_key(extra: str) -> bool:
    """Whether this is a key by which a button names such a text."""
    return extra.startswith(_MARK)


def text_named(card: Card, key: str) -> str | None:
    """The text that a button names, or ``None`` if no approval of it waits any longer."""
    return next((text for text in card.first_texts if text.strip() and _key(text) == key), None)


def _ranks(card: Card) -> dict[str, int]:
    return {draft.text.strip(): draft.rank for draft in card.drafts[:1]}


def _key(text: str) -> str:
    return _MARK + text_hash(text.strip())[:_DIGITS]


def scores_in_words(draft: Draft, locale: str) -> str:
    """One line: support, argument, stance, tone, and whether the order of the drafts is sure."""
    scores = draft.scores
    parts = (
        _support(draft, locale),
        _argument(scores, locale),
        _stance(scores, locale),
        _tone(scores, locale),
        _judge(scores, locale),
    )
    return "; ".join(part for part in parts if part)


def _support(draft: Draft, locale: str) -> str:
    if not draft.receipts:
        return gettext("states nothing that needs a source", locale)
    if draft.scores.factuality is None:
        return gettext("facts not checked", locale)
    if draft.scores.factuality >= _HIGH and all(one.verdict is Verdict.SUPPORTED for one in draft.receipts):
        return gettext("well supported", locale)
    return (
        gettext("partly supported", locale) if draft.scores.factuality >= _FAIR else gettext("poorly supported", locale)
    )


def _argument(scores: Scores, locale: str) -> str:
    if scores.argument_quality is None:
        return ""
    if scores.argument_quality >= _STRONG:
        return gettext("strong argument", locale)
    return (
        gettext("fair argument", locale) if scores.argument_quality >= _MIDDLING else gettext("weak argument", locale)
    )


def _stance(scores: Scores, locale: str) -> str:
    if scores.stance is None:
        return gettext("not checked whether it opposes the post", locale)
    return gettext("opposes the post", locale) if scores.stance >= _FAIR else gettext("may not oppose the post", locale)


def _tone(scores: Scores, locale: str) -> str:
    if scores.non_toxicity is None:
        return gettext("tone not checked", locale)
    return gettext("civil in tone", locale) if scores.non_toxicity >= _HIGH else gettext("may sound harsh", locale)


def _judge(scores: Scores, locale: str) -> str:
    is_unsure = scores.judge_spread is not None and scores.judge_spread >= _SPREAD
    return gettext("another draft may be better", locale) if is_unsure else ""


def _receipt(receipt: Receipt, passage: Evidence | None, reader: Reader) -> str:
    """One line for a factual sentence: its beginning, the verdict, and the source as a link."""
    inert, locale = reader.markup.inert, reader.locale
    line = f"- “{inert(receipt.sentence, _SENTENCE)}”: {verdict_in_words(receipt.verdict, locale)}"
    if passage is None:
        return f"{line}; {gettext('no source', locale)}"
    caution = f" {gettext('Caution:', locale)} {reader.told(passage.caution, _CAUTION)}" if passage.caution else ""
    return f"{line}; {source_link(passage.source, reader.markup)}.{caution}"


def source_link(source: Source, markup: Markup) -> str:
    """Publisher, title and year, as a link where the source has an address of the web, otherwise with its place."""
    parts = (source.publisher, source.title, str(source.year or ""), "" if source.url else source.document)
    return markup.link(markup.inert(", ".join(part for part in parts if part), _TITLE), source.url)


def on_card(card: Card, draft: Draft, reader: Reader) -> list[Segment]:
    """The best draft, with a line on how good it is, and what to know before it is used."""
    locale = reader.locale
    unseen = gettext("This draft is too long for the card. “More…” shows it in full.", locale)
    title = _title(card, draft, reader)
    segments = [
        Segment(DRAFT, 10, (f"{title}\n{reader.markup.inert(draft.text)}", f"{title}\n{unseen}")),
        Segment(DRAFT, 20, (scores_line(card, draft, reader), "")),
    ]
    if draft.caution:
        caution = f"{gettext('Caution:', locale)} {reader.told(draft.caution, _CAUTION)}"
        segments.append(Segment(DRAFT, 15, (caution, "")))
    return segments


def in_full(card: Card, draft: Draft, reader: Reader) -> list[Segment]:
    locale = reader.locale
    title = _title(card, draft, reader)
    segments = [
        Segment(DRAFT, 10, (f"{title}\n{reader.markup.inert(draft.text)}",)),
        Segment(DRAFT, 20, (scores_line(card, draft, reader), "")),
    ]
    if draft.caution:
        careful = f"{gettext('Before you use it:', locale)} {reader.told(draft.caution, _CAUTION)}"
        segments.append(Segment(DRAFT, 15, (careful, "")))
    if draft.answers:
        answers = gettext("Answers: {what}.", locale, what=reader.told(draft.answers, _WARNING))
        segments.append(Segment(DRAFT, 25, (answers, "")))
    label = gettext("Check:", locale)
    checks = [f"{label} {reader.told(warning, _WARNING)}" for warning in draft.warnings]
    segments += [Segment(DRAFT, 30, (check, "")) for check in checks]
    evidence = {passage.id: passage for passage in card.evidence}
    receipts = (_receipt(receipt, evidence.get(receipt.evidence_id or ""), reader) for receipt in draft.receipts)
    return segments + [Segment(DRAFT, 40, (receipt, "")) for receipt in receipts]


def scores_line(card: Card, draft: Draft, reader: Reader) -> str:
    """Its sources and warnings, counted, and how good it is; of a draft that is no reply, why it is there."""
    locale, sources, warnings = reader.locale, number_of_sources(card, draft), len(draft.warnings)
    counts = []
    if sources:
        counts.append(
            gettext("1 source", locale) if sources == 1 else gettext("{number} sources", locale, number=sources)
        )
    if warnings:
        many = gettext("{number} warnings", locale, number=warnings)
        counts.append(gettext("1 warning", locale) if warnings == 1 else many)
    if draft.kind is Kind.REPLY:
        return "; ".join([*counts, scores_in_words(draft, locale)]) + "."
    sentences = ["; ".join(counts) + "."] if counts else []
    return " ".join([*sentences, *(reader.told(reason, _WARNING) for reason in draft.reasons)])


def number_of_sources(card: Card, draft: Draft) -> int:
    sources = {passage.id: passage.source for passage in card.evidence}
    return len({sources[one.evidence_id] for one in draft.receipts if one.evidence_id in sources})


def _title(card: Card, draft: Draft, reader: Reader) -> str:
    locale = reader.locale
    name, what = gettext("Draft {rank}", locale, rank=draft.rank), draft_in_words(draft, locale)
    origin = reader.told(origin_and_reader(draft, card.reviews), _ORIGIN)
    return f"{reader.markup.ours(f'**{name}**')} ({what}; {origin})"
