"""The open cases of a community as a list, and the case that people call by a short number.

Reads only. Works inside the caller's transaction and never commits.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import func, select

from bot.store.engine.database import Session
from bot.store.people.people import name_of
from bot.store.schema import CaseRow, ReviewCardRow
from core.errors import BadInput
from core.i18n.sentences import sentence
from core.models import PostRef
from core.moderation.approval import CLOSED, CaseState
from core.moderation.cards import Holder, OpenCase, OpenCases
from core.moderation.case_numbers import beginning_of_id, short_number

PAGE: Final = 10
_UNLISTED: Final = CLOSED | {CaseState.FOLDED}
"""A folded case is decided with the one that stands for it, which is listed."""
_MOST_ALIKE: Final = 8


async def open_cases(session: Session, community_id: str, page: int, size: int = PAGE) -> OpenCases:
    """A page of a community's open cases, oldest first; the last page instead of one that there is not."""
    is_listed = (CaseRow.community_id == community_id, CaseRow.state.not_in(_UNLISTED))
    counted = await session.execute(select(func.count(), func.min(CaseRow.created_at)).where(*is_listed))
    total, oldest = counted.one()
    pages = max(1, -(-int(total) // size))
    page = min(max(page, 0), pages - 1)
    query = (
        select(CaseRow, ReviewCardRow)
        .outerjoin(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
        .where(*is_listed)
        .order_by(CaseRow.created_at, CaseRow.id)
        .offset(page * size)
        .limit(size)
    )
    found = [await _listed(session, case, card) for case, card in list(await session.execute(query))]
    return OpenCases(tuple(found), page, pages, int(total), oldest)


async def _listed(session: Session, case: CaseRow, card: ReviewCardRow | None) -> OpenCase:
    place = None if card is None else PostRef(case.platform, case.community, card.channel, card.message)
    return OpenCase(case.id, case.state, case.created_at, await _holder(session, case), place)


async def _holder(session: Session, case: CaseRow) -> Holder | None:
    if case.held_by is None or case.held_until is None or case.held_until <= session.moment:
        return None
    return Holder(await name_of(session, case.community_id, case.held_by), case.held_until)


async def case_numbered(session: Session, community_id: str, number: str) -> str:
    """The id of the only case of a community that begins so; of several, the only open one.

    Raises:
        BadInput: there is none, or the number fits several.
    """
    begun = beginning_of_id(number)
    query = (
        select(CaseRow.id, CaseRow.state)
        .where(CaseRow.community_id == community_id, CaseRow.id >= begun, CaseRow.id < begun + "g")
        .order_by(CaseRow.id)
        .limit(_MOST_ALIKE)
    )
    found = list(await session.execute(query)) if begun else []
    alike = [case_id for case_id, state in found if state not in CLOSED] or [case_id for case_id, _ in found]
    if not alike:
        raise BadInput(
            sentence("There is no case {case} here.", case=number),
            remedy=sentence("Take the number from the list of open cases, or from the card."),
        )
    if len(alike) > 1:
        raise BadInput(
            sentence("Several cases begin with {case}.", case=short_number(begun)),
            remedy=sentence("Type more of the number: {numbers}.", numbers=", ".join(_apart(alike))),
        )
    return alike[0]


def _apart(ids: list[str]) -> list[str]:
    """As much of each id as tells them apart."""
    length = next((n for n in range(1, 33) if len({case_id[:n] for case_id in ids}) == len(ids)), 32)
    return [case_id[:length].upper() for case_id in ids]
