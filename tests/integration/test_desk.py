"""What people can do with a case, on a real database file."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from adapters.sample.community import SampleCommunity
from bot.desk import Desk
from bot.store.cases import Case, transition
from bot.store.database import Database
from bot.store.documents import suggestion_from_json, suggestion_to_json
from core.errors import AntiphonError, BadAnswer, BadInput, Conflict, NotAllowed, StoreUnavailable
from core.models import FlaggedPost
from core.review import ApprovedReply, CaseState, text_hash
from tests.fakes import DRAFT_TEXTS, suggestion_for
from tests.fakes.clock import FakeClock

OWN_TEXT = "We all live here, and most of us came from somewhere."


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "antiphon.sqlite")
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def desk(database: Database, clock: FakeClock) -> Desk:
    return Desk(database, clock, undo_seconds=15)


@pytest.fixture
def post() -> FlaggedPost:
    return SampleCommunity().flag("103", "mill_pond")


@pytest.fixture
async def in_review(desk: Desk, post: FlaggedPost) -> Case:
    await desk.flag(post)
    case = await desk.take_next()
    assert case is not None
    return await desk.store_suggestion(case.id, case.version, suggestion_for(post))


async def _approve(desk: Desk, case: Case, moderator: str = "moderator_one") -> ApprovedReply:
    return await desk.approve(case.id, case.version, OWN_TEXT, text_hash(OWN_TEXT), moderator)


async def _one(database: Database, query: str) -> tuple[object, ...]:
    async def work(session: AsyncSession) -> tuple[object, ...]:
        return tuple((await session.execute(text(query))).one())

    return await database.run(work)


async def _execute(database: Database, statement: str) -> None:
    await database.run(lambda session: session.execute(text(statement)))


async def test_a_case_goes_from_flag_to_approval(desk: Desk, post: FlaggedPost, database: Database) -> None:
    """The way of every reply, and each step of it in the audit log with its actor."""
    case = await desk.flag(post)
    assert (case.state, case.version, case.post) == (CaseState.QUEUED, 2, post)
    taken = await desk.take_next()
    assert taken is not None
    reviewed = await desk.store_suggestion(taken.id, taken.version, suggestion_for(post))
    assert reviewed.state is CaseState.IN_REVIEW
    stored = await desk.suggestion(case.id)
    assert stored is not None
    assert stored.suggestion == suggestion_for(post)
    reply = await desk.approve(
        case.id,
        reviewed.version,
        DRAFT_TEXTS[0],
        text_hash(DRAFT_TEXTS[0]),
        "moderator_one",
        suggestion_id=stored.id,
        draft_rank=1,
    )
    assert (reply.text, reply.in_reply_to) == (DRAFT_TEXTS[0], post.ref)
    entries = await desk.history(case.id)
    assert [(entry.from_state, entry.to_state, entry.actor) for entry in entries] == [
        (None, "captured", "mill_pond"),
        ("captured", "queued", "desk"),
        ("queued", "drafting", "worker"),
        ("drafting", "in_review", "worker"),
        ("in_review", "approved", "moderator_one"),
    ]
    assert [entry.version for entry in entries] == [1, 2, 3, 4, 5]
    row = await _one(database, "SELECT edited, draft_rank, sha256, target_sha256, moderator FROM approvals")
    assert row == (False, 1, text_hash(DRAFT_TEXTS[0]), text_hash(post.text), "moderator_one")


async def test_a_flag_is_on_the_disk_before_it_is_acknowledged(desk: Desk, post: FlaggedPost, tmp_path: Path) -> None:
    """No acknowledged capture is lost (invariant I3): another process sees it at once."""
    case = await desk.flag(post)
    other = sqlite3.connect(tmp_path / "antiphon.sqlite")
    found = other.execute("SELECT id, state FROM cases").fetchall()
    other.close()
    assert found == [(case.id, "queued")]


async def test_the_same_post_has_one_case(desk: Desk, post: FlaggedPost) -> None:
    """Events come twice and people flag at once (invariant I4)."""
    flagged = await asyncio.gather(*(desk.flag(replace(post, flagged_by=f"person_{n}")) for n in range(5)))
    assert len({case.id for case in flagged}) == 1
    assert len(await desk.cases()) == 1
    assert len(await desk.history(flagged[0].id)) == 2


async def test_the_same_id_in_another_channel_is_another_case(desk: Desk, post: FlaggedPost) -> None:
    """Telegram's message ids are unique in one chat only (invariant I4)."""
    await desk.flag(post)
    await desk.flag(replace(post, ref=replace(post.ref, channel="harbour")))
    assert len(await desk.cases()) == 2


