"""The head of a card on every surface: the state, the gist, who wrote the post and where, and who flagged it when.

What others wrote is shown openly only if it is a sentence of our own cards, or a name, and if it holds no slur.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from adapters.common.cards.controls import ANONYMOUS, is_reported
from adapters.common.cards.states import alerts, headline, standing
from adapters.common.words.labels import advice_in_words, group_in_words, language_in_words, severity_in_words
from adapters.common.words.markup import Reader
from adapters.common.words.messages import name_shown, not_read, sources
from core.desk.rules.case_cards import Card, EarlierCases
from core.engine.wording.slurs import slurs_in
from core.i18n.catalogs import gettext, translated
from core.models import Priority

_NAME: Final = 40


def open_gist(card: Card, reader: Reader, limit: int) -> str:
    """The gist in at most ``limit`` units; "" where it is not known, or not for everybody to see at once."""
    if card.gist is None or not card.is_gist_ours:
        return ""
    if slurs_in(card.gist) or slurs_in(translated(card.gist, reader.locale)):
        return ""
    return reader.told(card.gist, limit)


@dataclass(frozen=True, slots=True)
class HeadRoom:
    """How many units a surface has for a gist, and for the reason of an advice."""

    gist: int
    reason: int


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above everything else on a card, in the reader's language; "" for what is not known.

    Attributes:
        gist: what the post says; "" also where it is hidden with the post.
        lacks_gist: the sentence that no stereotype was recognised in a post that was read.
        origin: who wrote it, where, and who flagged it when.
        passed_on: whose words the post passes on, and what of it was not read.
        standing: the other sentences about an open case's state, each in its full and shortest form.
        alerts: what people must know before they decide, each in full and in short.
    """

    headline: str
    gist: str
    lacks_gist: str
    group: str
    severity: str
    language: str
    origin: tuple[str, ...]
    passed_on: str
    earlier: str
    advice: str
    advice_reason: str
    standing: tuple[tuple[str, ...], ...]
    alerts: tuple[tuple[str, ...], ...]


def head(card: Card, reader: Reader, room: HeadRoom, *, covers_all: bool) -> Head:
    """The head of a card; with ``covers_all`` nothing in it holds a word that may be somebody else's."""
    locale = reader.locale
    is_read = card.gist is not None or card.advice is not None
    gist = open_gist(card, reader, room.gist)
    if card.gist is not None and not gist and not covers_all:
        gist = reader.markup.covered(translated(card.gist, locale), room.gist)
    none = gettext("Antiphon recognises no stereotype in it: read the post itself.", locale)
    return Head(
        headline=headline(card, reader),
        gist=gist,
        lacks_gist=none if is_read and card.gist is None else "",
        group=group_in_words(card.target_group, locale) if card.target_group else "",
        severity=severity_in_words(card.severity, locale) if card.severity else "",
        language=language_in_words(card.language, locale) if card.language else "",
        origin=tuple(_origin(card, reader, covers_all=covers_all)),
        passed_on=_passed_on(card, reader, covers_all=covers_all),
        earlier=_earlier_cases(card.earlier, locale),
        advice=advice_in_words(card.advice, locale),
        advice_reason=reader.told(card.advice_reason, room.reason),
        standing=tuple(standing(card, reader)),
        alerts=tuple(alerts(card, reader)),
    )


def _origin(card: Card, reader: Reader, *, covers_all: bool) -> Iterator[str]:
    """Who wrote it, where, and who flagged it when."""
    locale, markup = reader.locale, reader.markup
    if card.post.author_name and not covers_all:
        yield gettext("By {name}", locale, name=name_shown(card.post.author_name, reader))
    if where := markup.channel(card.post.ref):
        yield where
    who, when = _flagged_by(card, reader), markup.from_now(card.opened_at)
    yield gettext("flagged {when} by {who}", locale, when=when, who=who)
    if card.post.is_late:
        yield gettext("flagged late, after an outage", locale)


def _passed_on(card: Card, reader: Reader, *, covers_all: bool) -> str:
    """Whose words the post passes on, and what of it was not read; "" for a plain post."""
    words = card.post.words
    sentences = [*sources(words, reader, covers_all=covers_all), not_read(words, reader.locale)]
    return " ".join(text for text in sentences if text)


def _flagged_by(card: Card, reader: Reader) -> str:
    locale = reader.locale
    if card.post.priority is Priority.DETECTED or card.post.score is not None:
        return gettext("the filter", locale)
    if is_reported(card):
        return gettext("a report", locale)
    if card.post.flagged_how == ANONYMOUS:
        return gettext("an administrator who stays anonymous", locale)
    return reader.markup.inert(card.flagger, _NAME) or gettext("a member", locale)


def _earlier_cases(earlier: EarlierCases | None, locale: str) -> str:
    """The author's earlier cases by their outcomes; "" where there are none, or the card does not say."""
    if earlier is None or not earlier.number:
        return ""
    counts = (
        (earlier.answered, gettext("{number} answered", locale, number=earlier.answered)),
        (earlier.not_hateful, gettext("{number} not hateful", locale, number=earlier.not_hateful)),
        (earlier.unanswered, gettext("{number} without a reply", locale, number=earlier.unanswered)),
        (earlier.rehearsed, gettext("{number} in shadow mode", locale, number=earlier.rehearsed)),
        (earlier.open, gettext("{number} open", locale, number=earlier.open)),
    )
    outcomes = ", ".join(words for number, words in counts if number)
    return gettext("Earlier: {number} ({outcomes}).", locale, number=earlier.number, outcomes=outcomes)
