"""Reports for managers in words: the status of the desk, the figures of some days, the last decisions, the open cases.

They show counts, times and names of moderators, never the words of a post.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from adapters.common.cards.states import reply_in_words, step_in_words
from adapters.common.manage.panels import Panel, PanelButton
from adapters.common.words.excerpts import Segment, fit
from adapters.common.words.labels import counted_draft_in_words, duration_in_words, listed_group_in_words
from adapters.common.words.markup import Reader
from core.desk.communities.governance import Governance
from core.desk.rules import case_cards
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason, why_closed
from core.desk.rules.roles import Person
from core.engine.wording.language import name_of
from core.i18n.catalogs import gettext, translated

_NAME, _REASON = 40, 60


@dataclass(frozen=True, slots=True)
class Watch:
    """How capture works in this process.

    ``unread``: what it may not read, in a sentence. ``left_out``: how many messages it had to leave out. ``languages``:
    those that the filter of watched channels reads, by ISO 639-1 code; none where nothing is watched.
    """

    unread: str = ""
    left_out: int = 0
    languages: frozenset[str] = frozenset()


def status_text(status: case_cards.DeskStatus, watch: Watch, lacking: list[str], reader: Reader) -> str:
    """The status of the desk, the mode first."""
    locale = reader.locale
    lines = [reader.markup.heading(gettext("Antiphon here", locale))]
    lines += [reader.markup.ours(mode_in_words(status, locale)), *lacking]
    if status.card_trouble is not None:
        lines.append(card_trouble_in_words(status.card_trouble, reader))
    lines += [_platform(trouble, reader) for trouble in status.platform_troubles]
    lines.append(_queue(status, locale))
    if status.oldest_in_review is not None:
        moment = reader.markup.from_now(status.oldest_in_review)
        lines.append(gettext("The oldest case in review is from {moment}.", locale, moment=moment))
    lines += [_draft_time(status, locale), _model(status, locale), *([watch.unread] if watch.unread else [])]
    if watch.languages:
        lines.append(_languages(watch.languages, locale))
    if watch.left_out:
        lines.append(
            gettext(
                "Too much at once: {count} messages were not looked at since the start.", locale, count=watch.left_out
            )
        )
    return "\n".join(lines)


def _languages(codes: frozenset[str], locale: str) -> str:
    names = ", ".join(sorted(translated(name_of(code), locale) for code in codes))
    return gettext(
        "The filter reads: {languages}. In other languages only keywords, flags and alerts find posts.",
        locale,
        languages=names,
    )


def mode_in_words(status: case_cards.DeskStatus, locale: str) -> str:
    """Whether replies are posted, and with which line; marked up."""
    if status.is_paused_everywhere:
        return gettext("**Paused** everywhere by the people who run Antiphon: nothing is posted.", locale)
    if status.is_paused_here:
        return gettext("**Paused** here: nothing is posted until a manager resumes.", locale)
    if not status.is_posting:
        return gettext("**Shadow mode**: drafts are made and reviewed, nothing is posted.", locale)
    if not status.discloses:
        return gettext("**Posting** what moderators approve, without a line that says who drafted it.", locale)
    return gettext("**Posting** what moderators approve, each with a line that says who drafted it.", locale)


def card_trouble_in_words(trouble: case_cards.CardTrouble, reader: Reader) -> str:
    """Why moderators see no new cards, since when, and what to do."""
    locale = reader.locale
    sentence = gettext(
        "**Moderators see no new cards** since {moment}. {message} {remedy}",
        locale,
        moment=reader.markup.date(trouble.since),
        message=translated(trouble.message, locale),
        remedy=translated(trouble.remedy, locale),
    )
    return reader.markup.ours(sentence.strip())


def _platform(trouble: case_cards.PlatformTrouble, reader: Reader) -> str:
    locale = reader.locale
    sentence = gettext(
        "**{platform} is not connected** since {moment}. {message}",
        locale,
        platform=trouble.platform,
        moment=reader.markup.date(trouble.since),
        message=translated(trouble.message, locale),
    )
    return reader.markup.ours(sentence.strip())


def _queue(status: case_cards.DeskStatus, locale: str) -> str:
    count = status.by_state.get
    waiting = count(CaseState.CAPTURED, 0) + count(CaseState.QUEUED, 0)
    return gettext(
        "Waiting for a draft: {waiting}. Being drafted: {drafting}. In review: {review}. Need a person: {person}.",
        locale,
        waiting=waiting,
        drafting=count(CaseState.DRAFTING, 0),
        review=count(CaseState.IN_REVIEW, 0),
        person=count(CaseState.NEEDS_PERSON, 0) + count(CaseState.UNKNOWN, 0) + count(CaseState.FAILED, 0),
    )


def _draft_time(status: case_cards.DeskStatus, locale: str) -> str:
    if status.expected_seconds is None:
        return gettext("Nobody can tell yet how long the first draft takes.", locale)
    return gettext(
        "A post flagged now has a draft in {time}.", locale, time=duration_in_words(status.expected_seconds, locale)
    )


def _model(status: case_cards.DeskStatus, locale: str) -> str:
    if status.model_trouble:
        return gettext("Drafting has trouble: {trouble}", locale, trouble=translated(status.model_trouble, locale))
    return gettext("Drafting works.", locale)


def statistics_text(figures: case_cards.Statistics, days: int, reader: Reader) -> str:
    """What happened in the given number of days; figures that need at least five cases are left out below that."""
    locale = reader.locale
    lines = [
        reader.markup.heading(gettext("The last {days} days", locale, days=days)),
        gettext("Flagged: {count}.", locale, count=figures.flagged),
        _counts(gettext("What became of them", locale), ends_in_words(figures.by_state, locale)),
        _counts(
            gettext("Groups", locale), {listed_group_in_words(key, locale): n for key, n in figures.by_group.items()}
        ),
        _counts(
            gettext("Kinds of reply", locale),
            {counted_draft_in_words(key, locale): n for key, n in figures.by_intent.items()},
        ),
        _counts(
            gettext("Why cases were closed", locale),
            closings_in_words(figures.by_close_reason, locale),
        ),
        *medians_in_words(figures, locale),
    ]
    return "\n".join(line for line in lines if line)


def _counts(title: str, by_name: dict[str, int]) -> str:
    rows = sorted(by_name.items(), key=lambda row: (-row[1], row[0]))
    return f"{title}: {', '.join(f'{name} {count}' for name, count in rows)}." if rows else ""


def ends_in_words(by_state: Mapping[CaseState, int], locale: str) -> dict[str, int]:
    """How many cases ended in each way that people tell apart; what is not closed is open."""
    ends = {
        CaseState.APPROVED: gettext("approved and not sent yet", locale),
        CaseState.SENDING: gettext("approved and not sent yet", locale),
        CaseState.POSTED: gettext("a reply was posted", locale),
        CaseState.RETRACTED: gettext("a reply was posted and taken back", locale),
        CaseState.SHADOWED: gettext("a reply was approved in shadow mode", locale),
        CaseState.DECLINED: gettext("closed without a reply", locale),
        CaseState.NO_REPLY: gettext("closed without a reply", locale),
        CaseState.WITHDRAWN: gettext("the flag was taken back", locale),
        CaseState.EXPIRED: gettext("nobody decided in time", locale),
        CaseState.FOLDED: gettext("decided with another case", locale),
    }
    ends_by_name = Counter[str]()
    for state, number in by_state.items():
        ends_by_name[ends.get(state) or gettext("still open", locale)] += number
    return dict(ends_by_name)


def closings_in_words(by_reason: Mapping[str, int], locale: str) -> dict[str, int]:
    """How many cases were closed for each reason."""
    return {_reason(name, locale): count for name, count in by_reason.items()}


def _reason(name: str, locale: str) -> str:
    return translated(why_closed(CloseReason(name)), locale) if name in set(CloseReason) else name


def medians_in_words(figures: case_cards.Statistics, locale: str) -> list[str]:
    """Medians, and how often drafts were edited and the first one was taken; one sentence where there is too little."""
    lines: list[str] = []
    if figures.median_seconds_to_draft is not None:
        time = duration_in_words(figures.median_seconds_to_draft, locale)
        lines.append(gettext("Half of the drafts were there in {time}.", locale, time=time))
    if figures.median_seconds_to_decision is not None:
        time = duration_in_words(figures.median_seconds_to_decision, locale)
        lines.append(gettext("Half of the decisions were made in {time}.", locale, time=time))
    if figures.share_edited is not None:
        lines.append(gettext("Edited before approval: {share} %.", locale, share=round(figures.share_edited * 100)))
    if figures.share_first_rank is not None:
        share = round(figures.share_first_rank * 100)
        lines.append(gettext("The first draft was chosen: {share} %.", locale, share=share))
    return lines or [gettext("Fewer than five cases: not enough data for times and shares.", locale)]


def lately_text(decisions: Sequence[case_cards.RecentDecision], reader: Reader, limit: int) -> str:
    """The newest decisions in at most ``limit`` units, newest first; the oldest lose their links, then their place."""
    title = reader.markup.heading(gettext("Decided lately", reader.locale))
    if not decisions:
        return f"{title}\n{gettext('Nobody has decided anything yet.', reader.locale)}"
    units, lines = reader.markup.units, [_decision(decision, reader) for decision in decisions]
    while units("\n".join([title, *(short for _, short in lines)])) >= limit:
        lines.pop()
    segments = [Segment("lines", number, forms) for number, forms in enumerate(lines, start=1)]
    return fit([Segment("lines", 0, (title,)), *segments], limit, units)["lines"]


def _decision(decision: case_cards.RecentDecision, reader: Reader) -> tuple[str, str]:
    """One line, with a link to the post and without."""
    locale, markup = reader.locale, reader.markup
    case = gettext("case {case}", locale, case=case_cards.short_number(decision.case_id))
    when, name = markup.from_now(decision.at), markup.inert(decision.by, _NAME)
    what, linked = reader.told(decision.reason, _REASON), markup.link(case, markup.post_url(decision.post))
    if decision.reply is None:
        return f"{when}, {name}, {linked}: {what}", f"{when}, {name}, {case}: {what}"
    became = reply_in_words(replace(decision.reply, send_at=None), reader)  # a report stays open while time goes on
    url = "" if decision.reply.place is None else markup.post_url(decision.reply.place)
    there = markup.link(became, url) if url else became
    return f"{when}, {name}, {linked}: {what} ({there})", f"{when}, {name}, {case}: {what} ({became})"


async def exported(governance: Governance, platform: str, community: str, by: Person, suffix: str) -> tuple[int, bytes]:
    """The community's cases as a file, by pseudonym: the number of rows, and the bytes. Raises as ``export``."""
    folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="antiphon-export-")
    try:
        file = Path(folder.name) / f"cases.{suffix}"
        rows = await governance.export(platform, community, by, file)
        return rows, await asyncio.to_thread(file.read_bytes)
    finally:
        await asyncio.to_thread(folder.cleanup)


