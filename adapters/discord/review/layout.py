"""A case as one message of Discord: what matters first, all within Discord's limits.

Owns the order and the importance of what a card says. The first words are always neutral, since Discord shows them in
notifications; the post's words stand in a spoiler and nowhere else. Nothing is told by colour or emoji.

The limits are those of Components V2 (docs.discord.com/developers/components/reference, and discord.py 2.7.1): 40
components, nested ones included, and 4,000 characters of text in all. We count UTF-16 units, keep the labels of the
buttons inside the same limit, and some room besides, so that it does not matter how exactly Discord counts.
"""

from __future__ import annotations

from typing import Any, Final

from discord import ui

from adapters.common.cards.first_texts import FirstText, written
from adapters.common.cards.scores import receipts_in_words, scores_in_words
from adapters.common.cards.states import alerts, places, standing
from adapters.common.words.fitting import Piece, fit
from adapters.common.words.labels import (
    advice_in_words,
    group_in_words,
    intent_in_words,
    language_in_words,
    severity_in_words,
)
from adapters.discord.review import controls
from adapters.discord.review.items import layout, rows
from adapters.discord.speech.markup import inert, spoiler, units
from core.i18n.catalogs import gettext
from core.models import Draft
from core.moderation.cards import Card

MAX_TEXT: Final = 4000
_SPARE: Final = 60
_REASON, _WARNING, _NOTE, _NAME = 240, 240, 240, 40
_FIRSTS: Final = "firsts"
_GIST: Final = (400, 200)
_COVERED: Final = (700, 450, 220)
"""How much room a gist and a post may take: the most first."""


def card_layout(card: Card, locale: str, *, covers_all: bool = False) -> ui.LayoutView:
    """The whole card in a language.

    Args:
        card: the case.
        locale: whose language it speaks.
        covers_all: leave out the post's words and the drafts. A new card is sent so, and filled in after it: what
            notifies people then holds no word of the post, whatever Discord puts into a notification.
    """
    drafts = () if covers_all else card.drafts[: controls.MAX_DRAFTS]
    under = controls.for_case(card, locale)
    beside = {draft.rank: controls.for_draft(card, draft, locale) for draft in drafts}
    firsts = [] if covers_all else list(enumerate(written(card), start=1))
    seconding = [one for number, first in firsts for one in controls.for_first(card, number, first.key, locale)]
    said = [*under, *seconding, *(one for some in beside.values() for one in some)]
    labels = sum(units(control.label) for control in said)
    blocks = fit([*_head(card, locale), *_body(card, drafts, locale, covers_all)], MAX_TEXT - _SPARE - labels)
    parts: list[ui.Item[Any]] = []
    for name in ("gist", "state", "post"):
        parts += [*([ui.Separator()] if parts else []), ui.TextDisplay(blocks[name])] if name in blocks else []
    if firsts:
        parts += [ui.Separator(), ui.TextDisplay(blocks[_FIRSTS]), *rows(seconding, card.case_id, card.version)]
    for draft in drafts:
        parts += [ui.Separator(), ui.TextDisplay(blocks[_block(draft)])]
        parts += rows(beside[draft.rank], card.case_id, card.version)
    parts += [ui.Separator(), ui.TextDisplay(blocks["notes"])] if "notes" in blocks else []
    return layout(*parts, *rows(under, card.case_id, card.version))


def _block(draft: Draft) -> str:
    return f"draft {draft.rank}"


def _head(card: Card, locale: str) -> list[Piece]:
    group, severity = group_in_words(card.target_group, locale), severity_in_words(card.severity, locale)
    language = language_in_words(card.language, locale)
    about = gettext(
        "Target group: {group}. Severity: {severity}. Language: {language}.",
        locale,
        group=group,
        severity=severity,
        language=language,
    )
    pieces = [Piece("gist", 0, _gist(card, locale)), Piece("gist", 0, (about,))]
    if advice := advice_in_words(card.advice, locale):
        pieces.append(Piece("gist", 1, (f"{advice} {inert(card.advice_reason, _REASON)}".strip(), advice)))
    pieces += [Piece("state", 1, forms) for forms in standing(card, locale)]
    pieces += [Piece("state", 2, forms) for forms in alerts(card, locale)]
    return pieces


def _gist(card: Card, locale: str) -> tuple[str, ...]:
    label = f"**{gettext('Gist', locale)}:**"
    if card.gist is None:
        return (f"{label} {gettext('Antiphon has not read this post yet.', locale)}",)
    return tuple(f"{label} {inert(card.gist, limit)}" for limit in _GIST)


def _body(card: Card, drafts: tuple[Draft, ...], locale: str, covers_all: bool) -> list[Piece]:
    pieces = [] if covers_all else [_post(card, locale)]
    where = places(card, locale)
    pieces += [Piece("post", 0, (where,))] if where else []
    if drafts and card.is_preview:
        pieces.append(Piece("post", 2, (gettext("These are first drafts; better ones may come.", locale),)))
    if not covers_all:
        pieces += [_first(first, number, locale) for number, first in enumerate(written(card), start=1)]
    for number, draft in enumerate(drafts):
        pieces += _draft(card, draft, locale, number)
    return pieces + ([] if covers_all else _notes(card, locale))


def _post(card: Card, locale: str) -> Piece:
    label = f"**{gettext('The post (covered; open it only if you need to)', locale)}:**"
    whole = spoiler(card.post.text)
    if not whole:
        return Piece("post", 3, (f"{label} {gettext('it has no text.', locale)}",))
    more = gettext("“More…” shows all of it.", locale)
    cut = [f"{label} {spoiler(card.post.text, limit)} {more}" for limit in _COVERED if limit < units(whole)]
    return Piece("post", 3, (f"{label} {whole}", *cut)) if units(whole) <= _COVERED[0] else Piece("post", 3, tuple(cut))


def _first(first: FirstText, number: int, locale: str) -> Piece:
    name = inert(first.name, _NAME)
    title = f"**{gettext('Text {number}, approved by {name}', locale, number=number, name=name)}**"
    unseen = gettext("It is too long for the card. “Approve text {number}…” shows it in full.", locale, number=number)
    return Piece(_FIRSTS, 5 + number, (f"{title}\n{inert(first.text)}", f"{title}\n{unseen}"))


def _draft(card: Card, draft: Draft, locale: str, number: int) -> list[Piece]:
    block = _block(draft)
    intent = intent_in_words(draft.intent, locale)
    title = f"**{gettext('Draft {rank}', locale, rank=draft.rank)}** ({intent})"
    unseen = gettext("This draft is too long for the card. “More…” shows it in full.", locale)
    pieces = [
        Piece(block, 10 + number, (f"{title}\n{inert(draft.text)}", f"{title}\n{unseen}")),
        Piece(block, 20 + number, (f"{gettext('Scores:', locale)} {scores_in_words(draft, locale)}.", "")),
    ]
    label = gettext("Look at:", locale)
    pieces += [Piece(block, 30 + number, (f"{label} {inert(warning, _WARNING)}", "")) for warning in draft.warnings]
    evidence = {passage.id: passage for passage in card.evidence}
    importance = 40 if number == 0 else 60 + number
    receipts = receipts_in_words(draft.receipts, evidence, locale)
    return pieces + [Piece(block, importance, (receipt, "")) for receipt in receipts]


def _notes(card: Card, locale: str) -> list[Piece]:
    label = gettext("Note:", locale)
    return [Piece("notes", 50, (f"{label} {inert(note, _NOTE)}", "")) for note in card.notes]
