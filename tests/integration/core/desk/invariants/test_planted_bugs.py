"""Six bugs that a hurried change might plant, and the check that catches each; without the bug, it finds nothing."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from core.desk.database.connection import Session
from core.desk.invariants.checks import check
from core.desk.invariants.facts import Revocation
from core.desk.rules.approval import ApprovedReply, CaseState, approve, text_hash
from core.desk.schema import JobRow
from core.desk.sending import checks
from core.desk.sending.gate import Gate
from core.desk.sending.outbox import Outbox
from core.desk.sending.outbox_rows import Delivery, SendLease
from core.desk.store import cases, jobs, people
from core.desk.store import outbox as store
from core.desk.store.cases import Case
from core.desk.store.outbox import Entry
from core.errors import AmbiguousSend
from core.models import SentReply
from tests.fakes.desk.people import COMMUNITY_ID, MODERATOR
from tests.torture.ends.crashes import Enumerated, first_of_each, points, run
from tests.torture.world import scene
from tests.torture.world.ground import Ground
from tests.torture.world.platform import Outcome
from tests.torture.world.world import World, approve_first_post, opened_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A desk with one approved reply, whose window is over, and a platform without keys."""
    async with opened_world(tmp_path / "antiphon.sqlite", has_keys=False) as made:
        await approve_first_post(made)
        yield made


@pytest.fixture
def ground() -> Iterator[Ground]:
    with Ground() as made:
        yield made