PANEL: Final = "cases"


def cases_panel(cases: case_cards.OpenCases, reader: Reader) -> Panel:
    """One page, with buttons to its neighbours; a button's field is the number of the page."""
    locale = reader.locale
    lines = [reader.markup.heading(gettext("Open cases: {count}", locale, count=cases.total))]
    if cases.oldest is None:
        lines.append(gettext("No case is open.", locale))
    else:
        lines.append(gettext("The oldest is from {moment}.", locale, moment=reader.markup.from_now(cases.oldest)))
    lines += [_line(case, reader) for case in cases.cases]
    if cases.cases:
        lines.append(reader.markup.small(gettext("Ask for a case by its number to see it.", locale)))
    return Panel(PANEL, ("\n".join(lines),), _buttons(cases, locale))


def page_of(field: str) -> int:
    """The page that a button asks for; the first one if it says none."""
    return int(field) if field.isascii() and field.isdecimal() and len(field) < 7 else 0


def _line(case: case_cards.OpenCase, reader: Reader) -> str:
    locale, markup = reader.locale, reader.markup
    parts = [
        markup.ours(f"**{case_cards.short_number(case.case_id)}**"),
        step_in_words(case.state, locale),
        markup.from_now(case.opened_at),
    ]
    if case.holder is not None:
        parts.append(gettext("held by {name}", locale, name=markup.inert(case.holder.name, _NAME)))
    url = "" if case.card is None else markup.post_url(case.card)
    if url:
        parts.append(markup.link(gettext("card", locale), url))
    return " · ".join(parts)


def _buttons(cases: case_cards.OpenCases, locale: str) -> tuple[PanelButton, ...]:
    buttons = []
    if cases.page > 0:
        buttons.append(PanelButton(str(cases.page - 1), gettext("Earlier cases", locale)))
    if cases.page + 1 < cases.pages:
        buttons.append(PanelButton(str(cases.page + 1), gettext("Later cases", locale), is_first=True))
    return tuple(buttons)
