"""What people are told without having asked: why a role is called to a case, and what became of an approved reply.

A notice holds no word of a post.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.desk.rules.approval import CaseState
from core.models import PostRef


class CallKind(StrEnum):
    """Why a role of the community is called to a case."""

    THREAT = "threat"
    SECOND = "second"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Notice:
    """One message about a case, as plain values.

    Attributes:
        key: the same for the same notice, however often it is tried.
        kind: why a role is called; ``None`` tells one person: who approved, that their reply was not sent, or who
            flagged, the ``outcome``.
        card: where the card of the case is; for a flagger, who cannot see it, the post that they flagged.
        outcome: how the case ended, for a person who flagged the post.
        reason: why the reply was not sent; a sentence of Antiphon.
        language: the language that the community chose, as ISO 639-1; ``None`` for none.
    """

    key: str
    case_id: str
    community: str
    card: PostRef
    kind: CallKind | None = None
    outcome: CaseState | None = None
    reason: str = ""
    language: str | None = None