async def test_a_dropped_unique_constraint_is_caught_by_i18_and_its_harm_by_i2(world: World, tmp_path: Path) -> None:
    """I18 looks at the schema, I2 at the second send that the constraint would have refused."""
    twice = "INSERT INTO outbox SELECT 'second', approval_id, 'cancelled', not_before, attempts, {} FROM outbox"
    rest = "first_sent_at, lease_until, remote_message, posted_at, error, updated_at"
    assert await check(world.database, world.record()) == {}
    await world.database.engine.dispose()
    with sqlite3.connect(tmp_path / "antiphon.sqlite") as connection:
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(twice.format(rest))
        (made,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'outbox'").fetchone()
        assert "UNIQUE (approval_id)" in made
        loose = made.replace("UNIQUE (approval_id)", "CHECK (1)").replace("CREATE TABLE outbox", "CREATE TABLE loose")
        for statement in (loose, "INSERT INTO loose SELECT * FROM outbox", "DROP TABLE outbox"):
            connection.execute(statement)
        connection.execute("ALTER TABLE loose RENAME TO outbox")
    connection.close()
    assert "I18" in await check(world.database, world.record())
    await world.database.run("repeat a send", lambda session: session.execute(text(twice.format(rest))))
    assert "I2" in await world.broken()


class _Hasty(Outbox):
    """Calls the platform first, and writes the intent down afterwards."""

    async def _send(self, approval_id: str) -> Delivery | None:
        seen = await self._ledger.look(approval_id)
        if not isinstance(seen, Entry) or await self._changed(seen):
            return None
        posted = await self._gate.send(seen.reply(), lambda: True)
        lease = await self._ledger.lease(seen)
        return await self._ledger.posted(lease, posted) if isinstance(lease, SendLease) else None


async def test_a_send_before_the_commit_is_caught_by_the_crash_points(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash between the two leaves a reply without an intent (I1), and sends it again (I2)."""
    monkeypatch.setattr(scene, "Outbox", _Hasty)
    reached, found = await points(ground), Enumerated()
    for plan in first_of_each(reached):
        if plan.name in ("platform: after a reply arrived", "commit the intent: before the commit"):
            await run(ground, replace(plan, has_keys=False), found)
    assert found.runs == 2
    assert any("'I1'" in one or "'I2'" in one for one in found.broken)


def _trusting(*, text: str, sha256: str, **rest: Any) -> ApprovedReply:
    """Takes whatever text is stored for the one that was approved."""
    assert sha256
    return approve(text=text, shown_sha256=text_hash(text), **rest)


@pytest.mark.parametrize("is_planted", [False, True])
async def test_a_skipped_hash_check_is_caught_by_i1(
    world: World, monkeypatch: pytest.MonkeyPatch, is_planted: bool
) -> None:
    """A byte that changes between approval and send reaches the platform, and I1 compares the platform's bytes."""
    if is_planted:
        monkeypatch.setattr(store, "restore", _trusting)
    await world.database.run("flip a byte", lambda s: s.execute(text("UPDATE approvals SET text = 'X' || text")))
    await world.send()
    assert bool(world.platform.sent()) is is_planted
    broken = [one.what for one in (await world.broken())["I1"]]
    assert any("has other bytes" in what for what in broken) is is_planted


@pytest.mark.parametrize("is_planted", [False, True])
async def test_a_skipped_role_check_is_caught_by_i7(
    world: World, monkeypatch: pytest.MonkeyPatch, is_planted: bool
) -> None:
    """Who lost the right within the undo window is not the approver of a send."""

    async def trusts_everybody(session: Session, entry: Entry) -> None:
        """Asks nobody."""

    if is_planted:
        monkeypatch.setattr(checks, "_people", trusts_everybody)
    await _lose_rights(world)
    await world.send()
    assert set(await world.broken()) == ({"I7"} if is_planted else set())


async def _lose_rights(world: World) -> None:
    """The approver is no moderator any more, without a change of the community, which would void the approval too."""

    async def work(session: Session) -> str:
        return await people.grant(session, COMMUNITY_ID, MODERATOR, (), by="test")

    who = await world.database.run("take a right away", work)
    world.revoked.append(Revocation(who, COMMUNITY_ID, world.clock()))


@pytest.mark.parametrize("is_planted", [False, True])
async def test_missing_fencing_is_caught_by_the_lost_worker(
    world: World, monkeypatch: pytest.MonkeyPatch, is_planted: bool
) -> None:
    """A worker that was stopped for longer than its lease wakes up while another one has its case."""
    await world.flag(1)
    await world.take(0)
    world.start()
    for _ in range(2):  # found lost, and after a pause taken again
        world.clock.advance(130)
        await world.take(1)
    assert 1 in world.hands
    if is_planted:
        _unfence(monkeypatch)
        with pytest.raises(AssertionError, match="lost its lease"):
            await world.attempt(world.haunt(0))
        return
    await world.attempt(world.haunt(0))
    assert world.figures.refusals == 1
    assert await world.broken() == {}


def _unfence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whoever names a job or a case change it, whatever attempt or version they name."""

    async def anybodys(session: Session, job: jobs.Job, values: dict[str, Any]) -> bool:
        row = await session.get_one(JobRow, job.id)
        for name, value in values.items():
            setattr(row, name, value)
        return True

    async def any_version(session: Session, case_id: str, version: int, state: CaseState) -> Case:
        return await cases.load(session, case_id)

    monkeypatch.setattr(jobs, "_mine", anybodys)
    monkeypatch.setattr(cases, "load_expected", any_version)


@pytest.mark.parametrize("is_planted", [False, True])
async def test_a_blind_retry_is_caught_by_i2(world: World, monkeypatch: pytest.MonkeyPatch, is_planted: bool) -> None:
    """A send whose answer was lost may stand: on a platform without keys a second one does, too."""
    send = Gate.send

    async def again(gate: Gate, reply: ApprovedReply, is_held: Callable[[], bool]) -> SentReply:
        try:
            return await send(gate, reply, is_held)
        except AmbiguousSend:
            return await send(gate, reply, is_held)

    if is_planted:
        monkeypatch.setattr(Gate, "send", again)
    answers = iter([Outcome.ANSWER_LOST])
    world.platform.next_send = lambda: next(answers, Outcome.WELL)
    await world.send()
    await world.settle_down()
    assert set(await world.broken()) == ({"I2"} if is_planted else set())
