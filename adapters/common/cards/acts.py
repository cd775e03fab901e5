"""What one of our buttons, selects or dialogs does, to which case, seen at which version.

Each platform keeps a ``Target`` with a component in its own way. After a restart nothing else is left of the component,
so the target must be kept whole.
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
    MEND = "mend"
    REDRAFT = "redraft"
    REDRAFT_AS = "redraft_as"
    OTHER_CLAIM = "other_claim"
    CLAIM_AS = "claim_as"
    NOT_HATEFUL = "not_hateful"
    CLOSE = "close"
    CLOSE_AS = "close_as"
    MORE = "more"
    REOPEN = "reopen"
    IS_POSTED = "is_posted"
    NOT_POSTED = "not_posted"
    SPLIT = "split"
    RETRACT = "retract"
    RETRACT_AS = "retract_as"
    SHOW_POST = "show_post"
    SHOW_DRAFTS = "show_drafts"
    SHOW_EVIDENCE = "show_evidence"


@dataclass(frozen=True, slots=True)
class Target:
    """What a component acts on. ``extra`` is a draft's rank, the id of a text, or the key of a first person's text."""

    act: Act
    case_id: str
    version: int
    extra: str = ""
