"""What became of an author's earlier cases, for the card of the next one.

Owns what counts as which outcome. Works inside the caller's transaction and never commits.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from sqlalchemy import func, select

from bot.store.cases.cases import Case
from bot.store.engine.database import Session
from bot.store.schema import CaseRow
from core.moderation.approval import CLOSED, CaseState
from core.moderation.cards import EarlierCases

_COUNTED: Final = 20
"""Of how many cases, the newest, the outcomes are counted: what a card costs does not grow with its author's cases."""
_ANSWERED: Final = (CaseState.POSTED, CaseState.RETRACTED)


async def earlier_cases(session: Session, case: Case) -> EarlierCases | None:
    """What became of the cases of the same author that were opened in this community before this one; the newest 20.

    ``None`` where nobody is known to have written the post.
    """
    if not case.post.author:
        return None
    newest = (
        select(CaseRow.state, CaseRow.is_hateful)
        .where(CaseRow.author == case.post.author, CaseRow.community_id == case.community_id)
        .where(CaseRow.created_at < case.created_at)
        .order_by(CaseRow.created_at.desc())
        .limit(_COUNTED)
        .subquery()
    )
    query = select(newest.c.state, newest.c.is_hateful, func.count()).group_by(newest.c.state, newest.c.is_hateful)
    counted = Counter[str]()
    for state, is_hateful, number in await session.execute(query):
        counted[_outcome(state, is_hateful)] += number
    return EarlierCases(**counted)


def _outcome(state: CaseState, is_hateful: bool | None) -> str:
    """The field of ``EarlierCases`` that a case counts in."""
    if state in _ANSWERED:
        return "answered"
    if state is CaseState.SHADOWED:
        return "rehearsed"
    if state not in CLOSED:
        return "open"
    return "not_hateful" if is_hateful is False else "unanswered"