async def test_a_post_without_a_place_is_refused(desk: Desk, post: FlaggedPost) -> None:
    """A post that cannot be answered must not be taken in as if it could."""
    with pytest.raises(BadInput):
        await desk.flag(replace(post, ref=replace(post.ref, message=" ")))


async def test_broken_unicode_is_refused_clearly(desk: Desk, post: FlaggedPost, in_review: Case) -> None:
    """A lone surrogate has no bytes to hash, store or post; it must not crash half-way."""
    with pytest.raises(BadInput, match="surrogate"):
        await desk.flag(replace(post, text="half \ud83d", ref=replace(post.ref, message="1")))
    with pytest.raises(BadInput, match="surrogate"):
        await desk.approve(in_review.id, in_review.version, "half \ud83d", "0" * 64, "moderator_one")
    with pytest.raises(BadAnswer):
        suggestion_to_json(suggestion_for(post, ("half \ud83d",)))


async def test_the_oldest_case_is_taken_first_and_once(desk: Desk, clock: FakeClock) -> None:
    """Who waited longest comes first, and two workers never get the same case."""
    community = SampleCommunity()
    ids = []
    for message in ("105", "103", "107"):
        ids.append((await desk.flag(community.flag(message, "mill_pond"))).id)
        clock.advance(1)
    first = await desk.take_next()
    assert first is not None
    rest = await asyncio.gather(desk.take_next(), desk.take_next(), desk.take_next())
    assert first.id == ids[0]
    assert sorted(case.id for case in rest if case is not None) == sorted(ids[1:])
    assert await desk.take_next() is None


async def test_a_suggestion_without_drafts_needs_a_person(desk: Desk, post: FlaggedPost) -> None:
    """When the engine has nothing to offer, somebody is told, and why."""
    await desk.flag(post)
    case = await desk.take_next()
    assert case is not None
    after = await desk.store_suggestion(case.id, case.version, suggestion_for(post, ()))
    assert after.state is CaseState.NEEDS_PERSON
    assert "The judge gave no answer." in (await desk.history(case.id))[-1].reason


async def test_two_moderators_never_both_win(desk: Desk, in_review: Case, database: Database) -> None:
    """Of two decisions on the same version exactly one holds; the other is told who was faster (invariant I10)."""
    results = await asyncio.gather(
        _approve(desk, in_review, "moderator_one"),
        _approve(desk, in_review, "moderator_two"),
        desk.decline(in_review.id, in_review.version, "moderator_three", "off topic"),
        return_exceptions=True,
    )
    conflicts = [result for result in results if isinstance(result, Conflict)]
    assert len(conflicts) == 2
    winner = (await desk.history(in_review.id))[-1]
    assert all(winner.actor in str(conflict) and winner.to_state in str(conflict) for conflict in conflicts)
    approvals = await _one(database, "SELECT count(*) FROM approvals")
    assert approvals == (1 if winner.to_state is CaseState.APPROVED else 0,)


@pytest.mark.parametrize("rank", [1, None])
async def test_an_edit_is_recorded(desk: Desk, in_review: Case, database: Database, rank: int | None) -> None:
    """Later drafts learn from edits, and the audit must tell a person's words from the engine's."""
    stored = await desk.suggestion(in_review.id)
    assert stored is not None
    await desk.approve(
        in_review.id,
        in_review.version,
        OWN_TEXT,
        text_hash(OWN_TEXT),
        "moderator_one",
        suggestion_id=stored.id if rank else None,
        draft_rank=rank,
    )
    assert await _one(database, "SELECT edited FROM approvals") == (True,)


@pytest.mark.parametrize(("suggestion_id", "rank"), [("no-such-id", 1), (None, 1), ("real", 9), ("real", None)])
async def test_a_draft_that_is_not_there_is_refused(
    desk: Desk, in_review: Case, suggestion_id: str | None, rank: int | None
) -> None:
    """An approval must not claim to come from a draft that nobody saw; nothing of it is kept."""
    stored = await desk.suggestion(in_review.id)
    assert stored is not None
    with pytest.raises(BadInput):
        await desk.approve(
            in_review.id,
            in_review.version,
            OWN_TEXT,
            text_hash(OWN_TEXT),
            "moderator_one",
            suggestion_id=stored.id if suggestion_id == "real" else suggestion_id,
            draft_rank=rank,
        )
    assert await desk.case(in_review.id) == in_review


