"""A draft's scores, receipts and sources in words; never a bare number.

A score that could not be computed is said to be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adapters.common.words.labels import verdict_in_words
from adapters.common.words.markup import Markup, Reader
from core.i18n.catalogs import gettext
from core.models import Draft, Evidence, Receipt, Scores, Source, Verdict

_SENTENCE, _TITLE, _CAUTION = 90, 110, 160
_HIGH, _FAIR = 0.75, 0.5
_STRONG, _MIDDLING = 0.7, 0.4
_SPREAD = 2.0


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
        return gettext("argument not rated", locale)
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


def sources_of(draft: Draft, evidence: Mapping[str, Evidence]) -> int:
    """How many sources a draft's receipts name."""
    passages = (evidence.get(receipt.evidence_id or "") for receipt in draft.receipts)
    return len({passage.source for passage in passages if passage is not None})


def receipts_in_words(receipts: Iterable[Receipt], evidence: Mapping[str, Evidence], reader: Reader) -> list[str]:
    """One line for each factual sentence: its beginning, the verdict, and the source as a link."""
    return [_receipt(receipt, evidence.get(receipt.evidence_id or ""), reader) for receipt in receipts]


def _receipt(receipt: Receipt, passage: Evidence | None, reader: Reader) -> str:
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
