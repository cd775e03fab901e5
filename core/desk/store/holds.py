"""Who holds a case now, so that two persons do not do the same work.

A hold ends by itself. It is not a state of the case and does not change its version.
"""

from datetime import datetime, timedelta
from math import ceil
from typing import Final

from sqlalchemy import select, update

from core.desk.database.connection import Session
from core.desk.rules.case_cards import Holder
from core.desk.schema import CaseRow
from core.desk.store.cases import Case, load
from core.desk.store.people import name_of
from core.errors import Conflict
from core.i18n.sentences import sentence

_MINUTE: Final = timedelta(minutes=1)


async def lock(session: Session, case_id: str) -> Case:
    """The case, locked against other decisions until this transaction is over; ``BadInput`` if there is none."""
    await session.execute(select(CaseRow.id).filter_by(id=case_id).with_for_update(key_share=True))
    return await load(session, case_id)


async def holder(session: Session, case: Case | CaseRow) -> Holder | None:
    if case.held_by is None or case.held_until is None or case.held_until <= session.moment:
        return None
    return Holder(await name_of(session, case.community_id, case.held_by), case.held_until)


async def require_free(session: Session, case: Case, who: str) -> None:
    """Refuse a person's decision about a case that somebody else holds.

    Raises:
        Conflict: somebody else holds it; the message says by whom and how long.
    """
    hold = await holder(session, case)
    if hold is not None and case.held_by != who:
        raise Conflict(
            sentence(
                "{name} holds the case; minutes left: {minutes}.",
                name=hold.name,
                minutes=ceil((hold.until - session.moment) / _MINUTE),
            ),
            remedy=sentence("Choose another case, or wait until then."),
        )


async def start(session: Session, case: Case, who: str, lease: timedelta) -> Case:
    """Give a person the hold of a locked case that is free, or extend their hold."""
    return await _set(session, case, who, session.moment + lease)


async def end(session: Session, case: Case) -> Case:
    """End the hold of a locked case."""
    return await _set(session, case, None, None)


async def _set(session: Session, case: Case, who: str | None, until: datetime | None) -> Case:
    values = {"held_by": who, "held_until": until, "unshown": CaseRow.unshown + 1}
    statement = update(CaseRow).where(CaseRow.id == case.id).values(values)
    await session.execute(statement, execution_options={"synchronize_session": False})
    return await load(session, case.id)
