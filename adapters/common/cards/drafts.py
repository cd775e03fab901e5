"""A draft in words: short on the card, with all that it rests on in a private answer.

A draft's text is shown whole or not at all: half of a reply is not what would be posted.
"""

from __future__ import annotations

from typing import Final

from adapters.common.cards.scores import receipts_in_words, scores_in_words, sources_of
from adapters.common.words.excerpts import Segment
from adapters.common.words.labels import draft_in_words
from adapters.common.words.markup import Reader
from core.desk.rules.case_cards import Card
from core.desk.rules.origins import origin_and_reader
from core.i18n.catalogs import gettext
from core.models import Draft, Kind

DRAFT: Final = "draft"
_WARNING, _ORIGIN, _CAUTION = 240, 160, 500


def on_card(card: Card, draft: Draft, reader: Reader) -> list[Segment]:
    """The best draft, with a line on how good it is, and what to know before it is used."""
    locale = reader.locale
    unseen = gettext("This draft is too long for the card. “More…” shows it in full.", locale)
    title = _title(card, draft, reader)
    segments = [
        Segment(DRAFT, 10, (f"{title}\n{reader.markup.inert(draft.text)}", f"{title}\n{unseen}")),
        Segment(DRAFT, 20, (scores_line(card, draft, reader), "")),
    ]
    caution = caution_line(draft, reader)
    return [*segments, Segment(DRAFT, 15, (caution, ""))] if caution else segments


def in_full(card: Card, draft: Draft, reader: Reader) -> list[Segment]:
    """All that is known of a draft."""
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
    receipts = receipts_in_words(draft.receipts, evidence, reader)
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
    """How many sources its receipts name."""
    return sources_of(draft, {passage.id: passage for passage in card.evidence})


def caution_line(draft: Draft, reader: Reader) -> str:
    """What to know before a draft is used, as the card says it; "" where there is nothing."""
    return f"{gettext('Caution:', reader.locale)} {reader.told(draft.caution, _CAUTION)}" if draft.caution else ""


def _title(card: Card, draft: Draft, reader: Reader) -> str:
    locale = reader.locale
    name, what = gettext("Draft {rank}", locale, rank=draft.rank), draft_in_words(draft, locale)
    origin = reader.told(origin_and_reader(draft, card.reviews), _ORIGIN)
    return f"{reader.markup.ours(f'**{name}**')} ({what}; {origin})"
