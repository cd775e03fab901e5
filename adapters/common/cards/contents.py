"""What a card says about a case: the most important first, and no more than fits.

Owns the order and the importance of what a card says. The first words are always neutral, since platforms show them in
notifications; the post's words are behind a cover and nowhere else. Nothing is told by colour or emoji alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from adapters.common.cards import controls
from adapters.common.cards.controls import Control
from adapters.common.cards.first_texts import FirstText, written
from adapters.common.cards.scores import receipts_in_words, scores_in_words
from adapters.common.cards.states import alerts, places, standing
from adapters.common.words.fitting import Segment, fit
from adapters.common.words.labels import (
    advice_in_words,
    draft_in_words,
    group_in_words,
    language_in_words,
    severity_in_words,
)
from adapters.common.words.markup import Reader
from core.i18n.catalogs import gettext
from core.i18n.sentences import sentence
from core.models import Draft, Kind
from core.moderation.cards import Card
from core.moderation.origins import origin_and_reader, read_by_in_words

_REASON, _WARNING, _NOTE, _NAME, _ORIGIN, _CAUTION = 240, 240, 240, 40, 160, 500
_FIRSTS: Final = "firsts"
_GIST: Final = (400, 200)
_COVERED: Final = (700, 450, 220)
"""How much room a gist and a post may take; the largest first."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a card: a text, "" for none, and the controls right under it."""

    text: str
    controls: tuple[Control, ...] = ()


def sections(card: Card, reader: Reader, limit: int, *, covers_all: bool = False) -> list[Section]:
    """The whole card from top to bottom; the last section holds the controls of the case.

    Args:
        card: the case.
        reader: whose language and markup it speaks.
        limit: how many units all its texts may take, the labels of its controls among them.
        covers_all: leave out the post's words and the drafts. A new card is sent like this and filled in afterwards, so
            that no notification can hold a word of the post, whatever the platform puts into it.
    """
    locale = reader.locale
    drafts = () if covers_all else card.drafts[: controls.MAX_DRAFTS]
    under = controls.for_case(card, locale)
    beside = {draft.rank: controls.for_draft(card, draft, locale) for draft in drafts}
    firsts = [] if covers_all else list(enumerate(written(card), start=1))
    seconding = [one for number, first in firsts for one in controls.for_first(card, number, first.key, locale)]
    offered = [*under, *seconding, *(one for some in beside.values() for one in some)]
    labels = sum(reader.markup.units(control.label) for control in offered)
    segments = [*_head(card, reader), *_body(card, drafts, reader, covers_all)]
    blocks = fit(segments, limit - labels, reader.markup.units)
    found = [Section(blocks[name]) for name in ("gist", "state", "post") if name in blocks]
    found += [Section(blocks[_FIRSTS], tuple(seconding))] if firsts else []
    found += [Section(blocks[_block(draft)], tuple(beside[draft.rank])) for draft in drafts]
    found += [Section(blocks["notes"])] if "notes" in blocks else []
    return [*found, Section("", tuple(under))]


def _block(draft: Draft) -> str:
    return f"draft {draft.rank}"


def _head(card: Card, reader: Reader) -> list[Segment]:
    locale = reader.locale
    group, severity = group_in_words(card.target_group, locale), severity_in_words(card.severity, locale)
    language = language_in_words(card.language, locale)
    about = gettext(
        "Target group: {group}. Severity: {severity}. Language: {language}.",
        locale,
        group=group,
        severity=severity,
        language=language,
    )
    if card.read_by is not None:
        about = f"{about} {reader.told(sentence('Read by: {who}.', who=read_by_in_words(card.read_by)))}"
    segments = [Segment("gist", 0, _gist(card, reader)), Segment("gist", 0, (about,))]
    if advice := advice_in_words(card.advice, locale):
        segments.append(Segment("gist", 1, (f"{advice} {reader.told(card.advice_reason, _REASON)}".strip(), advice)))
    segments += [Segment("state", 1, forms) for forms in standing(card, reader)]
    segments += [Segment("state", 2, forms) for forms in alerts(card, reader)]
    return segments