async def test_a_draft_of_another_case_is_refused(desk: Desk, in_review: Case) -> None:
    """The audit must not say that a reply came from a draft written for another post."""
    stored = await desk.suggestion(in_review.id)
    other = await desk.flag(SampleCommunity().flag("105", "mill_pond"))
    taken = await desk.take_next()
    assert stored is not None
    assert taken is not None
    reviewed = await desk.store_suggestion(other.id, taken.version, suggestion_for(other.post))
    with pytest.raises(BadInput):
        await desk.approve(
            other.id,
            reviewed.version,
            DRAFT_TEXTS[0],
            text_hash(DRAFT_TEXTS[0]),
            "moderator_one",
            suggestion_id=stored.id,
            draft_rank=1,
        )
    assert await desk.case(other.id) == reviewed


async def test_another_text_than_the_shown_one_is_not_approved(desk: Desk, in_review: Case) -> None:
    """The whole transaction is undone: the case stays in review, with its version."""
    with pytest.raises(NotAllowed):
        await desk.approve(in_review.id, in_review.version, OWN_TEXT, text_hash("something else"), "moderator_one")
    assert await desk.case(in_review.id) == in_review


async def test_nobody_cannot_approve(desk: Desk, in_review: Case) -> None:
    """There is no reply without a person."""
    with pytest.raises(NotAllowed):
        await _approve(desk, in_review, " ")
    assert await desk.case(in_review.id) == in_review


async def test_undo_brings_the_case_back(desk: Desk, in_review: Case, database: Database) -> None:
    """Within the window an approval can be taken back, and another text approved."""
    await _approve(desk, in_review)
    undone = await desk.undo(in_review.id, in_review.version + 1, "moderator_two")
    assert undone.state is CaseState.IN_REVIEW
    assert await _one(database, "SELECT state FROM outbox") == ("cancelled",)
    await desk.approve(in_review.id, undone.version, DRAFT_TEXTS[1], text_hash(DRAFT_TEXTS[1]), "moderator_two")
    assert await _one(database, "SELECT count(*) FROM outbox WHERE state = 'queued'") == (1,)


async def test_withdrawing_an_approved_case_cancels_its_reply(desk: Desk, in_review: Case, database: Database) -> None:
    """However a case leaves ``approved``, its waiting reply goes with it (invariant I8)."""
    await _approve(desk, in_review)
    await desk.withdraw(in_review.id, in_review.version + 1, "moderator_two", "the person asked us to")
    assert await _one(database, "SELECT state, error FROM outbox") == ("cancelled", "the person asked us to")


async def test_only_an_approved_case_can_be_undone(desk: Desk, in_review: Case) -> None:
    """Undo means one thing: taking an approval back."""
    with pytest.raises(NotAllowed):
        await desk.undo(in_review.id, in_review.version, "moderator_one")


async def test_a_late_suggestion_does_not_disturb_an_approval(desk: Desk, in_review: Case, post: FlaggedPost) -> None:
    """A worker that comes back late must not put an approved case in review again."""
    await _approve(desk, in_review)
    with pytest.raises(Conflict):
        await desk.store_suggestion(in_review.id, in_review.version - 1, suggestion_for(post))
    with pytest.raises(NotAllowed):
        await desk.store_suggestion(in_review.id, in_review.version + 1, suggestion_for(post))


@pytest.mark.parametrize("decision", ["decline", "stay_silent", "withdraw"])
@pytest.mark.parametrize(("moderator", "reason"), [("moderator_one", "  "), ("", "off topic")])
async def test_a_decision_needs_a_person_and_a_reason(
    desk: Desk, in_review: Case, decision: str, moderator: str, reason: str
) -> None:
    """A closed case must say who closed it and why."""
    with pytest.raises(AntiphonError) as caught:
        await getattr(desk, decision)(in_review.id, in_review.version, moderator, reason)
    assert caught.value.remedy
    assert await desk.case(in_review.id) == in_review


