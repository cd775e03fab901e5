"""The state of a case in words: what it waits for, who holds it, when something is sent, why it is closed."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from babel.dates import format_timedelta

from adapters.common.cards.controls import REPLIED, is_to_copy, needed_controls
from adapters.common.words.markup import Reader
from core.desk.rules.approval import CLOSED, CaseState, state_words
from core.desk.rules.case_cards import Card, DraftProgress, ReplyNow, short_number
from core.i18n.catalogs import gettext, language_of, translated
from core.models import PostRef

_NAME, _REASON, _NAMES = 40, 200, 5
_BY_REASON: Final = frozenset(
    {CaseState.DECLINED, CaseState.NO_REPLY, CaseState.WITHDRAWN, CaseState.EXPIRED, CaseState.RETRACTED}
)
"""The states whose reason says what was decided."""


def headline(card: Card, reader: Reader) -> str:
    """The first line of a card: whether the case is open, its number, and its state."""
    locale, number = reader.locale, short_number(card.case_id)
    is_closed = card.state in CLOSED
    closed, still_open = (
        gettext("Closed {number}:", locale, number=number),
        gettext("Open {number}:", locale, number=number),
    )
    title = closed if is_closed else still_open
    return f"{reader.markup.ours(f'**{title}**')} {_decision(card, reader) or state_in_words(card, reader)}"


def _decision(card: Card, reader: Reader) -> str:
    """What was decided, by the reason that the log holds; "" where the state says it."""
    if card.state not in _BY_REASON or not card.closed_because:
        return ""
    reason = translated(card.closed_because, reader.locale)
    return reader.markup.inert(f"{reason[:1].upper()}{reason[1:]}".rstrip("."), _REASON) + "."


def state_in_words(card: Card, reader: Reader) -> str:
    locale = reader.locale
    if card.state is CaseState.DRAFTING and card.waiting is not None and card.waiting.stage:
        return _stages(locale).get(card.waiting.stage, _states(locale)[card.state])
    if card.state is CaseState.APPROVED and card.is_shadow:
        return gettext("Approved. In shadow mode nothing is sent; it can still be taken back.", locale)
    if card.state is CaseState.APPROVED and card.is_paused:
        return gettext("Approved. It is not sent while posting is paused; it can still be taken back.", locale)
    if card.state is CaseState.APPROVED and card.waits_because and card.send_at is None:
        return gettext("Approved. It is not sent yet, and tried again by itself; it can still be taken back.", locale)
    if card.state is CaseState.APPROVED and card.send_at is not None:
        when = reader.markup.from_now(card.send_at)
        return gettext("Approved. It is sent {when}; until then it can be taken back.", locale, when=when)
    if card.state is CaseState.IN_REVIEW and is_to_copy(card):
        return gettext("Drafts to copy. Close the case when you are done.", locale)
    return _states(locale)[card.state]


def _states(locale: str) -> dict[CaseState, str]:
    return {
        CaseState.CAPTURED: gettext("Kept. It is drafted when there is room in the queue.", locale),
        CaseState.QUEUED: gettext("Waits for drafts.", locale),
        CaseState.DRAFTING: gettext("Drafts are being written.", locale),
        CaseState.IN_REVIEW: gettext("Waits for your decision.", locale),
        CaseState.APPROVED: gettext("Approved. It is sent soon; until then it can be taken back.", locale),
        CaseState.SENDING: gettext("The reply is being sent.", locale),
        CaseState.POSTED: gettext("The reply is posted.", locale),
        CaseState.DECLINED: gettext("Declined.", locale),
        CaseState.NO_REPLY: gettext("Left without a reply.", locale),
        CaseState.EXPIRED: gettext("Nobody decided in time.", locale),
        CaseState.WITHDRAWN: gettext("Withdrawn.", locale),
        CaseState.NEEDS_PERSON: gettext("Needs a person to look at it.", locale),
        CaseState.UNKNOWN: gettext("Nobody knows yet whether the reply was posted. Antiphon is looking.", locale),
        CaseState.FAILED: gettext("The reply could not be sent.", locale),
        CaseState.FOLDED: gettext("Belongs to the case of a post that says nearly the same.", locale),
        CaseState.SHADOWED: gettext("Approved in shadow mode: nothing was posted.", locale),
        CaseState.RETRACTED: gettext("The reply was taken back.", locale),
    }


def step_in_words(state: CaseState, locale: str) -> str:
    """A state in a list, where "approved" alone could be taken for "posted"."""
    if state is CaseState.APPROVED:
        return gettext("approved, not sent yet", locale)
    return translated(state_words(state), locale)


def reply_in_words(reply: ReplyNow, reader: Reader) -> str:
    """What became of an approved reply, to stand behind the word that it was approved."""
    locale = reader.locale
    if reply.is_shadow:
        return gettext("in shadow mode nothing is sent; it can still be taken back", locale)
    if reply.send_at is not None:
        when = reader.markup.from_now(reply.send_at)
        return gettext("not sent yet: it is sent {when}, until then it can be taken back", locale, when=when)
    words = {
        CaseState.APPROVED: gettext("not sent yet: it waits, and can still be taken back", locale),
        CaseState.SENDING: gettext("being sent", locale),
        CaseState.POSTED: gettext("posted", locale),
        CaseState.UNKNOWN: gettext("nobody knows yet whether it was posted", locale),
        CaseState.FAILED: gettext("could not be sent", locale),
        CaseState.WITHDRAWN: gettext("not sent: stopped before", locale),
        CaseState.SHADOWED: gettext("not posted: shadow mode", locale),
        CaseState.RETRACTED: gettext("posted, then taken back", locale),
    }
    return words[reply.state]


def standing(card: Card, reader: Reader) -> list[tuple[str, ...]]:
    """The other sentences about an open case's state, each in its full and shortest form."""
    locale = reader.locale
    sentences = [*_reason(card, reader), *_to_do(card, locale), *_holder(card, reader)]
    if card.waiting is not None:
        sentences += _waiting(card.waiting, reader)
    if card.is_shadow and card.state is not CaseState.APPROVED:
        sentences.append((gettext("Shadow mode: nothing is posted in this community.", locale),))
    if card.is_paused and card.state is not CaseState.APPROVED:
        sentences.append((gettext("Posting is paused: an approved reply waits until it is resumed.", locale),))
    return sentences


