"""A case moves only along the graph, one mover wins, and the audit log holds every move: whoever writes."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import URL

from bot.compose.desk import Desk, build_desk
from core.desk.database.connection import Database, Session
from core.desk.rules.approval import TRANSITIONS, CaseState
from core.desk.schema import AuditRow, CaseRow
from core.desk.store.cases import Case, transition
from core.errors import Conflict, NotAllowed
from core.models import FlaggedPost
from tests.fakes.desk.audit_log import broken_chains
from tests.fakes.desk.decisions import approve, execute
from tests.fakes.desk.people import SECRET
from tests.fakes.desk.traces import all_said
from tests.fakes.machine.clock import FakeClock

CANARY = "canary-in-the-post"


async def _move(database: Database, case: Case, to: CaseState, actor: str = "test") -> Case:
    return await database.run(
        "move", lambda session: transition(session, case.id, case.version, to, actor=actor, reason="test")
    )


async def test_an_undeclared_move_leaves_no_trace(desk: Desk, in_review: Case, database: Database) -> None:
    """The one function that moves a case obeys the graph, and a refused move writes no audit line."""
    before = await desk.queries.history(in_review.id)
    with pytest.raises(NotAllowed):
        await _move(database, in_review, CaseState.POSTED)
    assert await desk.queries.case(in_review.id) == in_review
    assert await desk.queries.history(in_review.id) == before


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(wishes=st.lists(st.sampled_from(CaseState), min_size=1, max_size=12))
def test_a_case_only_moves_along_the_graph(
    tmp_path_factory: pytest.TempPathFactory, post: FlaggedPost, wishes: list[CaseState]
) -> None:
    """Whatever is asked for, in whatever order: declared moves are made and chained, others change nothing (I11)."""

    async def walk() -> None:
        database = await Database.open(tmp_path_factory.mktemp("walk") / "antiphon.sqlite", secret=SECRET)
        case = await build_desk(database).intake.flag(post)
        for wish in wishes:
            if wish in TRANSITIONS[case.state]:
                moved = await _move(database, case, wish)
                assert (moved.state, moved.version) == (wish, case.version + 1)
                case = moved
            else:
                with pytest.raises(NotAllowed):
                    await _move(database, case, wish)
        lines = await build_desk(database).queries.history(case.id)
        assert [line.version for line in lines] == list(range(1, case.version + 1))
        assert await broken_chains(database) == []
        await database.close()

    asyncio.run(walk())


async def test_of_many_who_move_a_case_at_once_one_wins(
    desk: Desk, in_review: Case, database: Database, place: Path | URL
) -> None:
    """Two moderators never both decide (I10): the others are told who did; over two processes, too."""
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    wishes = [CaseState.DECLINED, CaseState.NO_REPLY, CaseState.WITHDRAWN, CaseState.APPROVED] * 3
    answers = await asyncio.gather(
        *(_move(one, in_review, to) for one, to in zip([database, other] * 6, wishes, strict=True)),
        return_exceptions=True,
    )
    await other.close()
    won = [answer for answer in answers if isinstance(answer, Case)]
    assert len(won) == 1
    assert {type(answer) for answer in answers if answer is not won[0]} == {Conflict}
    case = await desk.queries.case(in_review.id)
    assert (case.state, case.version) == (won[0].state, in_review.version + 1)
    assert len(await desk.queries.history(case.id)) == case.version
    assert await broken_chains(database) == []


@pytest.mark.parametrize("statement", ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit"])
async def test_the_audit_log_is_append_only(desk: Desk, in_review: Case, database: Database, statement: str) -> None:
    """Nobody can rewrite who decided what, not even this program."""
    before = await desk.queries.history(in_review.id)
    with pytest.raises(NotAllowed, match="append-only"):
        await execute(database, statement)
    assert await desk.queries.history(in_review.id) == before


async def test_a_line_of_an_undeclared_move_is_refused(in_review: Case, database: Database) -> None:
    """The database knows the graph, whoever writes (I11)."""

    async def work(session: Session) -> None:
        states = {"from_state": CaseState.POSTED, "to_state": CaseState.APPROVED}
        said = {"actor": "x", "reason": CANARY, "note_sha256": None, "previous": "", "sha256": ""}
        session.add(AuditRow(stream=in_review.id, seq=99, at=session.moment, **states, **said))

    with pytest.raises(NotAllowed, match="declared_move") as caught:
        await database.run("meddle", work)
    assert CANARY not in all_said(caught.value)


@pytest.mark.parametrize("table", ["cases", "outbox"])
async def test_a_state_outside_the_graph_is_refused(
    desk: Desk, in_review: Case, database: Database, table: str
) -> None:
    """The database holds the states of core.desk.rules.approval and no other, whoever writes them."""
    await approve(desk, in_review)
    with pytest.raises(NotAllowed, match=r"case_state|outbox_state"):
        await execute(database, f"UPDATE {table} SET state = 'sent'")


async def test_what_a_constraint_refuses_is_told_without_the_rows(database: Database, in_review: Case) -> None:
    """PostgreSQL quotes the row that it refuses; no message, log or cause of ours may."""

    async def work(session: Session) -> None:
        row = await session.get_one(CaseRow, in_review.id)
        values = {column.name: getattr(row, column.name) for column in CaseRow.__table__.columns}
        session.add(CaseRow(**values | {"id": CANARY, "text": CANARY}))

    with pytest.raises(NotAllowed) as caught:
        await database.run("meddle", work)
    assert "platform" in str(caught.value) or "one_case_per_post" in str(caught.value)
    assert CANARY not in all_said(caught.value)
    assert f"{in_review.post.ref.message})" not in all_said(caught.value)
