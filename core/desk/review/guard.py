"""Who may decide about a case at this moment.

The questions are the same for every decision, in this order: may this person do it here, did they see the case as it is
now, and does somebody else hold it? Nobody learns anything about a case before the first is answered.
"""

from __future__ import annotations

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import OnCase, Person, may_on_case
from core.desk.store import cases as store
from core.desk.store import holds
from core.desk.store.cases import Case
from core.desk.store.people import require_on_case, roles_of
from core.errors import Conflict


async def decider(
    session: Session, case_id: str, version: int, by: Person, action: OnCase, state: CaseState | None = None
) -> tuple[Case, str]:
    """The case, locked until the transaction is over, and the pseudonym of the person who decides about it.

    Args:
        version: the version of the case that the person saw.
        state: the only state in which this can be decided; ``None`` leaves that to the transition.

    Raises:
        BadInput: there is no such case.
        NotAllowed: the person may not do this here, or the case is in a different state.
        Conflict: the case has another version, or somebody else holds it.
    """
    case = await holds.lock(session, case_id)
    who = await require_on_case(session, case.community_id, by, action, flagged_by=case.post.flagged_by)
    try:
        case = await store.load_expected(session, case_id, version, state or case.state)
        await holds.require_free(session, case, who)
    except Conflict as err:
        if not may_on_case(await roles_of(session, case.community_id, who), OnCase.READ):
            raise err.without_names() from err  # who only flagged the post learns of no moderator
        raise
    return case, who


def wrote_post(case: Case, who: str) -> bool:
    """Whether a person decides about a post of their own that others flagged."""
    return who == case.post.author != case.post.flagged_by