def _reason(card: Card, reader: Reader) -> Iterator[tuple[str, ...]]:
    if card.waits_because:
        why = reader.told(card.waits_because, _REASON)
        yield gettext("Why it is not sent yet: {reason}", reader.locale, reason=why), ""
    if card.closed_because:
        yield gettext("Reason: {reason}", reader.locale, reason=reader.told(card.closed_because, _REASON)), ""


def _to_do(card: Card, locale: str) -> Iterator[tuple[str, ...]]:
    """What to press where a case waits for a person and cannot be decided as it is."""
    needed = [control.label for control in needed_controls(card, locale)]
    if card.may_be_posted:
        is_there, is_not = needed
        yield (
            gettext(
                "Look whether the reply is there; then choose “{is_there}” or “{is_not}”.",
                locale,
                is_there=is_there,
                is_not=is_not,
            ),
        )
    elif card.is_stuck:
        yield (gettext("“{without}” lets you write a reply yourself.", locale, without=needed[0]),)
    elif needed and (card.drafts or card.approved is not None or card.advice in REPLIED):
        to_approve = gettext("“{again}” lets you approve a reply.", locale, again=needed[0])
        to_draft = gettext("“{again}” lets Antiphon draft once more.", locale, again=needed[0])
        yield (to_draft if card.lacks_draft else to_approve,)
    elif card.lacks_draft and card.state is CaseState.IN_REVIEW:
        yield (gettext("There is no draft for this post.", locale),)


def _holder(card: Card, reader: Reader) -> Iterator[tuple[str, ...]]:
    if card.holder is not None:
        name, until = reader.markup.inert(card.holder.name, _NAME), reader.markup.from_now(card.holder.until)
        yield (gettext("{name} holds the case; the hold ends {until}.", reader.locale, name=name, until=until),)


def _waiting(waiting: DraftProgress, reader: Reader) -> Iterator[tuple[str, ...]]:
    locale = reader.locale
    if waiting.ahead:
        yield gettext("Cases before it: {number}.", locale, number=waiting.ahead), ""
    if waiting.expected_seconds is not None:
        span = format_timedelta(timedelta(seconds=waiting.expected_seconds), locale=language_of(locale))
        yield (gettext("Drafts are expected in about {span}.", locale, span=span),)
    if waiting.error:
        yield gettext("The last attempt failed: {error}", locale, error=reader.told(waiting.error, _REASON)), ""


def _stages(locale: str) -> dict[str, str]:
    """What happens at each of the engine's stages."""
    return {
        "reading": gettext("The post is being read.", locale),
        "claims": gettext("The argument is being chosen.", locale),
        "evidence": gettext("Evidence is being looked for.", locale),
        "drafts": gettext("The first drafts are being written.", locale),
        "draft": gettext("The first drafts are being written.", locale),
        "anneal": gettext("The drafts are being improved.", locale),
        "judge": gettext("The drafts are being compared.", locale),
    }


def places(card: Card, reader: Reader) -> str:
    """Links to the post and to the reply, as far as they are on the platform."""
    is_there = not (card.is_original_gone or card.post.is_from_elsewhere)
    post = _place(gettext("Go to the post", reader.locale), card.post.ref if is_there else None, reader)
    reply = _place(gettext("Go to the reply", reader.locale), card.reply, reader)
    return " · ".join(link for link in (post, reply) if link)


def _place(label: str, ref: PostRef | None, reader: Reader) -> str:
    url = "" if ref is None else reader.markup.post_url(ref)
    return reader.markup.link(label, url) if url else ""
