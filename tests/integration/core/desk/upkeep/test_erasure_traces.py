"""What an erased author leaves: nothing in the database, its files, the exports and the logs (I15)."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import URL

from bot.compose.desk import Desk
from core.desk.communities.export import Format, export, write_export
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.store import people
from core.desk.store.cases import transition
from core.desk.upkeep.scrub import scrub
from core.models import FlaggedPost
from tests.fakes.desk.canary import AUTHOR, CANARY, canary_post, erase, in_state
from tests.fakes.desk.decisions import drafted, execute, one_row
from tests.fakes.desk.people import COMMUNITY_ID, MODERATOR, PLATFORM
from tests.fakes.desk.traces import everything, files_with


@pytest.fixture
def post(post: FlaggedPost) -> FlaggedPost:
    return canary_post(post)


SETTLED = [
    CaseState.QUEUED, CaseState.DRAFTING, CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.APPROVED,
    CaseState.FAILED, CaseState.POSTED, CaseState.DECLINED,
]  # fmt: skip


@pytest.mark.both_databases
@pytest.mark.parametrize("state", SETTLED)
async def test_nothing_is_left_of_an_author_in_whatever_state_their_case_is(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, state: CaseState, tmp_path: Path
) -> None:
    """Not in any column, nor, of SQLite, in any byte of its files; what was open is withdrawn, the rest is closed."""
    case = await in_state(database, desk, queue, post, state)
    erased = await erase(database)
    is_open = state not in (CaseState.POSTED, CaseState.DECLINED)
    assert (erased.is_known, erased.cases, erased.closed, erased.waiting) == (True, 1, int(is_open), 0)
    said = await everything(database)
    assert [line for line in said.splitlines() if CANARY in line.lower()] == []
    assert files_with(tmp_path, CANARY) == []
    now = await desk.queries.case(case.id)
    assert now.state is (CaseState.WITHDRAWN if is_open else state)
    assert await queue.take() is None
    assert await one_row(database, "SELECT count(*) FROM outbox WHERE state IN ('queued', 'sending')") == (0,)


async def test_what_the_canary_looks_for_is_there_before(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path, database_server: URL | None
) -> None:
    """Else these tests could not fail."""
    await in_state(database, desk, queue, post, CaseState.DECLINED)
    said = await everything(database)
    for table in ("cases", "suggestions", "claim_choices", "notes"):
        assert any(line.startswith(f"{table}:") and CANARY in line for line in said.splitlines())
    assert bool(files_with(tmp_path, CANARY)) is (database_server is None)


@pytest.mark.both_databases
async def test_deleting_without_scrubbing_would_leave_the_bytes(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path, database_server: URL | None
) -> None:
    """Why a file of SQLite is rewritten: its log keeps every page that was."""
    await in_state(database, desk, queue, post, CaseState.IN_REVIEW)
    await execute(database, "UPDATE cases SET text = '', author_name = '', message = '-'")
    await execute(database, "UPDATE suggestions SET document = ''")
    await execute(database, "DELETE FROM proposals")
    if database_server is None:
        assert files_with(tmp_path, CANARY)
    await scrub(database)
    assert files_with(tmp_path, CANARY) == []


async def test_the_key_is_shredded(database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost) -> None:
    """The pseudonym that is left in counts and in the audit log cannot be made again, even with the secret."""
    case = await drafted(desk, queue, post)
    before = case.post.author
    await erase(database)
    assert (await desk.queries.case(case.id)).post.author == before

    async def known(session: Session) -> str | None:
        return await people.known_pseudonym(session, PLATFORM, AUTHOR)

    assert await database.run("look", known) is None
    again = await desk.intake.flag(replace(post, ref=replace(post.ref, message="200")))
    assert again.post.author != before


async def test_what_is_typed_about_an_erased_case_is_not_kept(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """A reply to them may be retracted afterwards, and the moderator says why: that it was is written down, no more."""
    case = await in_state(database, desk, queue, post, CaseState.POSTED)
    await erase(database)

    now = await desk.queries.case(case.id)

    async def retract(session: Session) -> None:
        said = {"actor": "p-somebody", "reason": "retracted", "note": f"I know {CANARY}."}
        await transition(session, case.id, now.version, CaseState.RETRACTED, **said)

    await database.run("retract", retract)
    assert (await desk.queries.history(case.id))[-1].to_state is CaseState.RETRACTED
    assert CANARY not in await everything(database)


@pytest.mark.both_databases
async def test_an_export_made_afterwards_does_not_know_them(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path
) -> None:
    """Their case is left out whole; who flagged another's post is nobody any more."""
    case = await drafted(desk, queue, post)
    await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.OTHER, "no")
    kept = await drafted(
        desk, queue, replace(post, ref=replace(post.ref, message="200"), text="x", author="y", author_name="y")
    )
    pseudonym = case.post.author
    for user in (AUTHOR, "mill_pond"):
        await erase(database, user)
    for how in Format:
        file = tmp_path / f"export.{how}"
        count = await write_export(export(database, COMMUNITY_ID), file, how)
        said = file.read_text()
        assert count == 1
        assert kept.id in said
        assert CANARY not in said
        assert pseudonym not in said
        assert case.post.flagged_by not in said
