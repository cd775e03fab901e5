"""Offices that one process holds at a time, each under a lease that it renews."""

from datetime import datetime, timedelta

from sqlalchemy import delete, or_, update

from core.desk.database.connection import Database, Session, insert_new
from core.desk.runtime.lease import give_back
from core.desk.schema import LeadershipRow


class Office:
    """An office that one process holds at a time.

    Args:
        owner: names this process among all.
        lease: how long its holder may be silent before another process takes it over.
    """

    def __init__(self, database: Database, name: str, owner: str, lease: timedelta) -> None:
        self._database = database
        self._name = name
        self._owner = owner
        self._lease = lease
        self._until: datetime | None = None

    async def is_held(self, session: Session) -> bool:
        """Whether this process holds the office: it takes a free one, and renews its own at half time.

        A holder whose time ends later than two leases from now took it before the clock was put back, and counts as
        gone.
        """
        now = session.moment
        if self._until is not None and self._lease / 2 < self._until - now <= self._lease:
            return True
        until = now + self._lease
        row = {"office": self._name, "owner": self._owner, "until": until}
        is_held = await insert_new(session, LeadershipRow, row, "office") or await self._take_over(session, until)
        self._until = until if is_held else None
        return is_held

    async def _take_over(self, session: Session, until: datetime) -> bool:
        now = session.moment
        is_free = or_(
            LeadershipRow.owner == self._owner, LeadershipRow.until < now, LeadershipRow.until > now + 2 * self._lease
        )
        statement = (
            update(LeadershipRow)
            .where(LeadershipRow.office == self._name, is_free)
            .values(owner=self._owner, until=until)
            .returning(LeadershipRow.office)
        )
        return (await session.execute(statement)).first() is not None

    async def resign(self) -> None:
        """Give the office back, so that the next holder need not wait."""
        self._until = None
        own = delete(LeadershipRow).where(LeadershipRow.office == self._name, LeadershipRow.owner == self._owner)
        await give_back(
            f"the office {self._name!r}", self._database.run("resign", lambda session: session.execute(own))
        )
