"""What can be read about cases, by Antiphon's own parts: no role is asked for."""

from collections.abc import Sequence

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import ReviewOfPrepared, prepared_of
from core.desk.store import cases as store
from core.desk.store import own_cards, suggestions
from core.desk.store.audit import AuditEntry
from core.models import Draft


class CaseQueries:
    """What the database holds about cases."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def case(self, case_id: str) -> store.Case:
        """The case as it is now; ``BadInput`` if there is none."""
        return await self._database.run("read a case", lambda session: store.load(session, case_id))

    async def cases(self, state: CaseState | None = None) -> list[store.Case]:
        """The cases of one state, or all, oldest first."""
        return await self._database.run("list cases", lambda session: store.all_cases(session, *filter(None, [state])))

    async def history(self, case_id: str) -> list[AuditEntry]:
        """Every move of a case, oldest first; ``BadInput`` if there is no such case."""

        async def work(session: Session) -> list[AuditEntry]:
            await store.load(session, case_id)
            return await store.history(session, case_id)

        return await self._database.run("read a history", work)

    async def suggestion(self, case_id: str) -> suggestions.StoredSuggestion | None:
        """The newest suggestion of a case, with the id that an approval takes; ``None`` before there is one."""

        async def work(session: Session) -> suggestions.StoredSuggestion | None:
            await store.load(session, case_id)
            return await suggestions.latest_suggestion(session, case_id)

        return await self._database.run("read a suggestion", work)

    async def reviews(self, community_id: str, drafts: Sequence[Draft]) -> dict[str, ReviewOfPrepared]:
        ids = prepared_of(drafts)
        return await self._database.run("read reviews", lambda s: own_cards.reviews_of(s, community_id, ids))
