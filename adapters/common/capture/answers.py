"""The sentences for the person who flagged a post: where the case is, how long it takes, what comes next, the drafts.

They never repeat the post's own words. A draft is shown in a frame in which nothing is a link, a mention or markup.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from adapters.common.words.excerpts import shortened
from adapters.common.words.labels import draft_in_words, duration_in_words
from adapters.common.words.markup import Markup, Reader
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.case_cards import Card, short_number
from core.i18n.catalogs import gettext, translated
from core.models import Draft, Verdict

_RESERVE: Final = 150
"""Room for the sentence that says that there are more drafts, in any language."""
_WAITING: Final = frozenset({CaseState.CAPTURED, CaseState.QUEUED, CaseState.DRAFTING})


def is_decided(card: Card) -> bool:
    """Whether the engine is finished: the drafts are there, or there will be none."""
    return card.state not in _WAITING and not card.is_preview


def taken_in(card: Card, locale: str, limit: int, *, channel: str = "", promise: str = "") -> str:
    """What the person who flagged a post is told at once, in at most ``limit`` characters.

    Args:
        channel: a mention of the review channel, if the reader may see it; "" if they may not, or there is none.
        promise: when and where the drafts appear, if they will; "" where this person is not told again.
    """
    number = short_number(card.case_id)
    is_taken = card.state not in CLOSED
    title = gettext("Thank you. Case {case}.", locale, case=number) if is_taken else _case(card, locale)
    lines = [title, _state(card, locale)]
    lines += [*_reviewed_in(card, channel, locale), *_next(card, locale), promise]
    return shortened("\n".join(line for line in lines if line), limit)


def _reviewed_in(card: Card, channel: str, locale: str) -> Iterator[str]:
    if channel and card.state not in CLOSED and not card.post.is_from_elsewhere:
        yield gettext("Moderators review it in {channel}.", locale, channel=channel)


def counted(locale: str) -> str:
    """The answer where more people must flag the post first."""
    return gettext("Thank you. The moderators get this post when enough people have flagged it.", locale)


def with_drafts(card: Card, reader: Reader, limit: int, channel: str = "") -> str:
    """The drafts, best first, as many as fit into ``limit`` characters.

    Args:
        channel: a mention of the review channel, if the reader may see it: a moderator decides there.
    """
    locale = reader.locale
    lines = [gettext("Drafts for case {case}:", locale, case=short_number(card.case_id))]
    if card.lacks_draft:
        none = gettext("There is no draft for this post.", locale)
        lines = [" ".join([_case(card, locale), none, *_notes(card, locale)])]
    end = "\n".join([*_next(card, locale), *_reviewed_in(card, channel, locale)])
    room = limit - len(end) - len(lines[0]) - _RESERVE
    for draft in card.drafts:
        forms = (_draft(card, draft, reader), _words(draft, reader))
        block = next((form for form in forms if len(form) < room), None)
        if block is None:
            others_too_long = gettext("The others are too long for one message; moderators see them.", locale)
            lines.append(others_too_long if draft is not card.drafts[0] else _too_long(locale))
            break
        lines.append(block)
        room -= len(block) + 1
    return shortened("\n".join([*lines, end]), limit)


def _too_long(locale: str) -> str:
    return gettext("They are too long for one message; moderators see them on the card.", locale)


def too_late(card: Card, locale: str) -> str:
    """The last answer, just before it can no longer be changed."""
    return gettext(
        "Case {case} is still being worked on. Moderators get the drafts; ask again for the same post to see them.",
        locale,
        case=short_number(card.case_id),
    )


def ended(card: Card, locale: str, limit: int) -> str:
    """What happened to a case that has no drafts to show."""
    why = _notes(card, locale) if card.lacks_draft else []
    return shortened(" ".join([_case(card, locale), _state(card, locale), *why]), limit)


def _notes(card: Card, locale: str) -> list[str]:
    """Why there is no draft, as far as the card says."""
    return [translated(note, locale) for note in card.notes]


def _case(card: Card, locale: str) -> str:
    return gettext("Case {case}.", locale, case=short_number(card.case_id))


def _state(card: Card, locale: str) -> str:
    if card.state in _WAITING:
        return _wait(card, locale)
    if card.state is CaseState.POSTED:
        return gettext("This post has a reply already.", locale)
    if card.state is CaseState.FOLDED:
        return gettext("It is almost the same as a post that was flagged before, and is decided with it.", locale)
    if card.state in CLOSED:
        return gettext(
            "This case is closed. A moderator can open it again, on its card or by flagging the post.", locale
        )
    if card.state is CaseState.NEEDS_PERSON:
        return gettext("No draft could be made; a moderator looks at it.", locale)
    return gettext("It is with the moderators.", locale)


def _wait(card: Card, locale: str) -> str:
    waiting = card.waiting
    if waiting is None or waiting.expected_seconds is None:
        return gettext("Nobody can tell yet how long the first draft takes.", locale)
    if waiting.ahead:
        return gettext(
            "{ahead} cases come first; a draft is expected in {time}.",
            locale,
            ahead=waiting.ahead,
            time=duration_in_words(waiting.expected_seconds, locale),
        )
    return gettext("A draft is expected in {time}.", locale, time=duration_in_words(waiting.expected_seconds, locale))


def _next(card: Card, locale: str) -> list[str]:
    if card.post.is_from_elsewhere:
        return [gettext("No message here has these words, so nothing can be posted: copy what you can use.", locale)]
    if card.state in CLOSED:
        return []
    if card.is_shadow:
        return [gettext("Antiphon only practises here: nothing is posted.", locale)]
    lines = [gettext("Nothing is posted before a moderator approves the exact text.", locale)]
    if card.is_paused:
        lines.append(gettext("Posting is paused at the moment.", locale))
    return lines


def _draft(card: Card, draft: Draft, reader: Reader) -> str:
    locale, markup = reader.locale, reader.markup
    cited = {receipt.evidence_id for receipt in draft.receipts if receipt.verdict is Verdict.SUPPORTED}
    sources = [evidence.source for evidence in card.evidence if evidence.id in cited]
    lines = [
        f"{_on_a_line(source.publisher, markup)}, {_on_a_line(source.title, markup)}: "
        f"{markup.address(source.url) if source.url else _on_a_line(source.document or '', markup)}"
        for source in sources
    ]
    lines += [
        gettext("Check: {warning}", locale, warning=_on_a_line(translated(warning, locale), markup))
        for warning in draft.warnings
    ]
    if draft.caution:
        caution = _on_a_line(translated(draft.caution, locale), markup)
        lines.append(f"{gettext('Before you use it:', locale)} {caution}")
    return "\n".join([_words(draft, reader), *map(markup.small, lines)])


def _words(draft: Draft, reader: Reader) -> str:
    """A draft without its sources."""
    rank = reader.markup.ours(f"**{draft.rank}.**")
    return f"{rank} {draft_in_words(draft, reader.locale)}\n{reader.markup.framed(draft.text)}"


def _on_a_line(text: str, markup: Markup) -> str:
    return " ".join(markup.inert(text).split())
