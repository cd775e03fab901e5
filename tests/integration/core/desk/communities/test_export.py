"""Exports: who may have one, what is in it, and that it reads back as it was."""

import csv
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.compose.desk import Desk
from core.desk.communities.export import COLUMNS, EXPORTS, Format, Row, export, text_of, write_export
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.store import people
from core.errors import BadInput, NotAllowed, StoreUnavailable
from core.models import FlaggedPost, Kind
from tests.fakes.desk.audit_log import lines_of
from tests.fakes.desk.decisions import approve, drafted, execute, take
from tests.fakes.desk.people import AUDITOR, COMMUNITY_ID, MANAGER, MODERATOR, VOLUNTEER
from tests.fakes.engine.suggestions import suggestion_for

HOSTILE = '=HYPERLINK("https://example.org")\r\n\'+1,\t;\u2028 \U0001f9c0'


async def _rows(database: Database, **how: object) -> list[Row]:
    return [row async for row in export(database, COMMUNITY_ID, **how)]  # type: ignore[arg-type]


async def _approved(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> None:
    case = await drafted(desk, queue, post)
    await approve(desk, case, reply="-No argument.")


@pytest.mark.both_databases
async def test_a_row_says_what_became_of_a_case_and_leads_to_nobody(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Post, reading, reply and decision, with pseudonyms for people: no place of a post, no name of a moderator."""
    await _approved(desk, queue, replace(post, ref=replace(post.ref, message="message-1034")))
    [row] = await _rows(database)
    assert tuple(row) == COLUMNS
    assert (row["state"], row["post"], row["drafts"], row["severity"]) == ("approved", post.text, 2, 2)
    assert (row["flagged_how"], row["is_late"]) == (post.flagged_how, False)
    assert row["reply"].startswith("-No argument.\n\n")
    assert (row["is_edited"], row["draft_rank"], row["sent"]) == (True, None, "queued")
    assert all(row[who].startswith("p-") for who in ("author", "flagged_by", "approved_by"))
    assert row["created_at"] == "2026-03-02T14:00:00+00:00"
    for trace in (post.author, post.flagged_by, MODERATOR.user, post.ref.channel, "message-1034"):
        assert trace not in json.dumps(row)


@pytest.mark.both_databases
async def test_an_export_says_of_which_kind_the_approved_draft_was(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Beside where it came from; who writes their own words has approved no draft."""
    await desk.intake.flag(post)
    taken = await take(queue)
    made = suggestion_for(taken.case.post)
    case = await queue.store(taken, replace(made, drafts=(replace(made.drafts[0], kind=Kind.NOTICE),)))
    await approve(desk, case, reply=None, rank=1)
    await _approved(desk, queue, replace(post, ref=replace(post.ref, message="300"), text="Another post of theirs."))
    found = {(row["draft_kind"], row["draft_origin"]) for row in await _rows(database)}
    assert found == {("notice", "model"), (None, None)}


@pytest.mark.parametrize("how", Format)
async def test_an_export_reads_back_as_it_was(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path, how: Format
) -> None:
    """Whatever somebody posted, and without a formula in any cell."""
    for number, text in enumerate([HOSTILE, "+", "plain", "'=1", "a\nb"]):
        await drafted(desk, queue, replace(post, ref=replace(post.ref, message=str(number + 200)), text=text))
    rows, file = await _rows(database), tmp_path / "export"
    assert await write_export(export(database, COMMUNITY_ID), file, how) == 5
    with file.open(encoding="utf-8", newline="") as reading:
        if how is Format.JSONL:
            assert [json.loads(line) for line in reading.read().split("\n")[:-1]] == rows
            return
        read = list(csv.DictReader(reading))
    assert [text_of(row["post"]) for row in read] == [row["post"] for row in rows]
    assert [row["author"] for row in read] == [row["author"] for row in rows]
    assert [int(row["drafts"]) for row in read] == [row["drafts"] for row in rows]
    assert not [cell for row in read for cell in row.values() if cell[:1] in tuple("=+@\t\r")]


@pytest.mark.both_databases
async def test_more_cases_than_a_page_are_all_there_once(
    database: Database, desk: Desk, post: FlaggedPost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them flagged in the same second; also where a page ends with the last one."""
    for number in range(6):
        await desk.intake.flag(replace(post, ref=replace(post.ref, message=str(200 + number))))
    for size in (2, 4):
        monkeypatch.setattr("core.desk.communities.export._PAGE", size)
        rows = await _rows(database)
        assert len(rows) == len({row["case"] for row in rows}) == 6


async def test_who_may_not_export_gets_nothing(database: Database, desk: Desk, post: FlaggedPost) -> None:
    """Managers may, for their own community; the audit log says who was given one."""
    await desk.intake.flag(post)
    await desk.intake.flag(replace(post, ref=replace(post.ref, community="elsewhere")))
    for person in (MODERATOR, AUDITOR, VOLUNTEER):
        with pytest.raises(NotAllowed):
            await _rows(database, by=person)
    for by in (None, MANAGER):
        assert [row["community"] for row in await _rows(database, by=by)] == [COMMUNITY_ID]
    assert [(row.actor[:2], row.reason) for row in await lines_of(database, EXPORTS)] == [
        ("te", f"exported {COMMUNITY_ID}, pseudonymised"),
        ("p-", f"exported {COMMUNITY_ID}, pseudonymised"),
    ]


@pytest.mark.both_databases
async def test_a_right_that_is_taken_away_ends_an_export_at_the_next_page(
    database: Database, desk: Desk, post: FlaggedPost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The role is read anew for each page (invariant I7)."""
    monkeypatch.setattr("core.desk.communities.export._PAGE", 1)
    for number in range(2):
        await desk.intake.flag(replace(post, ref=replace(post.ref, message=str(200 + number))))
    rows = export(database, COMMUNITY_ID, by=MANAGER)
    await anext(rows)
    await database.run("revoke", lambda s: people.grant(s, COMMUNITY_ID, MANAGER, (), by="test"))
    with pytest.raises(NotAllowed):
        [row async for row in rows]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def _names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def _is_private(file: Path) -> bool:
    return file.stat().st_mode & 0o077 == 0


async def test_an_export_that_breaks_off_leaves_the_old_file_whole(
    database: Database, desk: Desk, post: FlaggedPost, out: Path
) -> None:
    """A file is replaced whole or not at all, and only its owner can read it."""
    with pytest.raises(BadInput, match="no community sample/nowhere"):
        await write_export(export(database, "sample/nowhere"), out / "export.csv", Format.CSV)
    assert _names(out) == []
    await desk.intake.flag(post)
    file = out / "export.jsonl"
    await write_export(export(database, COMMUNITY_ID), file, Format.JSONL)
    before = file.read_bytes()
    assert _is_private(file)

    async def broken() -> AsyncIterator[Row]:
        async for row in export(database, COMMUNITY_ID):
            yield row
        raise StoreUnavailable("The database went away.")

    with pytest.raises(StoreUnavailable):
        await write_export(broken(), file, Format.JSONL)
    assert file.read_bytes() == before
    assert _names(out) == [file.name]
    with pytest.raises(BadInput, match="cannot be written"):
        await write_export(export(database, COMMUNITY_ID), out / "missing" / "x", Format.CSV)


async def test_a_suggestion_of_another_version_does_not_stop_an_export(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """What cannot be read of it is left out."""
    await drafted(desk, queue, post)
    await execute(database, "UPDATE suggestions SET document = '{}'")
    [row] = await _rows(database)
    assert (row["drafts"], row["post"]) == (None, post.text)
