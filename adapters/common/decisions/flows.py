"""Which flow each act begins, when it is pressed and when its dialog is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from adapters.common.cards.acts import Act
from adapters.common.decisions import approving, deciding, reading
from adapters.common.decisions.press import Flow

PRESSED: Final[Mapping[Act, Flow]] = {
    Act.HOLD: deciding.hold,
    Act.RELEASE: deciding.release,
    Act.APPROVE: approving.approve,
    Act.CONFIRM: approving.confirm,
    Act.UNDO: approving.undo,
    Act.EDIT: approving.edit,
    Act.REDRAFT: deciding.ask_redraft,
    Act.REDRAFT_AS: deciding.redraft,
    Act.OTHER_CLAIM: deciding.ask_claim,
    Act.CLAIM_AS: deciding.argue,
    Act.DECLINE: deciding.ask_decline,
    Act.DECLINE_AS: deciding.decline,
    Act.SILENT: deciding.ask_note,
    Act.MORE: reading.menu,
    Act.WITHDRAW: deciding.ask_note,
    Act.REOPEN: deciding.reopen,
    Act.IS_POSTED: deciding.settle(is_posted=True),
    Act.NOT_POSTED: deciding.settle(is_posted=False),
    Act.SPLIT: deciding.split,
    Act.RETRACT: deciding.ask_note,
    Act.SHOW_POST: reading.show_post,
    Act.SHOW_DRAFTS: reading.show_drafts,
    Act.SHOW_EVIDENCE: reading.show_evidence,
}
SUBMITTED: Final[Mapping[Act, Flow]] = {
    Act.EDIT: approving.propose_edited,
    Act.DECLINE: deciding.decline_with_note,
    Act.SILENT: deciding.stay_silent,
    Act.WITHDRAW: deciding.withdraw,
    Act.RETRACT: deciding.retract,
}
