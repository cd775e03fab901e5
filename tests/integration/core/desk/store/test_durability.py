"""What is committed stays, whole and as it was: over a power cut, a cancelled call, a restart, another clock."""

import asyncio
import json
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import URL, text

from bot.compose.desk import Desk, build_desk
from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CaseState
from core.desk.store.cases import Case
from core.desk.store.suggestions import suggestion_from_json, suggestion_to_json
from core.desk.upkeep.erasure import Erasure
from core.errors import StoreUnavailable
from core.models import FlaggedPost, Kind
from tests.fakes.desk.decisions import approve, one_row
from tests.fakes.desk.people import PLATFORM, SECRET
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock

CANARY = "canary-in-the-post"


async def test_a_flag_is_on_the_disk_before_it_is_acknowledged(
    desk: Desk, post: FlaggedPost, place: Path | URL
) -> None:
    """No acknowledged capture is lost (invariant I3): another process sees it at once."""
    case = await desk.intake.flag(post)
    other = await Database.open(place, secret=SECRET)
    found = await one_row(other, "SELECT id, state FROM cases")
    await other.close()
    assert found == (case.id, "queued")


async def test_a_commit_is_durable(database: Database) -> None:
    """A power cut must not lose a commit, above all not the intent to send."""
    if database.is_postgresql:
        assert await one_row(database, "SHOW fsync") == await one_row(database, "SHOW synchronous_commit") == ("on",)
        return
    for pragma, wanted in {"synchronous": 2, "journal_mode": "wal", "foreign_keys": 1, "secure_delete": 1}.items():
        assert await one_row(database, f"PRAGMA {pragma}") == (wanted,)


async def test_a_cancelled_call_leaves_the_database_free(database: Database, post: FlaggedPost) -> None:
    """A page that is closed half-way must neither cut a transaction short nor keep the lock from everybody else."""
    desk = build_desk(database)
    for turns in range(0, 40, 3):
        task = asyncio.create_task(desk.intake.flag(replace(post, ref=replace(post.ref, message=f"{turns}"))))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        await desk.intake.flag(replace(post, ref=replace(post.ref, message=f"after {turns}")))
    cases = await desk.queries.cases()
    assert len([case for case in cases if case.post.ref.message.startswith("after")]) == 14
    assert {case.state for case in cases} == {CaseState.QUEUED}


async def test_a_transaction_is_never_cut_short(desk: Desk, in_review: Case, database: Database) -> None:
    """A cancelled approval is either made or not; the cancellation comes through when it is over, however often."""
    started, go_on = asyncio.Event(), asyncio.Event()

    async def work(session: Session) -> None:
        started.set()
        await go_on.wait()
        await session.execute(text("UPDATE cases SET author = 'somebody_else'"))

    task = asyncio.create_task(database.run("hold", work))
    await started.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await desk.queries.case(in_review.id)).post.author == "somebody_else"


async def test_everything_survives_a_restart(
    desk: Desk, in_review: Case, database: Database, place: Path | URL
) -> None:
    """What was decided before a stop is there after it, times with their zone."""
    await approve(desk, in_review)
    history = await desk.queries.history(in_review.id)
    await database.close()
    again = await Database.open(place, secret=SECRET)
    try:
        other = build_desk(again)
        assert (await other.queries.case(in_review.id)).state is CaseState.APPROVED
        assert await other.queries.history(in_review.id) == history
        assert {entry.at.tzinfo for entry in history} == {UTC}
    finally:
        await again.close()


async def test_times_are_stored_as_utc(database: Database, clock: FakeClock, post: FlaggedPost) -> None:
    """A clock of another zone gives the same moment."""
    noon = datetime(2026, 3, 2, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    clock.now = noon
    case = await build_desk(database).intake.flag(post)
    stored = (await build_desk(database).queries.case(case.id)).created_at
    assert (stored, stored.utcoffset()) == (noon, timedelta())


async def test_a_document_of_another_version_is_said_so() -> None:
    """A stored suggestion that cannot be read is an error with a remedy, and does not quote the post."""
    with pytest.raises(StoreUnavailable) as caught:
        suggestion_from_json('{"post": {"text": "They do not belong here."}}')
    assert caught.value.remedy
    assert "belong" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_a_drafts_kind_is_stored_and_one_without_is_a_reply(post: FlaggedPost) -> None:
    """A document that an older version wrote has no kinds, and only replies."""
    made = suggestion_for(post)
    first, second = made.drafts
    made = replace(made, drafts=(replace(first, kind=Kind.NOTICE), second))
    document = suggestion_to_json(made)
    assert suggestion_from_json(document) == made
    older = json.loads(document)
    assert [draft.pop("kind") for draft in older["drafts"]] == ["notice", "reply"]
    assert {draft.kind for draft in suggestion_from_json(json.dumps(older)).drafts} == {Kind.REPLY}


async def test_logs_hold_no_post_text(
    desk: Desk, post: FlaggedPost, caplog: pytest.LogCaptureFixture, in_review: Case
) -> None:
    """Not even at the most talkative level, or of who is erased, and not the driver's log either."""
    caplog.set_level(logging.DEBUG)
    await desk.intake.flag(replace(post, ref=replace(post.ref, message="1"), text=CANARY, author=CANARY))
    await approve(desk, in_review, reply=CANARY)
    await Erasure(desk.database).erase(PLATFORM, CANARY)
    assert CANARY not in caplog.text
