"""The inbox: updates of a platform, from the moment of their arrival until they are dealt with.

What an update says is erased when it was dealt with; its number stays for some days, so that it is not handled again.
``StoredInbox`` implements ``core.desk.rules.platforms.UpdateInbox``, and opens its own transactions.
"""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import delete, func, or_, select, update

from core.desk.database.connection import Database, Session, insert_all_new, insert_or_set
from core.desk.rules.platforms import ArrivedUpdate, WaitingUpdate
from core.desk.schema import OffsetRow, UpdateRow, UpdateState
from core.desk.store.leadership import Office

KEPT: Final = timedelta(days=6)
"""How long a number counts. Telegram keeps an update for a day, and may number anew after a week without any
(core.telegram.org/bots/api, "Update", ``update_id``)."""
LEASE: Final = timedelta(seconds=10)
"""How long after a crash another process waits before it hands out what the dead one had in hand."""
AT_ONCE: Final = 200
_KEY: Final = ("platform", "account", "number")


class StoredInbox:
    """The updates of one account on one platform.

    Args:
        owner: names this process among all.
        lease: how long this process may be silent before another one hands out what waits.
    """

    def __init__(
        self, database: Database, platform: str, account: str, owner: str, *, lease: timedelta = LEASE
    ) -> None:
        self._database = database
        self._own: dict[str, Any] = {"platform": platform, "account": account}
        self._office = Office(database, f"updates:{platform}:{account}", owner, lease)

    async def keep(self, updates: Sequence[ArrivedUpdate], cursor: str | None = None) -> None:
        """Commit updates and where to go on asking, all or nothing."""

        async def work(session: Session) -> None:
            numbers = [each.number for each in updates]
            outdated = delete(UpdateRow).filter_by(**self._own).where(UpdateRow.number.in_(numbers))
            await session.execute(outdated.where(_is_old(session), UpdateRow.state != UpdateState.WAITING))
            await insert_all_new(session, UpdateRow, [self._row(session, each) for each in updates], *_KEY)
            if cursor is not None:
                await insert_or_set(session, OffsetRow, self._own, {"cursor": cursor, "stored_at": session.moment})

        await self._database.run("keep updates", work)

    def _row(self, session: Session, each: ArrivedUpdate) -> dict[str, Any]:
        return {
            **self._own,
            "number": each.number,
            "state": UpdateState.WAITING,
            "lane": each.lane,
            "is_urgent": each.is_urgent,
            "payload": json.dumps(each.payload),
            "received_at": session.moment,
        }

    async def cursor(self, within: timedelta | None = None) -> str | None:
        """What to ask for next; ``None`` where it was never stored, or longer ago than ``within``."""

        async def work(session: Session) -> str | None:
            query = select(OffsetRow.cursor).filter_by(**self._own)
            if within is not None:
                query = query.where(OffsetRow.stored_at > session.moment - within)
            return await session.scalar(query)

        return await self._database.run("look where to go on asking", work)

    async def waiting(self) -> Sequence[WaitingUpdate]:
        """The first ``AT_ONCE`` updates to handle; none while another process hands them out."""

        async def work(session: Session) -> list[WaitingUpdate]:
            if not await self._office.is_held(session):
                return []
            query = select(UpdateRow).filter_by(**self._own, state=UpdateState.WAITING)
            order = UpdateRow.is_urgent.desc(), UpdateRow.received_at, UpdateRow.number
            rows = await session.scalars(query.order_by(*order).limit(AT_ONCE))
            return [_waiting(session, row) for row in rows]

        return await self._database.run("hand out updates", work)

    async def done(self, number: int) -> None:
        """Record that an update was dealt with, and erase what it said."""
        await self._settle(number, {"state": UpdateState.DONE, "payload": None})

    async def put_aside(self, number: int, *, is_known: bool) -> None:
        """Keep an update that nobody could deal with, and hand it out no more."""
        await self._settle(number, {"state": UpdateState.FAILED if is_known else UpdateState.UNKNOWN})

    async def _settle(self, number: int, values: dict[str, Any]) -> None:
        changed = update(UpdateRow).filter_by(**self._own, number=number, state=UpdateState.WAITING).values(**values)
        await self._database.run("settle an update", lambda session: session.execute(changed))

    async def release(self) -> None:
        await self._office.resign()


def _waiting(session: Session, row: UpdateRow) -> WaitingUpdate:
    arrived = ArrivedUpdate(row.number, json.loads(row.payload or "{}"), row.lane, row.is_urgent)
    return WaitingUpdate(arrived, row.received_at, session.moment)


def _is_old(session: Session) -> Any:
    return UpdateRow.received_at <= session.moment - KEPT


async def forget_old(session: Session, words_kept: timedelta, most: int) -> tuple[int, int]:
    """Delete numbers that count no longer, and erase words that were kept long enough.

    Args:
        words_kept: how long the words of an update that nobody dealt with are kept, if that is shorter than ``KEPT``.
        most: how many rows are deleted, and how many are erased, at most.

    Returns:
        How many rows were deleted, and how many of these and others lost words.
    """
    numbers = select(UpdateRow.platform, UpdateRow.account, UpdateRow.number, UpdateRow.payload)
    old = numbers.where(_is_old(session)).limit(most).with_for_update(skip_locked=True)
    rows = list(await session.execute(old))
    for row in rows:
        await session.execute(delete(UpdateRow).filter_by(**{name: getattr(row, name) for name in _KEY}))
    late = UpdateRow.received_at <= session.moment - min(words_kept, KEPT)
    query = select(UpdateRow).where(UpdateRow.payload.is_not(None), late).limit(most)
    worded = list(await session.scalars(query.with_for_update(skip_locked=True)))
    for entry in worded:
        _erase(entry)
    await session.flush()
    return len(rows), len(worded) + sum(row.payload is not None for row in rows)


async def forget_person(session: Session, platform: str, user: str) -> int:
    """Erase every update that names a person, handled or not; returns how many there were."""
    rows = await _rows_naming(session, platform, user)
    for row in rows:
        _erase(row)
    await session.flush()
    return len(rows)


async def names_person(session: Session, platform: str, user: str) -> bool:
    """Whether an update names a person, handled or not."""
    return bool(await _rows_naming(session, platform, user))


async def _rows_naming(session: Session, platform: str, user: str) -> list[UpdateRow]:
    mentions_them = UpdateRow.payload.contains(json.dumps(user)[1:-1], autoescape=True)
    query = select(UpdateRow).where(UpdateRow.platform == platform, mentions_them)
    return [row for row in await session.scalars(query) if _names(json.loads(row.payload or "{}"), user)]


async def put_aside(session: Session) -> dict[tuple[str, UpdateState], int]:
    """How many updates nobody could deal with, by platform and reason."""
    aside = or_(UpdateRow.state == UpdateState.FAILED, UpdateRow.state == UpdateState.UNKNOWN)
    query = select(UpdateRow.platform, UpdateRow.state, func.count()).where(aside)
    rows = await session.execute(query.group_by(UpdateRow.platform, UpdateRow.state))
    return {(platform, state): int(count) for platform, state, count in rows}


def _erase(row: UpdateRow) -> None:
    """Keep nothing of an update but its number; one that waits is not handled any more."""
    row.payload = None
    if row.state is UpdateState.WAITING:
        row.state = UpdateState.DONE


def _names(value: object, user: str) -> bool:
    """Whether somebody with this id is named anywhere in a payload."""
    if isinstance(value, dict):
        return str(value.get("id")) == user or any(_names(each, user) for each in value.values())
    return isinstance(value, list) and any(_names(each, user) for each in value)
