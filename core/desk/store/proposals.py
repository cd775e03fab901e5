"""Exact texts that people were shown to approve, in the database.

A proposal does not approve anything. It is kept so that a person confirms exactly what they were shown, and so that a
second person can read what the first one approved.
"""

from __future__ import annotations

import secrets
import string
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Proposal:
    """One exact text for one version of a case: ``text`` is the person's part, ``sha256`` of all that would be posted.

    ``quote`` are the words of the post that would stand above it, which the hash binds, too.
    ``is_posting`` and ``rules_version`` are the community's when the person was shown it: what approving it does.
    ``suggestion_id`` and ``draft_rank`` name the draft that it began as, if any; ``person_id`` is a pseudonym. A text
    that was refused has no hash (""): it is kept for its writer to mend, and cannot be approved.
    """

    id: str
    case_id: str
    version: int
    person_id: str
    text: str
    sha256: str
    suggestion_id: str | None
    draft_rank: int | None
    quote: str
    is_posting: bool
    rules_version: int


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
) -> Proposal:
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
    return _proposal(row)


async def proposal_of(session: Session, proposal_id: str) -> Proposal | None:
    """A proposal that is still kept, or ``None``."""
    row = await session.get(ProposalRow, proposal_id, populate_existing=True)
    return None if row is None else _proposal(row)


def _proposal(row: ProposalRow) -> Proposal:
    return Proposal(
        id=row.id,
        case_id=row.case_id,
        version=row.version,
        person_id=row.person_id,
        text=row.text,
        sha256=row.sha256,
        suggestion_id=row.suggestion_id,
        draft_rank=row.draft_rank,
        quote=row.quote,
        is_posting=row.is_posting,
        rules_version=row.rules_version,
    )


async def proposal_with(session: Session, case: Case, sha256: str) -> Proposal | None:
    """The first proposal of these bytes for the present version of the case, shown to any person, or ``None``."""
    query = select(ProposalRow.id).filter_by(case_id=case.id, version=case.version, sha256=sha256)
    row = await session.scalar(query.order_by(ProposalRow.created_at, ProposalRow.id).limit(1))
    return None if row is None else await proposal_of(session, row)


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
