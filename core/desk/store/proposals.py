"""Exact texts that people were shown to approve, in the database.

A proposal does not approve anything. It is kept so that a person confirms exactly what they were shown, and so that a
second person can read what the first one approved.
"""

from __future__ import annotations

import secrets
import string
from datetime import timedelta
from typing import Final

from sqlalchemy import and_, delete, or_, select

from core.desk.database.connection import Session
from core.desk.rules.approval import CLOSED
from core.desk.schema import CaseRow, FirstApprovalRow, ProposalRow
from core.desk.store.cases import Case
from core.desk.store.communities import Community

KEPT: Final = timedelta(days=1)
_ALPHABET: Final = string.ascii_lowercase + string.digits
_LENGTH: Final = 16


async def keep_proposal(
    session: Session,
    case: Case,
    community: Community,
    person_id: str,
    text: str,
    sha256: str,
    *,
    suggestion_id: str | None,
    draft_rank: int | None,
    quote: str = "",
) -> ProposalRow:
    """Keep a text for the present version of the case, under an id that cannot be guessed."""
    id_ = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    row = ProposalRow(
        id=id_,
        case_id=case.id,
        version=case.version,
        person_id=person_id,
        text=text,
        sha256=sha256,
        suggestion_id=suggestion_id,
        draft_rank=draft_rank,
        quote=quote,
        is_posting=community.is_posting,
        rules_version=community.rules_version,
        created_at=session.moment,
    )
    session.add(row)
    await session.flush()
    return row


async def proposal_with(session: Session, case: Case, sha256: str) -> ProposalRow | None:
    """The first proposal of these bytes for the present version of the case, shown to any person, or ``None``."""
    query = select(ProposalRow).filter_by(case_id=case.id, version=case.version, sha256=sha256)
    return await session.scalar(query.order_by(ProposalRow.created_at, ProposalRow.id).limit(1))


async def forget_proposals(session: Session, limit: int) -> int:
    """Delete those whose case is closed, and those older than ``KEPT``, at most ``limit``; returns how many.

    What a first person approved is kept until the case moves on, for the second one to read.
    """
    own_case = select(CaseRow.id).where(CaseRow.id == ProposalRow.case_id)
    closed = own_case.where(CaseRow.state.in_(CLOSED)).exists()
    awaited = (
        own_case.join(FirstApprovalRow, FirstApprovalRow.case_id == CaseRow.id)
        .where(CaseRow.version == ProposalRow.version, FirstApprovalRow.version == ProposalRow.version)
        .where(FirstApprovalRow.sha256 == ProposalRow.sha256)
        .exists()
    )
    old = or_(and_(ProposalRow.created_at <= session.moment - KEPT, ~awaited), closed)
    ids = list(await session.scalars(select(ProposalRow.id).where(old).limit(limit)))
    await session.execute(delete(ProposalRow).where(ProposalRow.id.in_(ids)))
    return len(ids)
