"""The list of open cases: their numbers, states and ages, who holds them, and where their cards are.

Owns what the list says. It shows no word of a post.
"""

from __future__ import annotations

from typing import Final

from adapters.common.manage.panels import Panel, PanelButton
from adapters.common.words.markup import Reader
from core.i18n.catalogs import gettext, translated
from core.moderation.approval import state_words
from core.moderation.cards import OpenCase, OpenCases
from core.moderation.case_numbers import short_number

PANEL: Final = "cases"
_NAME: Final = 40


def cases_panel(found: OpenCases, reader: Reader) -> Panel:
    """One page, with buttons to its neighbours; a button's field is the number of the page."""
    locale = reader.locale
    lines = [reader.markup.heading(gettext("Open cases: {count}", locale, count=found.total))]
    if found.oldest is None:
        lines.append(gettext("No case is open.", locale))
    else:
        lines.append(gettext("The oldest is from {moment}.", locale, moment=reader.markup.from_now(found.oldest)))
    lines += [_line(case, reader) for case in found.cases]
    if found.cases:
        lines.append(reader.markup.small(gettext("Ask for a case by its number to see it.", locale)))
    return Panel(PANEL, ("\n".join(lines),), _buttons(found, locale))


def page_of(field: str) -> int:
    """The page that a button asks for; the first one if it says none."""
    return int(field) if field.isascii() and field.isdecimal() and len(field) < 7 else 0


def _line(case: OpenCase, reader: Reader) -> str:
    locale, markup = reader.locale, reader.markup
    parts = [
        markup.ours(f"**{short_number(case.case_id)}**"),
        translated(state_words(case.state), locale),
        markup.from_now(case.opened_at),
    ]
    if case.holder is not None:
        parts.append(gettext("held by {name}", locale, name=markup.inert(case.holder.name, _NAME)))
    url = "" if case.card is None else markup.post_url(case.card)
    if url:
        parts.append(markup.link(gettext("card", locale), url))
    return " · ".join(parts)


def _buttons(found: OpenCases, locale: str) -> tuple[PanelButton, ...]:
    made = []
    if found.page > 0:
        made.append(PanelButton(str(found.page - 1), gettext("Earlier cases", locale)))
    if found.page + 1 < found.pages:
        made.append(PanelButton(str(found.page + 1), gettext("Later cases", locale), is_first=True))
    return tuple(made)
