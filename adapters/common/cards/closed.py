"""A closed card: what became of the case, in three lines, so that the open ones are found between them.

Owns these lines. What is left to look at, such as a post that was deleted after it was answered, comes under them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from adapters.common.cards.states import alerts, headline, places
from adapters.common.words.fitting import Segment
from adapters.common.words.markup import Reader
from core.i18n.catalogs import gettext
from core.moderation.approval import CaseState
from core.moderation.cards import Card, LastMove

CLOSED_BLOCK: Final = "closed"
_TEXT: Final = (200, 80)
_NAME: Final = 40
_WITH_ALERTS: Final = frozenset({CaseState.POSTED})
_MOVED_BY_PEOPLE: Final = frozenset(
    {CaseState.DECLINED, CaseState.NO_REPLY, CaseState.WITHDRAWN, CaseState.RETRACTED, CaseState.EXPIRED}
)


def closed_segments(card: Card, reader: Reader, *, covers_all: bool) -> list[Segment]:
    """The whole text of a closed card."""
    found = [Segment(CLOSED_BLOCK, 0, (headline(card, reader),))]
    if card.approved is not None and card.approved.text and not covers_all:
        text = " ".join(card.approved.text.split())
        found.append(Segment(CLOSED_BLOCK, 2, tuple(f"“{reader.markup.inert(text, limit)}”" for limit in _TEXT)))
    last = " ".join(_people(card, reader))
    found += [
        Segment(CLOSED_BLOCK, 1, (line,)) for line in (" · ".join(filter(None, (last, places(card, reader)))),) if line
    ]
    if card.state in _WITH_ALERTS:
        found += [Segment(CLOSED_BLOCK, 1, forms) for forms in alerts(card, reader)]
    return found


def _people(card: Card, reader: Reader) -> Iterator[str]:
    """Who approved and who decided, when."""
    if card.approved is not None:
        yield approved_by(card, reader)
    if card.last_move is not None and card.state in _MOVED_BY_PEOPLE:
        yield _closed_by(card.last_move, card.state, reader)


def approved_by(card: Card, reader: Reader) -> str:
    """Who approved the text, and when; "" before somebody did."""
    if card.approved is None:
        return ""
    locale, markup = reader.locale, reader.markup
    unknown = gettext("a moderator", locale)
    names = ", ".join(markup.inert(name, _NAME) or unknown for name in card.approved.by)
    return gettext("Approved by {names}, {when}.", locale, names=names, when=markup.date(card.approved.at))


def _closed_by(move: LastMove, state: CaseState, reader: Reader) -> str:
    locale, when = reader.locale, reader.markup.date(move.at)
    if not move.by:
        return gettext("Closed {when}.", locale, when=when)
    name = reader.markup.inert(move.by, _NAME)
    if state is CaseState.RETRACTED:
        return gettext("Taken back by {name}, {when}.", locale, name=name, when=when)
    return gettext("Closed by {name}, {when}.", locale, name=name, when=when)
