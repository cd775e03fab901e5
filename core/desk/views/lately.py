"""What people decided lately in one community, for the people who share the work."""

from __future__ import annotations

import re
from typing import Final

from sqlalchemy import select

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import DecidedLately
from core.desk.schema import AuditRow, CaseRow, FirstApprovalRow
from core.desk.store.people import known_name, name_of
from core.i18n.sentences import Sentence, sentence
from core.models import PostRef

MOST: Final = 20
_FIRST: Final = sentence("approved first; another person must approve the same text")
_PSEUDONYM: Final = re.compile(r"\bp-[0-9a-f]{20}\b")


async def lately(session: Session, community_id: str) -> tuple[DecidedLately, ...]:
    """The newest decisions about cases of a community by people, undone ones included, newest first."""
    query = (
        select(AuditRow, CaseRow)
        .join(CaseRow, CaseRow.id == AuditRow.stream)
        .where(CaseRow.community_id == community_id, AuditRow.from_state.is_not(None), AuditRow.actor.startswith("p-"))
        .order_by(AuditRow.at.desc(), AuditRow.id.desc())
        .limit(MOST)
    )
    decisions: list[DecidedLately] = []
    for line, case in (await session.execute(query)).all():
        name, why = (
            await name_of(session, community_id, line.actor),
            await with_names(session, community_id, line.reason),
        )
        decisions.append(DecidedLately(case.id, _ref(case), line.to_state or case.state, why, name, line.at))
    firsts = (
        select(FirstApprovalRow, CaseRow)
        .join(CaseRow, CaseRow.id == FirstApprovalRow.case_id)
        .where(CaseRow.community_id == community_id)
        .order_by(FirstApprovalRow.at.desc(), FirstApprovalRow.sha256)
        .limit(MOST)
    )
    for first, case in (await session.execute(firsts)).all():
        name = await name_of(session, community_id, first.moderator)
        decisions.append(DecidedLately(case.id, _ref(case), CaseState.IN_REVIEW, _FIRST, name, first.at))
    return tuple(sorted(decisions, key=lambda decision: decision.at, reverse=True)[:MOST])


def _ref(case: CaseRow) -> PostRef:
    return PostRef(case.platform, case.community, case.channel, case.message)


async def with_names(session: Session, community_id: str, reason: str) -> str:
    """A reason of the log, which holds no names, with the names of the people in it."""
    values = {who: await known_name(session, community_id, who) for who in set(_PSEUDONYM.findall(reason))}
    if not any(values.values()):
        return reason
    if isinstance(reason, Sentence):
        values_by_key = {key: values.get(str(value)) or value for key, value in reason.values.items()}
        return Sentence(reason.template, values_by_key)
    return _PSEUDONYM.sub(lambda match: values[match[0]] or match[0], reason)
