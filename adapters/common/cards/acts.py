"""What a button, a select or a dialog of ours does, to which case, seen at which version.

Owns the list of acts. How a platform keeps a ``Target`` beside a component is its own business; it is all that is left
of one after a restart, so it must be kept whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """What a component does. Those that open a menu or a modal decide nothing themselves."""

    HOLD = "hold"
    RELEASE = "release"
    APPROVE = "approve"
    CONFIRM = "confirm"
    UNDO = "undo"
    EDIT = "edit"
    REDRAFT = "redraft"
    REDRAFT_AS = "redraft_as"
    OTHER_CLAIM = "other_claim"
    CLAIM_AS = "claim_as"
    DECLINE = "decline"
    DECLINE_AS = "decline_as"
    SILENT = "silent"
    MORE = "more"
    WITHDRAW = "withdraw"
    REOPEN = "reopen"
    IS_POSTED = "is_posted"
    NOT_POSTED = "not_posted"
    SPLIT = "split"
    RETRACT = "retract"
    SHOW_POST = "show_post"
    SHOW_DRAFTS = "show_drafts"
    SHOW_EVIDENCE = "show_evidence"


@dataclass(frozen=True, slots=True)
class Target:
    """What a component acts on. ``extra`` is a draft's rank, a proposal's id, or the key of a first person's text."""

    act: Act
    case_id: str
    version: int
    extra: str = ""