@pytest.mark.parametrize(
    ("decision", "state"),
    [("decline", CaseState.DECLINED), ("stay_silent", CaseState.NO_REPLY), ("withdraw", CaseState.WITHDRAWN)],
)
async def test_a_closed_case_stays_closed(desk: Desk, in_review: Case, decision: str, state: CaseState) -> None:
    """After a decision there is no way back to a reply (invariant I11)."""
    closed: Case = await getattr(desk, decision)(in_review.id, in_review.version, "moderator_one", "off topic")
    assert closed.state is state
    with pytest.raises(NotAllowed):
        await _approve(desk, closed)
    assert [case.id for case in await desk.cases(state)] == [closed.id]
    assert (await desk.history(closed.id))[-1].reason == "off topic"


async def test_a_case_that_is_not_there_is_said_so(desk: Desk) -> None:
    """A mistyped id is a clear answer, never an empty one."""
    for call in (desk.case, desk.history, desk.suggestion):
        with pytest.raises(BadInput, match="no case nothing"):
            await call("nothing")


@pytest.mark.parametrize("to", [CaseState.SENDING, CaseState.POSTED, CaseState.DRAFTING, CaseState.UNKNOWN])
async def test_an_undeclared_move_leaves_no_trace(
    desk: Desk, in_review: Case, database: Database, clock: FakeClock, to: CaseState
) -> None:
    """The one function that moves a case obeys the graph, and a refused move writes no audit line."""
    before = await desk.history(in_review.id)
    with pytest.raises(NotAllowed):
        await database.run(
            lambda session: transition(session, in_review.id, in_review.version, to, actor="x", reason="x", at=clock())
        )
    assert await desk.case(in_review.id) == in_review
    assert await desk.history(in_review.id) == before


