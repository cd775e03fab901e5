"""The state of the chat platforms in each process that serves them, for the person who runs Antiphon.

Here rows are written, too: each process keeps its own. They hold sentences of the project, and no word of a case.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select

from core.desk.database.connection import Session
from core.desk.rules.case_cards import PlatformTrouble
from core.desk.schema import PlatformRow, PlatformState
from core.i18n.sentences import from_json, to_json


@dataclass(frozen=True, slots=True)
class PlatformStatus:
    """The state of a platform in the process that serves it.

    Attributes:
        failures: how many attempts to connect failed in a row, or ended too soon.
        message: why it is not connected, with ``remedy``; "" where nothing went wrong.
        wait_seconds: how long a platform that waits does so before the next attempt.
        note: a line for the person who runs Antiphon, such as the address that adds a bot to a server; it is not kept.
    """

    platform: str
    state: PlatformState
    failures: int = 0
    message: str = ""
    remedy: str = ""
    wait_seconds: float = 0.0
    note: str = ""


async def keep(session: Session, owner: str, standings: Sequence[PlatformStatus], lease: timedelta) -> None:
    """Store the states of a process's platforms, for ``lease``; an unchanged state keeps the time since which it holds.

    Rows of processes that are gone are replaced by that of a process which serves the same platform.
    """
    names = [standing.platform for standing in standings]
    await session.execute(
        delete(PlatformRow).where(
            PlatformRow.platform.in_(names), PlatformRow.owner != owner, PlatformRow.until < session.moment
        )
    )
    for standing in standings:
        row = await session.get(PlatformRow, (standing.platform, owner), populate_existing=True)
        now = _row(session, owner, standing, lease)
        if row is not None and (row.state, row.failures) == (now.state, now.failures):
            now.since, now.again_at = row.since, row.again_at
        await session.merge(now)


def _row(session: Session, owner: str, standing: PlatformStatus, lease: timedelta) -> PlatformRow:
    is_waiting = standing.state is PlatformState.WAITING
    return PlatformRow(
        platform=standing.platform,
        owner=owner,
        state=standing.state,
        since=session.moment,
        failures=standing.failures,
        message=to_json(standing.message),
        remedy=to_json(standing.remedy),
        again_at=session.moment + timedelta(seconds=standing.wait_seconds) if is_waiting else None,
        until=session.moment + lease,
    )


async def forget(session: Session, owner: str) -> None:
    """Record that a process no longer serves anything."""
    await session.execute(delete(PlatformRow).where(PlatformRow.owner == owner))


@dataclass(frozen=True, slots=True)
class SeenPlatform:
    """A row of the table as people see it; ``is_gone`` where its process ended without saying so."""

    platform: str
    state: PlatformState
    since: datetime
    failures: int
    message: str
    remedy: str
    again_at: datetime | None
    is_gone: bool


async def seen(session: Session) -> list[SeenPlatform]:
    """The state of every platform in every process, by name."""
    rows = await session.scalars(select(PlatformRow).order_by(PlatformRow.platform, PlatformRow.owner))
    return [
        SeenPlatform(
            row.platform,
            row.state,
            row.since,
            row.failures,
            from_json(row.message),
            from_json(row.remedy),
            row.again_at,
            row.until < session.moment,
        )
        for row in rows
    ]


async def troubles(session: Session) -> tuple[PlatformTrouble, ...]:
    """The platforms that no process is connected to, although one tries."""
    rows = [row for row in await seen(session) if not row.is_gone]
    connected = {row.platform for row in rows if row.state is PlatformState.CONNECTED}
    failed = {row.platform: row for row in rows if row.platform not in connected and row.message}
    return tuple(PlatformTrouble(row.platform, row.message, row.since) for row in failed.values())
