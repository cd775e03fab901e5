"""The head of an open card: the state, the gist, who wrote the post and where, and who flagged it when.

What others wrote is shown openly only if it is a sentence of our own cards, or a name, and if it holds no slur.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from adapters.common.cards.controls import ANONYMOUS, is_reported
from adapters.common.cards.states import headline
from adapters.common.words.excerpts import Segment
from adapters.common.words.labels import advice_in_words, group_in_words, language_in_words, severity_in_words
from adapters.common.words.markup import Reader
from adapters.common.words.messages import name_shown, not_read, sources
from core.desk.rules.case_cards import Card, EarlierCases
from core.engine.wording.slurs import slurs_in
from core.i18n.catalogs import gettext, translated
from core.models import Priority


def open_gist(card: Card, reader: Reader, limit: int) -> str:
    """The gist in at most ``limit`` units; "" where it is not known, or not for everybody to see at once."""
    if card.gist is None or not card.is_gist_ours:
        return ""
    if slurs_in(card.gist) or slurs_in(translated(card.gist, reader.locale)):
        return ""
    return reader.told(card.gist, limit)


HEAD: Final = "head"
_GIST, _NAME, _REASON = 200, 40, 160


def head(card: Card, reader: Reader, *, covers_all: bool) -> list[Segment]:
    """The lines above everything else; with ``covers_all`` none of them holds a word that may be somebody else's."""
    locale = reader.locale
    lines = [headline(card, reader), _gist(card, reader, covers_all=covers_all), _target(card, locale)]
    lines += [" · ".join(origin(card, reader, covers_all=covers_all)), passed_on(card, reader, covers_all=covers_all)]
    lines += [earlier_cases(card.earlier, locale)]
    segments = [Segment(HEAD, 0, (line,)) for line in lines if line]
    if advice := advice_in_words(card.advice, locale):
        full = f"{advice} {reader.told(card.advice_reason, _REASON)}".strip()
        segments.append(Segment(HEAD, 1, (full, advice)))
    return segments


def _gist(card: Card, reader: Reader, *, covers_all: bool) -> str:
    locale, markup = reader.locale, reader.markup
    label = markup.ours(f"**{gettext('Gist', locale)}:**")
    if card.gist is None and card.advice is None:
        return ""  # it was not read yet, as the state says
    if card.gist is None:
        return f"{label} {gettext('Antiphon recognises no stereotype in it: read the post itself.', locale)}"
    if gist := open_gist(card, reader, _GIST):
        return f"{label} {gist}"
    covered = "" if covers_all else markup.covered(translated(card.gist, locale), _GIST)
    return f"{label} {covered}" if covered else ""


def _target(card: Card, locale: str) -> str:
    """Whom the post attacks, how badly and in which language, as far as it is known."""
    group = group_in_words(card.target_group, locale) if card.target_group else ""
    severity = severity_in_words(card.severity, locale) if card.severity else ""
    language = language_in_words(card.language, locale) if card.language else ""
    rest = [part for part in (severity, language) if part]
    if group:
        return gettext("Target: {what}", locale, what=" · ".join([group, *rest]))
    if severity:
        return gettext("Severity: {what}", locale, what=" · ".join(rest))
    return gettext("Language: {language}", locale, language=language) if language else ""


def origin(card: Card, reader: Reader, *, covers_all: bool) -> Iterator[str]:
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


def passed_on(card: Card, reader: Reader, *, covers_all: bool = False) -> str:
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


def earlier_cases(earlier: EarlierCases | None, locale: str) -> str:
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
