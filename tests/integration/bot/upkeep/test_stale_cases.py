"""Stale cases: what nobody works on any more is queued again, or left to the outbox to settle."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update

from bot.compose.desk import Desk
from bot.drafting.queue import DraftQueue
from bot.store.cases.cases import Case
from bot.store.engine.database import Database, Session
from bot.store.schema import OutboxRow
from bot.upkeep.chores.stale import StaleCases
from core.errors import Conflict
from core.models import FlaggedPost
from core.moderation.approval import CaseState
from tests.fakes.desk.chores import NOW, to_sending
from tests.fakes.desk.decisions import approve, execute, take
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock


async def _no_sends() -> list[object]:
    return []


async def test_a_draft_whose_worker_is_gone_is_queued_again_with_its_attempts(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Two leases after the last sign of life; the lost worker can keep nothing (invariant I5)."""
    await desk.intake.flag(post)
    taken = await take(queue)
    reaper = StaleCases(database, _no_sends, lease_seconds=60)
    clock.advance(120)
    await reaper.do(NOW)
    assert (await desk.queries.case(taken.case.id)).state is CaseState.DRAFTING
    clock.advance(1)
    assert (await reaper.do(NOW)).what == "1 drafts queued again, 0 sends settled"
    assert (await desk.queries.case(taken.case.id)).state is CaseState.QUEUED
    with pytest.raises(Conflict):
        await queue.store(taken, suggestion_for(post))
    assert (await take(DraftQueue(database, "worker-2"))).job.attempts == 2


async def test_a_worker_that_is_alive_is_let_alone(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """However long it takes."""
    await desk.intake.flag(post)
    taken = await take(queue)
    for _ in range(10):
        clock.advance(45)
        assert await queue.keep(taken)
        await StaleCases(database, _no_sends, lease_seconds=60).do(NOW)
    await queue.store(taken, suggestion_for(post))


async def test_a_draft_without_any_work_gets_new_work(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """A case that nobody could ever take again would be lost."""
    await desk.intake.flag(post)
    await take(queue)
    await execute(database, "DELETE FROM jobs")
    clock.advance(121)
    await StaleCases(database, _no_sends).do(NOW)
    assert (await take(queue)).job.attempts == 1


async def test_interrupted_sends_are_left_to_the_outbox_s_recovery(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Called only when one is stale; nothing is sent from here."""
    calls = list[str]()

    async def recover() -> list[object]:
        calls.append("recover")
        return ["settled"]

    await approve(desk, in_review)
    await to_sending(database, in_review)
    reaper = StaleCases(database, recover, lease_seconds=60)
    clock.advance(119)
    await reaper.do(NOW)
    assert calls == []
    clock.advance(2)
    assert (await reaper.do(NOW)).what == "0 drafts queued again, 1 sends settled"
    assert calls == ["recover"]


async def test_a_send_under_a_live_lease_is_let_alone(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """A platform may take its time."""

    async def recover() -> list[object]:
        raise AssertionError("there is nothing to recover")

    await approve(desk, in_review)
    await to_sending(database, in_review)
    clock.advance(600)

    async def renew(session: Session) -> None:
        await session.execute(update(OutboxRow).values(lease_until=session.moment + timedelta(seconds=1)))

    await database.run("renew", renew)
    await StaleCases(database, recover, lease_seconds=60).do(NOW)