def _gist(card: Card, reader: Reader) -> tuple[str, ...]:
    locale, markup = reader.locale, reader.markup
    label = markup.ours(f"**{gettext('Gist', locale)}:**")
    if card.gist is None and card.advice is None:
        return (f"{label} {gettext('Antiphon has not read this post yet.', locale)}",)
    if card.gist is None:
        return (f"{label} {gettext('Antiphon recognises no stereotype in it: read the post itself.', locale)}",)
    return tuple(f"{label} {reader.told(card.gist, limit)}" for limit in _GIST)


def _body(card: Card, drafts: tuple[Draft, ...], reader: Reader, covers_all: bool) -> list[Segment]:
    locale = reader.locale
    segments = [] if covers_all else [_post(card, reader)]
    where = places(card, reader)
    segments += [Segment("post", 0, (where,))] if where else []
    if drafts and card.is_preview:
        segments.append(Segment("post", 2, (gettext("These are first drafts; better ones may come.", locale),)))
    if not covers_all:
        segments += [_first(first, number, reader) for number, first in enumerate(written(card), start=1)]
    for number, draft in enumerate(drafts):
        segments += _draft(card, draft, reader, number)
    return segments + ([] if covers_all else _notes(card, reader))


def _post(card: Card, reader: Reader) -> Segment:
    locale, markup = reader.locale, reader.markup
    label = markup.ours(f"**{gettext('The post (covered; open it only if you need to)', locale)}:**")
    whole = markup.covered(card.post.text)
    if not whole:
        return Segment("post", 3, (f"{label} {gettext('it has no text.', locale)}",))
    more = gettext("“More…” shows all of it.", locale)
    size = markup.units(whole)
    cut = [f"{label} {markup.covered(card.post.text, limit)} {more}" for limit in _COVERED if limit < size]
    return Segment("post", 3, (f"{label} {whole}", *cut) if size <= _COVERED[0] else tuple(cut))


def _first(first: FirstText, number: int, reader: Reader) -> Segment:
    locale, markup = reader.locale, reader.markup
    name = markup.inert(first.name, _NAME)
    title = markup.ours(f"**{gettext('Text {number}, approved by {name}', locale, number=number, name=name)}**")
    unseen = gettext("It is too long for the card. “Approve text {number}…” shows it in full.", locale, number=number)
    return Segment(_FIRSTS, 5 + number, (f"{title}\n{markup.inert(first.text)}", f"{title}\n{unseen}"))


def _draft(card: Card, draft: Draft, reader: Reader, number: int) -> list[Segment]:
    locale, markup = reader.locale, reader.markup
    block = _block(draft)
    name, what = gettext("Draft {rank}", locale, rank=draft.rank), draft_in_words(draft, locale)
    origin = reader.told(origin_and_reader(draft, card.reviews), _ORIGIN)
    title = f"{markup.ours(f'**{name}**')} ({what}; {origin})"
    unseen = gettext("This draft is too long for the card. “More…” shows it in full.", locale)
    segments = [
        Segment(block, 10 + number, (f"{title}\n{markup.inert(draft.text)}", f"{title}\n{unseen}")),
    ]
    if draft.kind is Kind.REPLY:
        about = f"{gettext('Scores:', locale)} {scores_in_words(draft, locale)}."
    else:
        about = " ".join(reader.told(reason, _WARNING) for reason in draft.reasons)
    if about:
        segments.append(Segment(block, 20 + number, (about, "")))
    if draft.answers:
        answers = gettext("Answers: {what}.", locale, what=reader.told(draft.answers, _WARNING))
        segments.append(Segment(block, 15 + number, (answers, "")))
    label = gettext("Look at:", locale)
    warned = [f"{label} {reader.told(warning, _WARNING)}" for warning in draft.warnings]
    segments += [Segment(block, 30 + number, (warning, "")) for warning in warned]
    if draft.caution:
        caution = f"{gettext('Before you use it:', locale)} {reader.told(draft.caution, _CAUTION)}"
        segments.append(Segment(block, 45 + number, (caution, "")))
    evidence = {passage.id: passage for passage in card.evidence}
    importance = 40 if number == 0 else 60 + number
    receipts = receipts_in_words(draft.receipts, evidence, reader)
    return segments + [Segment(block, importance, (receipt, "")) for receipt in receipts]


def _notes(card: Card, reader: Reader) -> list[Segment]:
    label = gettext("Note:", reader.locale)
    return [Segment("notes", 50, (f"{label} {reader.told(note, _NOTE)}", "")) for note in card.notes]