@pytest.mark.parametrize("statement", ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit"])
async def test_the_audit_log_is_append_only(desk: Desk, in_review: Case, database: Database, statement: str) -> None:
    """Nobody can rewrite who decided what, not even this program."""
    before = await desk.history(in_review.id)
    with pytest.raises(NotAllowed, match="append-only"):
        await _execute(database, statement)
    assert await desk.history(in_review.id) == before


@pytest.mark.parametrize("statement", ["UPDATE cases SET state = 'sent'", "UPDATE outbox SET state = 'sent'"])
async def test_a_state_outside_the_graph_is_refused(
    desk: Desk, in_review: Case, database: Database, statement: str
) -> None:
    """The database holds the states of core.review and no other, whoever writes them."""
    await _approve(desk, in_review)
    with pytest.raises(NotAllowed, match="CHECK"):
        await _execute(database, statement)


async def test_a_commit_is_durable(database: Database) -> None:
    """A power cut must not lose a commit, above all not the intent to send."""
    assert await _one(database, "PRAGMA synchronous") == (2,)
    assert await _one(database, "PRAGMA journal_mode") == ("wal",)
    assert await _one(database, "PRAGMA foreign_keys") == (1,)


async def test_a_database_that_cannot_be_durable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The promise is read back at start-up, not believed."""
    monkeypatch.setattr("bot.store.database._REQUIRED_PRAGMAS", {"synchronous": "3"})
    with pytest.raises(StoreUnavailable, match="synchronous=2 where 3 is needed"):
        await Database.open(tmp_path / "antiphon.sqlite")


async def test_a_full_disk_is_said_so(desk: Desk, post: FlaggedPost, database: Database) -> None:
    """The operator reads what to do; nothing of the change is kept, and the desk works on when there is space."""
    await desk.flag(post)
    size = await _one(database, "PRAGMA page_count")
    await _one(database, f"PRAGMA max_page_count = {size[0]}")
    big = replace(post, ref=replace(post.ref, message="1"), text="x" * 100_000)
    with pytest.raises(StoreUnavailable, match="full") as caught:
        await desk.flag(big)
    assert "Free space" in caught.value.remedy
    assert "xxx" not in str(caught.value) + str(caught.value.__cause__)
    assert len(await desk.cases()) == 1
    await _one(database, "PRAGMA max_page_count = 100000")
    assert (await desk.flag(big)).state is CaseState.QUEUED


async def test_a_read_only_database_is_said_so(desk: Desk, post: FlaggedPost, database: Database) -> None:
    """A wrong owner of the file is a common mistake of the first day; it gets its own remedy."""
    await _execute(database, "PRAGMA query_only = ON")
    with pytest.raises(StoreUnavailable, match="readonly") as caught:
        await desk.flag(post)
    assert "write the database file" in caught.value.remedy


async def test_a_held_database_is_said_so(tmp_path: Path, post: FlaggedPost, clock: FakeClock) -> None:
    """Another program that keeps the database locked is named as the cause."""
    path = tmp_path / "antiphon.sqlite"
    database = await Database.open(path, busy_seconds=0)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(StoreUnavailable, match="locked") as caught:
            await Desk(database, clock).flag(post)
        assert "Another program" in caught.value.remedy
    finally:
        holder.close()
        await database.close()


async def test_a_missing_folder_and_a_wrong_file_are_said_so(tmp_path: Path) -> None:
    """A wrong path in the settings is refused at start-up, with what to do."""
    with pytest.raises(StoreUnavailable, match="unable to open") as caught:
        await Database.open(tmp_path / "missing" / "antiphon.sqlite")
    assert "folder" in caught.value.remedy
    (tmp_path / "notes.txt").write_text("This is not a database. " * 100)
    with pytest.raises(StoreUnavailable, match="not a database") as caught:
        await Database.open(tmp_path / "notes.txt")
    assert "restore a backup" in caught.value.remedy


async def test_a_cancelled_call_leaves_the_database_free(tmp_path: Path, post: FlaggedPost, clock: FakeClock) -> None:
    """A page that is closed half-way must neither cut a transaction short nor keep the lock from everybody else."""
    database = await Database.open(tmp_path / "cancelled.sqlite", busy_seconds=0)
    desk = Desk(database, clock)
    try:
        for turns in range(40):
            task = asyncio.create_task(desk.flag(replace(post, ref=replace(post.ref, message=f"{turns}"))))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            await desk.flag(replace(post, ref=replace(post.ref, message=f"after {turns}")))
        cases = await desk.cases()
        assert len([case for case in cases if case.post.ref.message.startswith("after")]) == 40
        assert {case.state for case in cases} == {CaseState.QUEUED}
    finally:
        await database.close()


async def test_a_transaction_is_never_cut_short(desk: Desk, in_review: Case, database: Database) -> None:
    """A cancelled approval is either made or not; the cancellation comes through when it is over, however often."""
    started, go_on = asyncio.Event(), asyncio.Event()

    async def work(session: AsyncSession) -> None:
        started.set()
        await go_on.wait()
        await session.execute(text("UPDATE cases SET author = 'somebody_else'"))

    task = asyncio.create_task(database.run(work))
    await started.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await desk.case(in_review.id)).post.author == "somebody_else"


async def test_everything_survives_a_restart(desk: Desk, in_review: Case, database: Database, tmp_path: Path) -> None:
    """What was decided before a stop is there after it, times with their zone."""
    await _approve(desk, in_review)
    history = await desk.history(in_review.id)
    await database.close()
    again = await Database.open(tmp_path / "antiphon.sqlite")
    try:
        other = Desk(again, FakeClock())
        assert (await other.case(in_review.id)).state is CaseState.APPROVED
        assert await other.history(in_review.id) == history
        assert {entry.at.tzinfo for entry in history} == {UTC}
    finally:
        await again.close()


async def test_times_are_stored_as_utc(database: Database, post: FlaggedPost) -> None:
    """A clock of another zone gives the same moment; a naive one is refused."""
    noon = datetime(2026, 3, 2, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    case = await Desk(database, FakeClock(noon)).flag(post)
    assert case.created_at == noon
    assert await _one(database, "SELECT created_at FROM cases") == ("2026-03-02 10:00:00.000000",)


async def test_a_document_of_another_version_is_said_so() -> None:
    """A stored suggestion that cannot be read is an error with a remedy, and does not quote the post."""
    with pytest.raises(StoreUnavailable) as caught:
        suggestion_from_json('{"post": {"text": "They do not belong here."}}')
    assert caught.value.remedy
    assert "belong" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_logs_hold_no_post_text(
    desk: Desk, post: FlaggedPost, caplog: pytest.LogCaptureFixture, in_review: Case
) -> None:
    """Not even at the most talkative level, and not the driver's log either."""
    caplog.set_level(logging.DEBUG)
    canary = "canary-7f3a"
    await desk.flag(replace(post, ref=replace(post.ref, message="1"), text=canary, author=canary))
    await desk.approve(in_review.id, in_review.version, canary, text_hash(canary), "moderator_one")
    assert canary not in caplog.text
