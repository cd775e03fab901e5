"""The words of a notice: a role is called to a case, a reply was not sent, or a flagged post was decided about.

The texts hold no word of a post, and a link to the card or the post.
"""

from typing import Final

from adapters.common.words.markup import Reader
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import short_number
from core.desk.rules.platforms import Notice
from core.desk.rules.policy import CallKind
from core.i18n.catalogs import gettext

_REASON: Final = 300
_PLACE: Final = 60


def notice_text(notice: Notice, reader: Reader, where: str = "") -> str:
    """The text of a notice, with a link to the card or the post.

    Args:
        where: the name of the place that the case is from; "" where only one can be meant, or it is not known.
    """
    locale, url = reader.locale, reader.markup.post_url(notice.card)
    if notice.kind is not None:
        text, label = _call_text(notice.kind, notice.case_id, locale), gettext("Go to the card", locale)
    elif notice.outcome is not None:
        text, label = _outcome(notice.outcome, locale), gettext("Go to the post", locale)
    else:
        text, label = _not_sent(notice, reader, where), gettext("Go to the card", locale)
    return f"{text} {reader.markup.link(label, url)}" if url else text


def _call_text(kind: CallKind, case_id: str, locale: str) -> str:
    number = short_number(case_id)
    if kind is CallKind.THREAT:
        return gettext("Case {number}: the post threatens or calls for violence.", locale, number=number)
    if kind is CallKind.SECOND:
        return gettext("Case {number}: one person approved a reply, and a second one is needed.", locale, number=number)
    return gettext("Case {number} has waited for a decision for a long time.", locale, number=number)


def _not_sent(notice: Notice, reader: Reader, where: str) -> str:
    number, reason = short_number(notice.case_id), reader.told(notice.reason, _REASON).rstrip(".")
    if not where:
        return gettext(
            "Case {number}: the reply that you approved was not sent. Reason: {reason}.",
            reader.locale,
            number=number,
            reason=reason,
        )
    return gettext(
        "Case {number} in {where}: the reply that you approved was not sent. Reason: {reason}.",
        reader.locale,
        number=number,
        where=reader.markup.inert(where, _PLACE),
        reason=reason,
    )


def _outcome(state: CaseState, locale: str) -> str:
    if state is CaseState.POSTED:
        return gettext("Thank you for flagging a post: a reply to it was posted.", locale)
    if state is CaseState.EXPIRED:
        return gettext("Thank you for flagging a post: the moderators did not come to it in time.", locale)
    return gettext("Thank you for flagging a post: the moderators decided about it without posting a reply.", locale)
