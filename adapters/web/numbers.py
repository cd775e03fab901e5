"""The page of numbers: what happened in a community, how sure its shares are, and what it cost.

The plots are bars in a page 320 wide, each with a table that says the same. Nothing is counted here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from aiohttp import web
from babel.dates import format_timedelta
from babel.numbers import format_decimal

from adapters.common.manage.reports import Watch, closings_in_words, ends_in_words, medians_in_words, status_text
from adapters.common.words import labels
from adapters.web.site import SITE, chosen_place, locale_of, page, reader_of
from core.desk.rules.case_cards import Statistics
from core.desk.rules.numbers import LEAST, FollowUpCounts, Numbers, Rates, Share, Spent
from core.desk.rules.roles import OnCommunity
from core.i18n.catalogs import gettext, language_of
from core.models import Intent, TargetGroup

SPANS: Final = (7, 28, 91, 365)
"""Of how many days the page can tell."""
_WIDTH: Final = 320.0
_ROW: Final = 36.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a plot: what it is, how much, and where its parts lie on a page 320 wide.

    Attributes:
        cells: the row of the table, without its label.
        length: of the bar; ``None`` where there is not enough data.
        low: where the interval begins, and ``high`` where it ends; ``None`` for a count, which has none.
    """

    label: str
    value: str
    cells: tuple[str, ...]
    y: float
    length: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot and its table; ``head`` has the headings of the columns."""

    name: str
    title: str
    head: tuple[str, ...]
    bars: tuple[Bar, ...]
    note: str = ""

    @property
    def height(self) -> float:
        """How high it is on a page 320 wide."""
        return max(1.0, len(self.bars) * _ROW)


async def numbers(request: web.Request) -> web.Response:
    """What happened in one community in the last days."""
    site, locale = request.app[SITE], locale_of(request)
    reader, said = reader_of(request), request.query.get("days", "")
    days = int(said) if said in {str(one) for one in SPANS} else 28
    at = await chosen_place(request, OnCommunity.READ_STATISTICS)
    if at.place is None:
        return await page(request, "numbers.html", at=at, days=days, spans=SPANS)
    since, where = timedelta(days=days), (at.place.platform, at.place.community)
    status = await site.governance.status(*where, at.person)
    found = await site.governance.statistics(*where, at.person, since)
    more = await site.record.numbers(*where, at.person, since)
    return await page(
        request,
        "numbers.html",
        at=at,
        days=days,
        spans=SPANS,
        least=LEAST,
        now=status_text(status, Watch(), [], reader).split("\n")[1:],
        summary=[gettext("Flagged: {count}.", locale, count=found.flagged), *medians_in_words(found, locale)],
        counts=_counts(found, locale),
        times=[
            _times("to-draft", gettext("From the flag to the first drafts", locale), more.to_draft, locale),
            _times("to-decision", gettext("From the flag to the decision", locale), more.to_decision, locale),
        ],
        rates=_rates(more, locale),
        order=_order(more, locale),
        by_chance=_percent(more.overall.by_chance, locale) if more.overall.first.is_enough else "",
        outcomes=[
            _followed("answered", gettext("After a reply was posted", locale), more.answered, locale),
            _followed(
                "unanswered", gettext("After a case was closed without a reply", locale), more.unanswered, locale
            ),
        ],
        spent=_spent(more.spent, locale),
    )


def _counts(found: Statistics, locale: str) -> list[Plot]:
    what = gettext("Cases", locale)
    named: tuple[tuple[str, str, Mapping[str, int]], ...] = (
        ("ends", gettext("What became of them", locale), ends_in_words(found.by_state, locale)),
        (
            "groups",
            gettext("Groups", locale),
            {labels.listed_group_in_words(one, locale): count for one, count in found.by_group.items()},
        ),
        (
            "intents",
            gettext("Kinds of reply", locale),
            {labels.counted_draft_in_words(one, locale): count for one, count in found.by_intent.items()},
        ),
        ("closings", gettext("Why cases were closed", locale), closings_in_words(found.by_close_reason, locale)),
    )
    return [
        _counted(name, title, what, sorted(by.items(), key=lambda one: (-one[1], one[0])), locale)
        for name, title, by in named
        if by
    ]


def _counted(name: str, title: str, what: str, rows: Sequence[tuple[str, int]], locale: str) -> Plot:
    most = max((count for _, count in rows), default=0) or 1
    bars = [
        Bar(label, number := _number(count, locale), (number,), row * _ROW, _WIDTH * count / most)
        for row, (label, count) in enumerate(rows)
    ]
    return Plot(name, title, ("", what), tuple(bars))


def _times(name: str, title: str, found: Sequence[tuple[float | None, int]], locale: str) -> Plot:
    if sum(count for _, count in found) < LEAST:
        return Plot(name, title, (), ())
    rows = list[tuple[str, int]]()
    before = 0.0
    for edge, count in found:
        if edge is None:
            rows.append((gettext("{time} or longer", locale, time=_span(before, locale)), count))
        else:
            label = gettext("less than {time}", locale, time=_span(edge, locale))
            if before:
                label = gettext("{low} to {high}", locale, low=_span(before, locale), high=_span(edge, locale))
            rows.append((label, count))
            before = edge
    return _counted(name, title, gettext("Cases", locale), rows, locale)


def _rates(found: Numbers, locale: str) -> list[Plot]:
    head = ("", gettext("Approved", locale), gettext("Edited before", locale))
    every = [(gettext("All cases", locale), found.overall)]
    groups = [(_group(one.name, locale), one) for one in found.by_group]
    languages = [(labels.language_in_words(one.name, locale), one) for one in found.by_language]
    intents = [(_intent(one.name, locale), one) for one in found.by_intent]
    writers = [(one.name or gettext("prepared sentences and evidence", locale), one) for one in found.by_writer]
    offered = gettext("Of the cases in which such a draft was shown: how often one was approved.", locale)
    named = (
        ("rates-groups", gettext("Approved, by group", locale), [*every, *groups], ""),
        ("rates-languages", gettext("Approved, by language", locale), languages, ""),
        ("rates-intents", gettext("Approved, by what a draft does", locale), intents, offered),
        ("rates-writers", gettext("Approved, by who wrote the draft", locale), writers, offered),
    )
    return [
        Plot(
            name,
            title,
            head,
            tuple(
                _share(label, one.approved, row, locale, _in_words(one.edited, locale))
                for row, (label, one) in enumerate(rows)
            ),
            note,
        )
        for name, title, rows, note in named
        if rows
    ]


def _order(found: Numbers, locale: str) -> Plot:
    """How often people take the draft that stands first."""
    rows: Iterable[tuple[str, Rates]] = [
        (gettext("All cases", locale), found.overall),
        *((labels.language_in_words(one.name, locale), one) for one in found.by_language),
        *((_group(one.name, locale), one) for one in found.by_group),
    ]
    shown = [(label, one) for label, one in rows if one.first.of or one is found.overall]
    head = ("", gettext("The first draft was taken", locale), gettext("By chance", locale))
    bars = tuple(
        _share(label, one.first, row, locale, _percent(one.by_chance, locale) if one.first.is_enough else "–")
        for row, (label, one) in enumerate(shown)
    )
    return Plot("order", gettext("Moderators and the order of drafts", locale), head, bars)


def _followed(name: str, title: str, found: Sequence[FollowUpCounts], locale: str) -> Plot:
    head = [gettext("After", locale), gettext("The author was flagged again", locale)]
    is_looked_at = any(one.post_gone.of or one.reply_gone.of for one in found)
    if is_looked_at:
        head += [gettext("The post is gone", locale), gettext("The reply is gone", locale)]
    bars = []
    for row, one in enumerate(found):
        more = [_in_words(share, locale) for share in (one.post_gone, one.reply_gone)] if is_looked_at else []
        bars.append(_share(_span(one.after_hours * 3600, locale), one.flagged_again, row, locale, *more))
    note = gettext("How often the author of the post was flagged again, so long after.", locale)
    return Plot(name, title, tuple(head), tuple(bars), note)


def _spent(spent: Spent, locale: str) -> list[tuple[str, str, str]]:
    """What, in all, and each time."""
    if not spent.times:
        return []
    rows = (
        (gettext("Seconds", locale), spent.seconds),
        (gettext("Calls of a model", locale), spent.model_calls),
        (gettext("Tokens read", locale), spent.prompt_tokens),
        (gettext("Tokens written", locale), spent.completion_tokens),
    )
    return [
        (gettext("Times drafted", locale), _number(spent.times, locale), "–"),
        *(
            (name, _number(round(every), locale), _number(round(every / spent.times, 1), locale))
            for name, every in rows
        ),
    ]


def _share(label: str, share: Share, row: int, locale: str, *cells: str) -> Bar:
    said, (low, high) = _in_words(share, locale), share.interval
    if not share.is_enough:
        return Bar(label, gettext("not enough data", locale), (said, *cells), row * _ROW, None)
    ends = _WIDTH * low, _WIDTH * high
    return Bar(label, _percent(share.value, locale), (said, *cells), row * _ROW, _WIDTH * share.value, *ends)


def _in_words(share: Share, locale: str) -> str:
    if not share.is_enough:
        return gettext("not enough data ({count} of {of})", locale, count=share.count, of=share.of)
    low, high = share.interval
    return gettext(
        "{share}, between {low} and {high} ({count} of {of})",
        locale,
        share=_percent(share.value, locale),
        low=_percent(low, locale),
        high=_percent(high, locale),
        count=share.count,
        of=share.of,
    )


def _percent(share: float, locale: str) -> str:
    return gettext("{share} %", locale, share=round(share * 100))


def _number(number: float, locale: str) -> str:
    return format_decimal(number, locale=language_of(locale))


def _span(seconds: float, locale: str) -> str:
    days = seconds / 86400
    if days >= 2:
        return gettext("{days} days", locale, days=round(days))
    return format_timedelta(timedelta(seconds=seconds), threshold=1.01, locale=language_of(locale))


def _group(name: str, locale: str) -> str:
    return labels.group_in_words(TargetGroup(name) if name in set(TargetGroup) else None, locale)


def _intent(name: str, locale: str) -> str:
    return labels.intent_in_words(Intent(name), locale) if name in set(Intent) else labels.group_in_words(None, locale)
