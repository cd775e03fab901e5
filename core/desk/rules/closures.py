"""Why a case is closed, or a reply taken back: reasons that a moderator says with one tap, and what each comes to."""

from enum import StrEnum
from typing import Final

from core.desk.rules.approval import TRANSITIONS, CaseState
from core.errors import BadInput
from core.i18n.sentences import Sentence, sentence


class CloseReason(StrEnum):
    """Why a case gets no reply; the commonest first, then what is wrong with all of its drafts.

    Reasons are counted by the words that the store keeps, so a reason must not be reworded once it was used.
    """

    NOT_HATEFUL = "not hateful"
    SILENCE = "silence is better here"
    HANDLED = "handled by moderators already"
    WRONG_FACT = "wrong fact"
    PREACHY = "preachy"
    OFF_TONE = "off tone"
    REPEATS_SLUR = "repeats the slur"
    UNSAFE = "unsafe"
    MISTAKE = "flagged by mistake"
    OTHER = "other"


class RetractReason(StrEnum):
    """Why a posted reply is taken back."""

    POST_CHANGED = "the post changed or is gone"
    WRONG = "something in it is wrong"
    HARM = "it makes things worse"
    ASKED = "somebody asked for it"
    MISTAKE = "posted by mistake"
    OTHER = "other"


_CLOSED_AS: Final = {
    CloseReason.NOT_HATEFUL: CaseState.NO_REPLY,
    CloseReason.SILENCE: CaseState.NO_REPLY,
    CloseReason.HANDLED: CaseState.NO_REPLY,
    CloseReason.MISTAKE: CaseState.WITHDRAWN,
}


def closed_as(reason: CloseReason) -> CaseState:
    """The state of a case that was closed for a reason: whatever is wrong with drafts declines them."""
    return _CLOSED_AS.get(reason, CaseState.DECLINED)


def close_reasons(state: CaseState) -> list[CloseReason]:
    """The reasons for which a person can close a case in this state.

    A folded case is decided with the one that stands for it; only its flag can be taken back.
    """
    ends = frozenset({CaseState.WITHDRAWN}) if state is CaseState.FOLDED else TRANSITIONS[state]
    return [reason for reason in CloseReason if closed_as(reason) in ends]


def close_reason(name: str) -> CloseReason:
    """The reason that a form or a command names.

    Raises:
        BadInput: there is no such reason.
    """
    try:
        return CloseReason(name)
    except ValueError as err:
        raise BadInput(
            sentence("Nobody can close a case for the reason {said}.", said=f"{name!r}"),
            remedy=sentence("Say one of: {known}.", known=", ".join(CloseReason)),
        ) from err


def why_closed(reason: CloseReason) -> Sentence:
    words = {
        CloseReason.NOT_HATEFUL: sentence("not hateful"),
        CloseReason.SILENCE: sentence("silence is better here"),
        CloseReason.HANDLED: sentence("handled by moderators already"),
        CloseReason.WRONG_FACT: sentence("wrong fact"),
        CloseReason.PREACHY: sentence("preachy"),
        CloseReason.OFF_TONE: sentence("off tone"),
        CloseReason.REPEATS_SLUR: sentence("repeats the slur"),
        CloseReason.UNSAFE: sentence("unsafe"),
        CloseReason.MISTAKE: sentence("flagged by mistake"),
        CloseReason.OTHER: sentence("other"),
    }
    return words[reason]


def close_words(reason: CloseReason) -> Sentence:
    """How the history of a case records that it was closed."""
    why = why_closed(reason)
    words = {
        CaseState.DECLINED: sentence("declined: {why}", why=why),
        CaseState.NO_REPLY: sentence("left without a reply: {why}", why=why),
        CaseState.WITHDRAWN: sentence("withdrawn: {why}", why=why),
    }
    return words[closed_as(reason)]


def retract_words(reason: RetractReason | str) -> Sentence:
    """How the history of a case records that its reply was taken back."""
    words = {
        RetractReason.POST_CHANGED: sentence("the post changed or is gone"),
        RetractReason.WRONG: sentence("something in it is wrong"),
        RetractReason.HARM: sentence("it makes things worse"),
        RetractReason.ASKED: sentence("somebody asked for it"),
        RetractReason.MISTAKE: sentence("posted by mistake"),
        RetractReason.OTHER: sentence("other"),
    }
    return sentence("taken back: {why}", why=words[RetractReason(reason)])
