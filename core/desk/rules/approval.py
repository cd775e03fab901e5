"""The states of a case, and the only place that can make an ``ApprovedReply``.

The graph of states is declared here, and only the exact text that a person approved is posted. The store applies these
rules and does not repeat them. ``why_two`` says when one person's approval is not enough.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from core.engine.reading.signals import people_named
from core.engine.scoring.check import CheckedSentence
from core.engine.scoring.gates import unsupported_in_words
from core.engine.wording.text import words
from core.errors import NotAllowed
from core.i18n.sentences import Sentence, listed, sentence
from core.models import Action, FlaggedPost, PostRef, Suggestion


class CaseState(StrEnum):
    CAPTURED = "captured"
    QUEUED = "queued"
    DRAFTING = "drafting"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    SENDING = "sending"
    POSTED = "posted"
    DECLINED = "declined"
    NO_REPLY = "no_reply"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    NEEDS_PERSON = "needs_person"
    UNKNOWN = "unknown"
    FAILED = "failed"
    FOLDED = "folded"
    SHADOWED = "shadowed"
    RETRACTED = "retracted"


_S = CaseState
TRANSITIONS: Final[dict[CaseState, frozenset[CaseState]]] = {
    _S.CAPTURED: frozenset({_S.QUEUED, _S.FOLDED, _S.EXPIRED, _S.WITHDRAWN}),
    _S.FOLDED: frozenset({_S.QUEUED, _S.DECLINED, _S.NO_REPLY, _S.EXPIRED, _S.WITHDRAWN}),
    _S.QUEUED: frozenset({_S.DRAFTING, _S.NO_REPLY, _S.EXPIRED, _S.WITHDRAWN}),
    _S.DRAFTING: frozenset({_S.IN_REVIEW, _S.NEEDS_PERSON, _S.QUEUED, _S.NO_REPLY, _S.WITHDRAWN}),
    _S.IN_REVIEW: frozenset(
        {_S.APPROVED, _S.DECLINED, _S.NO_REPLY, _S.EXPIRED, _S.WITHDRAWN, _S.NEEDS_PERSON, _S.QUEUED}
    ),
    _S.APPROVED: frozenset(
        {_S.SENDING, _S.IN_REVIEW, _S.EXPIRED, _S.WITHDRAWN, _S.NEEDS_PERSON, _S.SHADOWED, _S.QUEUED}
    ),
    _S.SENDING: frozenset({_S.POSTED, _S.UNKNOWN, _S.FAILED, _S.APPROVED}),
    _S.UNKNOWN: frozenset({_S.POSTED, _S.FAILED, _S.NEEDS_PERSON, _S.SENDING}),
    _S.NEEDS_PERSON: frozenset(
        {_S.IN_REVIEW, _S.QUEUED, _S.DECLINED, _S.NO_REPLY, _S.WITHDRAWN, _S.POSTED, _S.FAILED, _S.EXPIRED}
    ),
    _S.FAILED: frozenset({_S.IN_REVIEW, _S.NEEDS_PERSON, _S.NO_REPLY, _S.WITHDRAWN, _S.EXPIRED, _S.QUEUED}),
    _S.POSTED: frozenset({_S.RETRACTED}),
    # Undone within the undo window, or opened again: by a moderator, or because the post was edited.
    _S.DECLINED: frozenset({_S.IN_REVIEW, _S.NEEDS_PERSON, _S.QUEUED}),
    _S.NO_REPLY: frozenset({_S.IN_REVIEW, _S.NEEDS_PERSON, _S.QUEUED, _S.FAILED}),
    _S.WITHDRAWN: frozenset({_S.IN_REVIEW, _S.NEEDS_PERSON, _S.QUEUED, _S.FAILED, _S.FOLDED}),
    _S.EXPIRED: frozenset({_S.IN_REVIEW, _S.QUEUED}),
    _S.SHADOWED: frozenset({_S.IN_REVIEW, _S.QUEUED}),
    _S.RETRACTED: frozenset(),
}
CLOSED: Final = frozenset({_S.POSTED, _S.DECLINED, _S.NO_REPLY, _S.EXPIRED, _S.WITHDRAWN, _S.SHADOWED, _S.RETRACTED})
"""The states in which nobody has anything left to do."""
IN_PROGRESS: Final = frozenset({_S.QUEUED, _S.DRAFTING})
"""Nobody has anything to decide before the drafts are there."""
REOPENED: Final = frozenset({_S.DECLINED, _S.NO_REPLY, _S.WITHDRAWN, _S.EXPIRED, _S.SHADOWED})
"""Closed without a reply, so that a moderator may open the case again; its closer may undo it for a short time."""
WRITABLE: Final = frozenset({_S.IN_REVIEW, _S.NEEDS_PERSON, _S.FAILED})
"""A person may write the reply; a case that needs a person, or whose send failed, comes back in review with it."""
_BEFORE: Final = {
    _S.CAPTURED: _S.QUEUED,
    _S.FOLDED: _S.FOLDED,
    _S.QUEUED: _S.QUEUED,
    _S.DRAFTING: _S.QUEUED,
    _S.IN_REVIEW: _S.IN_REVIEW,
    _S.APPROVED: _S.IN_REVIEW,
    _S.NEEDS_PERSON: _S.NEEDS_PERSON,
    _S.FAILED: _S.FAILED,
}


def undone_to(before: CaseState | None) -> CaseState | None:
    """Where a case goes if the decision that closed it in the state ``before`` is undone; ``None`` if nowhere.

    What it waited for begins anew: an approval is not given again by undoing its withdrawal.
    """
    return None if before is None else _BEFORE.get(before)


def state_words(state: CaseState) -> Sentence:
    words = {
        _S.CAPTURED: sentence("captured"),
        _S.QUEUED: sentence("queued"),
        _S.DRAFTING: sentence("being drafted"),
        _S.IN_REVIEW: sentence("in review"),
        _S.APPROVED: sentence("approved"),
        _S.SENDING: sentence("being sent"),
        _S.POSTED: sentence("posted"),
        _S.DECLINED: sentence("declined"),
        _S.NO_REPLY: sentence("left without a reply"),
        _S.EXPIRED: sentence("expired"),
        _S.WITHDRAWN: sentence("withdrawn"),
        _S.NEEDS_PERSON: sentence("waiting for a person"),
        _S.UNKNOWN: sentence("sent, and nobody knows yet whether it was posted"),
        _S.FAILED: sentence("failed"),
        _S.FOLDED: sentence("folded into another"),
        _S.SHADOWED: sentence("approved in shadow mode"),
        _S.RETRACTED: sentence("taken back"),
    }
    return words[state]


def check_transition(old: CaseState, new: CaseState) -> None:
    """Refuse a move that the graph does not declare.

    Raises:
        NotAllowed: the case cannot go from ``old`` to ``new``.
    """
    if new not in TRANSITIONS[old]:
        to = [state_words(state) for state in sorted(TRANSITIONS[old])]
        raise NotAllowed(
            sentence("A case that is {old} cannot become {new}.", old=state_words(old), new=state_words(new)),
            remedy=sentence("It can become: {allowed}.", allowed=listed(to))
            if to and old not in REOPENED
            else sentence("The case is closed; nothing is to be done."),
        )


def check_answerable(post: FlaggedPost) -> None:
    """Refuse to approve a reply where there is no message that it could answer.

    Raises:
        NotAllowed: no message of the platform has these words.
    """
    if post.is_from_elsewhere:
        raise NotAllowed(
            sentence("No message here has these words, so nothing can be posted."),
            remedy=sentence("Copy what you can use from the drafts, and close the case."),
        )


def text_hash(text: str, quote: str = "") -> str:
    """The SHA-256, in hexadecimal, of the exact UTF-8 bytes of a text; with a quote above it, of the hashes of both."""
    whole = hashlib.sha256(text.encode())
    if quote:
        whole = hashlib.sha256(whole.digest() + hashlib.sha256(quote.encode()).digest())
    return whole.hexdigest()


class _Seal:
    """The key to making an ``ApprovedReply``; only this module makes one. mypy and the running program both check it.

    It knows what was approved, so that ``dataclasses.replace`` cannot put another text under an old approval.
    """

    def __init__(self, *approved: object) -> None:
        self.approved = approved


@dataclass(frozen=True, slots=True)
class ApprovedReply:
    """A text that a person approved, bound to that person, the time and the hash of its exact bytes.

    ``quote``: words of the post that stand above it, an exact part of the post; "" for none. The hash binds them, too.
    Only ``approve`` and ``restore`` make one.
    """

    approval_id: str
    in_reply_to: PostRef
    text: str
    moderator: str
    approved_at: datetime
    sha256: str
    seal: _Seal = field(compare=False, repr=False)
    quote: str = ""

    def __post_init__(self) -> None:
        mine = self.approval_id, self.in_reply_to, self.text, self.moderator, self.approved_at, self.sha256, self.quote
        if not isinstance(self.seal, _Seal) or self.seal.approved != mine:
            raise NotAllowed(
                "An approved reply is made by core.desk.rules.approval alone.",
                remedy="Call core.desk.rules.approval.approve.",
            )

    @property
    def key(self) -> str:
        """The idempotency key of the send: 25 characters, the same at every attempt (reliability, 1.2, step 3)."""
        return base64.b32encode(hashlib.sha256(self.approval_id.encode()).digest()).decode()[:25]


def approve(
    *,
    approval_id: str,
    in_reply_to: PostRef,
    text: str,
    shown_sha256: str,
    moderator: str,
    at: datetime,
    quote: str = "",
) -> ApprovedReply:
    """Bind a moderator's approval to the text that was shown.

    Args:
        shown_sha256: ``text_hash`` of what the moderator saw when approving, the quote included.
        at: an aware time.
        quote: the words of the post that stand above the text; "" for none.

    Raises:
        NotAllowed: nobody approved, there is no text, or the person was shown another text than the one to be posted.
    """
    if not moderator.strip():
        raise NotAllowed("Nobody approved this reply.", remedy="Approve it as a moderator with a name.")
    if not text.strip():
        raise NotAllowed(
            sentence("An empty reply cannot be approved."), remedy=sentence("Write a reply, or close the case.")
        )
    if at.tzinfo is None:
        raise NotAllowed("The time of the approval has no time zone.", remedy="Pass an aware datetime.")
    digest = text_hash(text, quote)
    if digest != shown_sha256:
        raise NotAllowed(
            sentence("The text changed after it was shown."), remedy=sentence("Read the new text and approve it again.")
        )
    seal = _Seal(approval_id, in_reply_to, text, moderator, at, digest, quote)
    return ApprovedReply(approval_id, in_reply_to, text, moderator, at, digest, seal, quote)


def restore(
    *, approval_id: str, in_reply_to: PostRef, text: str, moderator: str, at: datetime, sha256: str, quote: str = ""
) -> ApprovedReply:
    """Rebuild the reply of a stored approval, to be sent.

    Raises:
        NotAllowed: the stored text, or the quote above it, is not the one that was approved.
    """
    if text_hash(text, quote) != sha256:
        raise NotAllowed(
            sentence(
                "The text of approval {approval} is not the one that was approved; it will not be posted.",
                approval=approval_id,
            ),
            remedy=sentence("Put the case in review again, and approve a text."),
        )
    return approve(
        approval_id=approval_id,
        in_reply_to=in_reply_to,
        text=text,
        shown_sha256=sha256,
        moderator=moderator,
        at=at,
        quote=quote,
    )


def why_two(suggestion: Suggestion, checked: Sequence[CheckedSentence]) -> tuple[str, ...]:
    """Why two persons must approve a reply, in sentences; none where one is enough.

    Args:
        suggestion: what the engine said about the post.
        checked: the reply, without what discloses Antiphon, checked against the evidence
            (``core.engine.scoring.check.check_edit``).
    """
    reasons = list[str]()
    if suggestion.reading.recommended_action is Action.REPORT:
        reasons.append(sentence("The post threatens or calls for violence."))
    if suggestion.reading.recommended_action is Action.SUPPORT_TARGET:
        reasons.append(sentence("The post attacks one person."))
    names = _private_people(suggestion, checked)
    reasons += [sentence("The reply names a person: “{name}”.", name=name) for name in names]
    reasons += [unsupported_in_words(item) for check in checked for item in check.unsupported]
    return tuple(dict.fromkeys(reasons))


def _private_people(suggestion: Suggestion, checked: Sequence[CheckedSentence]) -> list[str]:
    """The people whom a reply names, except those in the evidence, who are not private persons."""
    passages = (f"{p.text} {p.source.publisher} {p.source.title}" for p in suggestion.evidence)
    evidence_words = frozenset(word for passage in passages for word in words(passage))
    texts = [check.text for check in checked if not check.is_prepared]
    names = [name for text in texts for name in people_named(text, suggestion.reading.language)]
    return [name for name in names if not evidence_words.issuperset(words(name))]
