"""What who flagged a post is told: where the case is, how long it takes, what happens next, and the drafts.

Owns the sentences. Never repeats the post's own words; a draft is shown in a frame in which nothing is a link, a
mention or markup.
"""

from __future__ import annotations

from typing import Final

from adapters.discord.speech.private_answers import MAX_CHARACTERS, shortened
from core.i18n.catalogs import gettext
from core.models import Draft, Intent, Verdict
from core.moderation.approval import CLOSED, CaseState
from core.moderation.cards import Card
from core.wording.text import clean

_RESERVE: Final = 150
"""Room for the sentence that says that there are more drafts, in any language."""
_WAITING: Final = frozenset({CaseState.CAPTURED, CaseState.QUEUED, CaseState.DRAFTING})


def is_decided(card: Card) -> bool:
    """Whether nothing more is to be expected of the engine: the drafts are there, or there will be none."""
    return card.state not in _WAITING and not card.is_preview


def taken_in(card: Card, locale: str, *, channel: str, is_followed: bool) -> str:
    """What who flagged a post is told at once.

    Args:
        channel: a mention of the review channel, if the reader may see it; "" if they may not, or there is none.
        is_followed: this answer will be changed when the drafts are ready.
    """
    lines = [gettext("Thank you. Case {case}.", locale, case=card.case_id), _state(card, locale)]
    if channel:
        lines.append(gettext("Moderators review it in {channel}.", locale, channel=channel))
    lines.extend(_next(card, locale))
    if is_followed:
        lines.append(
            gettext("The drafts appear here when they are ready, within 14 minutes. Only you see this.", locale)
        )
    return shortened("\n".join(line for line in lines if line))


def with_drafts(card: Card, locale: str) -> str:
    """The drafts, best first, as many as fit into a message."""
    lines = [gettext("Drafts for case {case}:", locale, case=card.case_id)]
    end = "\n".join(_next(card, locale))
    room = MAX_CHARACTERS - len(end) - len(lines[0]) - _RESERVE
    for draft in card.drafts:
        forms = (_draft(card, draft, locale), _words(draft, locale))
        block = next((form for form in forms if len(form) < room), None)
        if block is None:
            lines.append(gettext("The others are too long for one message; moderators see them.", locale))
            break
        lines.append(block)
        room -= len(block) + 1
    return shortened("\n".join([*lines, end]))


def too_late(card: Card, locale: str) -> str:
    """What is said when Discord lets this answer be changed no longer."""
    return gettext(
        "Case {case} is still being worked on. Moderators get the drafts; ask again for the same post to see them.",
        locale,
        case=card.case_id,
    )


def intent_words(intent: Intent, locale: str) -> str:
    """What kind of reply it is, in the reader's language."""
    words = {
        Intent.INFORMATIVE: gettext("gives facts", locale),
        Intent.EMPATHETIC: gettext("shows empathy", locale),
        Intent.QUESTIONING: gettext("asks a question", locale),
        Intent.DENOUNCING: gettext("says that it is wrong", locale),
        Intent.POSITIVE: gettext("stays positive", locale),
    }
    return words[intent]


def ended(card: Card, locale: str) -> str:
    """What became of a case that has no drafts to show."""
    return shortened(f"{gettext('Case {case}.', locale, case=card.case_id)} {_state(card, locale)}")


def _state(card: Card, locale: str) -> str:
    if card.state in _WAITING:
        return _wait(card, locale)
    if card.state is CaseState.POSTED:
        return gettext("A reply to this post stands already.", locale)
    if card.state is CaseState.FOLDED:
        return gettext("It is almost the same as a post that was flagged before, and is decided with it.", locale)
    if card.state in CLOSED:
        return gettext("This case is closed.", locale)
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
            time=duration(waiting.expected_seconds, locale),
        )
    return gettext("A draft is expected in {time}.", locale, time=duration(waiting.expected_seconds, locale))


def duration(seconds: float, locale: str) -> str:
    """A time in words that promise no more than is known: seconds up to a minute and a half, then minutes."""
    if seconds <= 90:
        return gettext("{seconds} seconds", locale, seconds=max(1, round(seconds)))
    return gettext("{minutes} minutes", locale, minutes=round(seconds / 60))


def _next(card: Card, locale: str) -> list[str]:
    if card.post.is_from_elsewhere:
        return [
            gettext("These words stand in no message here, so nothing can be posted: copy what you can use.", locale)
        ]
    if card.state in CLOSED:
        return []
    if card.is_shadow:
        return [gettext("Antiphon only practises in this server: nothing is posted.", locale)]
    said = [gettext("Nothing is posted before a moderator approves the exact text.", locale)]
    if card.is_paused:
        said.append(gettext("Posting is paused at the moment.", locale))
    return said


def _draft(card: Card, draft: Draft, locale: str) -> str:
    lines = [_words(draft, locale)]
    cited = {receipt.evidence_id for receipt in draft.receipts if receipt.verdict is Verdict.SUPPORTED}
    lines += [
        f"-# {_plain(source.publisher)}, {_plain(source.title)}: <{source.url}>"
        for source in (evidence.source for evidence in card.evidence if evidence.id in cited)
    ]
    lines += [f"-# {gettext('Look at: {warning}', locale, warning=_plain(warning))}" for warning in draft.warnings]
    return "\n".join(lines)


def _words(draft: Draft, locale: str) -> str:
    """A draft without its sources, in a frame that nothing in it can leave."""
    plain = clean(draft.text)[0].replace("`", "'")
    return f"**{draft.rank}.** {intent_words(draft.intent, locale)}\n```\n{plain}\n```"


def _plain(text: str) -> str:
    """A text on one line in which Discord reads no markup."""
    return " ".join("".join(f"\\{sign}" if sign in "\\*_~|`<>[]()#@-" else sign for sign in text).split())
