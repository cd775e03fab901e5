"""What a button, a select or a modal of ours carries: what it does, to which case, seen at which version.

Owns the form of a custom id. It is all that is left of a component after a restart, so it must hold enough to act on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

TEMPLATE: Final = (
    r"antiphon:(?P<act>[a-z_]{1,16}):(?P<case>[0-9a-f]{32}):(?P<version>[0-9]{1,10})(?::(?P<extra>[0-9a-z]{1,16}))?"
)
_PATTERN: Final = re.compile(TEMPLATE)


class Act(StrEnum):
    """What a component does. Those that open a menu or a modal decide nothing themselves."""

    CLAIM = "claim"
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

    @property
    def custom_id(self) -> str:
        """At most 83 of the 100 characters that Discord keeps."""
        parts = ["antiphon", self.act, self.case_id, str(self.version), *([self.extra] if self.extra else [])]
        return ":".join(parts)


def parse(custom_id: str) -> Target | None:
    """What a custom id says; ``None`` if it is none of ours."""
    match = _PATTERN.fullmatch(custom_id)
    if match is None or match["act"] not in list(Act):
        return None
    return Target(Act(match["act"]), match["case"], int(match["version"]), match["extra"] or "")
