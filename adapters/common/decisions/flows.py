"""Which flow each act begins, when it is pressed and when its dialog is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from adapters.common.cards.acts import Act
from adapters.common.decisions import approving, closing, deciding, reading
from adapters.common.decisions.press import Flow

PRESSED: Final[Mapping[Act, Flow]] = {
    Act.HOLD: deciding.hold,
    Act.RELEASE: deciding.release,
    Act.APPROVE: approving.approve,
    Act.CONFIRM: approving.confirm,
    Act.UNDO: approving.undo,
    Act.EDIT: approving.edit,
    Act.MEND: approving.mend,
    Act.REDRAFT: deciding.ask_redraft,
    Act.REDRAFT_AS: deciding.redraft,
    Act.OTHER_CLAIM: deciding.ask_claim,
    Act.CLAIM_AS: deciding.argue,
    Act.NOT_HATEFUL: closing.not_hateful,
    Act.CLOSE: closing.ask_why,
    Act.CLOSE_AS: closing.close,
    Act.MORE: reading.menu,
    Act.REOPEN: deciding.reopen,
    Act.IS_POSTED: deciding.settle(is_posted=True),
    Act.NOT_POSTED: deciding.settle(is_posted=False),
    Act.SPLIT: deciding.split,
    Act.RETRACT: closing.ask_why_retract,
    Act.RETRACT_AS: closing.retract,
    Act.SHOW_POST: reading.show_post,
    Act.SHOW_DRAFTS: reading.show_drafts,
    Act.SHOW_EVIDENCE: reading.show_evidence,
}
SUBMITTED: Final[Mapping[Act, Flow]] = {
    Act.EDIT: approving.propose_edited,
    Act.CLOSE_AS: closing.close_with_note,
    Act.RETRACT_AS: closing.retract_with_note,
}
