"""Databases of earlier versions: they come to the newest revision whole, or stay as they were."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, MetaData, Table, event, inspect, select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.sample.community import SampleCommunity
from bot.intake.intake import Intake
from bot.store.engine import migrate
from bot.store.engine.database import Database, connected
from bot.store.people import communities
from bot.store.people.communities import policy_of
from bot.store.schema import Base
from core.errors import StoreUnavailable
from core.moderation.approval import TRANSITIONS, CaseState, text_hash
from core.moderation.community.policy import CommunityPolicy
from tests.fakes.desk.audit_log import broken_chains
from tests.fakes.desk.decisions import execute, one_row
from tests.fakes.desk.people import SECRET
from tests.fakes.later_version import REVISION, become_later
from tests.fakes.machine.postgres import new_database

_COMMUNITY = text(
    "INSERT INTO communities "
    "(id, platform, name, version, rules_version, is_posting, discloses, policy, created_at) "
    "VALUES (:id, 'p', :id, 3, 2, true, true, :policy, '2026-01-01 00:00:00')"
)
_OWN_REPLY = text(
    "INSERT INTO prepared_replies "
    "(community_id, id, language, target_group, theme, intent, text, is_hidden, reviewer, reviewed_at) "
    "VALUES ('a', 'en-1', 'en', 'migrants', 'migrants-jobs', 'positive', 'We are neighbours.', false, 'Ana', "
    "'2026-01-01 00:00:00')"
)
_CASE = text(
    "INSERT INTO cases (id, platform, community, channel, message, community_id, root, text, target_sha256, revision, "
    "is_from_elsewhere, author, author_name, flagged_by, flagged_how, priority, thread, wish, original, state, "
    "version, created_at, updated_at, unshown) "
    "VALUES (:id, 'p', 'a', 'a', :id, 'a', :id, 'They lie.', '', '', false, 'x', '', 'y', :how, 1, '[]', '{}', "
    "'unchanged', 'captured', 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00', 0)"
)
_APPROVAL = text(
    "INSERT INTO approvals (id, case_id, text, footer, sha256, moderator, approved_at, expires_at, policy_version, "
    "edited, target_sha256) VALUES ('1', '1', 'We are neighbours.', '', :sha256, 'x', '2026-01-01 00:00:00', "
    "'2026-01-02 00:00:00', 1, false, '')"
)
_PROPOSAL = text(
    "INSERT INTO proposals (id, case_id, version, person_id, text, sha256, created_at) "
    "VALUES ('1', '1', 1, 'x', 'We are neighbours.', :sha256, '2026-01-01 00:00:00')"
)
Rows = dict[str, list[dict[str, Any]]]


def _rows(connection: Connection) -> Rows:
    found: Rows = {}
    for name in sorted(set(inspect(connection).get_table_names()) - {"alembic_version"}):
        table = Table(name, MetaData(), autoload_with=connection)
        found[name] = [dict(row) for row in connection.execute(select(table)).mappings()]
    return found


async def _all_rows(engine: AsyncEngine) -> Rows:
    async with engine.begin() as connection:
        return await connection.run_sync(_rows)


@pytest.fixture
async def empty_place(database_server: URL | None, tmp_path: Path) -> AsyncIterator[Path | URL]:
    """A database without tables."""
    if database_server is None:
        yield tmp_path / "empty.sqlite"
        return
    async with new_database(database_server, is_empty=True) as address:
        yield address


async def test_an_upgrade_keeps_every_row(
    place: Path | URL, database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A later version finds every case and the whole audit log, and makes a table anew that they rest on (I18)."""
    for message in ("101", "103"):
        await Intake(database, campaign_hours=0).flag(SampleCommunity().flag(message, "mill_pond"))
    before = await _all_rows(database.engine)
    become_later(monkeypatch, tmp_path)
    await migrate.upgrade(database.engine)
    after = await _all_rows(database.engine)
    assert {row["name"] for row in after["communities"]} == {"of a later version"}
    assert len(before["cases"]) == 2
    assert {**after, "communities": []} == {**before, "communities": []}
    later = await Database.open(place, secret=SECRET)
    assert await broken_chains(later) == []
    await later.close()


async def test_what_communities_set_survives_the_upgrades_that_drop_scores_and_writers(empty_place: Path | URL) -> None:
    """The earlier filter's scores mean nothing to this one, and no community has a writer; all else is kept."""
    engine = connected(empty_place)
    policies = {
        "a": '{"threshold": 0.7, "tone": "dry", "keywords": ["go home"], "writer": "x"}',
        "b": '{"tone": "warm"}',
        "c": "{}",
    }
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.upgrade(migrate.config(sync), "0001"))
        for own, policy in policies.items():
            row = {"id": own, "policy": policy}
            await connection.execute(_COMMUNITY, row)
    before = await _all_rows(engine)
    await migrate.upgrade(engine)
    after = await _all_rows(engine)
    new = ("watch_days", "own_cards", "notices", "flaggers", "member_flags", "updates", "offsets", "known_names")
    assert [after.pop(name) for name in new] == [[]] * len(new)
    after["communities"].sort(key=lambda row: row["id"])
    kept = {row["id"]: row.pop("policy") for row in after["communities"]}
    assert kept == {"a": {"tone": "dry", "keywords": ["go home"]}, "b": {"tone": "warm"}, "c": {}}
    for row in before["communities"]:
        del row["policy"]
    assert after == before
    await engine.dispose()
    database = await Database.open(empty_place, secret=SECRET)
    (first, *_) = await database.run("read", communities.all_communities)
    assert policy_of(first) == CommunityPolicy(tone="dry", keywords=("go home",))
    await database.close()


async def test_a_communitys_own_replies_survive_the_upgrade_that_drops_their_themes(empty_place: Path | URL) -> None:
    """The themes are gone: a reply that was for one answers any post about its group, and stays reviewed."""
    engine = connected(empty_place)
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.upgrade(migrate.config(sync), "0002"))
        await connection.execute(_COMMUNITY, {"id": "a", "policy": "{}"})
        await connection.execute(_OWN_REPLY)
    await migrate.upgrade(engine)
    (row,) = (await _all_rows(engine))["prepared_replies"]
    assert "theme" not in row
    assert (row["stereotype"], row["text"], row["reviewer"]) == (None, "We are neighbours.", "Ana")
    await engine.dispose()


async def test_the_upgrade_that_brings_own_cards_changes_nothing_else(empty_place: Path | URL) -> None:
    """What communities prepared stays, and nobody has a card yet."""
    engine = connected(empty_place)
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.upgrade(migrate.config(sync), "0003"))
        await connection.execute(_COMMUNITY, {"id": "a", "policy": "{}"})
        await connection.execute(text(str(_OWN_REPLY).replace("theme", "stereotype")))
    before = await _all_rows(engine)
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.upgrade(migrate.config(sync), "0004"))
    after = await _all_rows(engine)
    assert after.pop("own_cards") == []
    assert after == before
    assert before["prepared_replies"][0]["text"] == "We are neighbours."
    await engine.dispose()


async def test_that_a_flag_came_late_is_read_out_of_how_it_was_flagged(empty_place: Path | URL) -> None:
    """It was the end of these words; the words of all others stay."""
    engine = connected(empty_place)
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.upgrade(migrate.config(sync), "0010"))
        await connection.execute(_COMMUNITY, {"id": "a", "policy": "{}"})
        for own, how in (("1", "/counter, late"), ("2", "/counter"), ("3", "late, by hand")):
            await connection.execute(_CASE, {"id": own, "how": how})
    await migrate.upgrade(engine)
    found = {row["id"]: (row["flagged_how"], row["is_late"]) for row in (await _all_rows(engine))["cases"]}
    assert found == {"1": ("/counter", True), "2": ("/counter", False), "3": ("late, by hand", False)}
    await engine.dispose()


async def test_what_was_approved_before_there_were_quotes_has_none(empty_place: Path | URL) -> None:
    """Its hash is the same, so that a reply that waits is sent after the upgrade as it was approved."""
    engine = connected(empty_place)
    reply = {"sha256": text_hash("We are neighbours.")}
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.upgrade(migrate.config(sync), "0009"))
        await connection.execute(_COMMUNITY, {"id": "a", "policy": "{}"})
        await connection.execute(_CASE, {"id": "1", "how": "by hand"})
        await connection.execute(_APPROVAL, reply)
        await connection.execute(_PROPOSAL, reply)
    before = await _all_rows(engine)
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.upgrade(migrate.config(sync), "0010"))
    after = await _all_rows(engine)
    (approval,), (proposal,) = after["approvals"], after["proposals"]
    assert (approval.pop("quote"), proposal.pop("quote")) == ("", "")
    assert text_hash(approval["text"], "") == approval["sha256"]
    assert after == before
    await engine.dispose()


@pytest.mark.parametrize("is_later", [False, True], ids=["the first step", "a later step"])
async def test_an_upgrade_that_fails_anywhere_changes_nothing(
    empty_place: Path | URL, is_later: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A power cut in the middle leaves the database as it was, and the next upgrade brings it to its end."""
    engine = connected(empty_place)
    if is_later:
        await migrate.upgrade(engine)
        become_later(monkeypatch, tmp_path)
    before, revision = await _all_rows(engine), await migrate.revision_of(engine)
    done = last = 0

    def stop(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        nonlocal done
        is_change = statement.lstrip().startswith(("ALTER", "CREATE", "DROP", "INSERT", "UPDATE"))
        done += is_change
        if is_change and done > last:
            raise RuntimeError("stopped here")

    event.listen(Engine, "before_cursor_execute", stop)
    try:
        while await migrate.revision_of(engine) == revision:
            try:
                await migrate.upgrade(engine)
            except RuntimeError:
                assert await migrate.revision_of(engine) == revision
                assert await _all_rows(engine) == before
            done, last = 0, last + (1 if is_later else 7)
    finally:
        event.remove(Engine, "before_cursor_execute", stop)
    assert last > 2
    assert await migrate.revision_of(engine) == (REVISION if is_later else migrate.newest())
    await engine.dispose()


async def test_the_steps_make_the_tables_that_the_code_declares(empty_place: Path | URL) -> None:
    """A column that only one of the two knows would fail on somebody's database."""
    engine = connected(empty_place)
    await migrate.upgrade(engine)

    def compare(connection: Connection) -> list[Any]:
        return list(compare_metadata(MigrationContext.configure(connection), Base.metadata))

    async with engine.begin() as connection:
        assert await connection.run_sync(compare) == []
    await engine.dispose()


async def test_an_upgrade_of_the_newest_revision_does_nothing(database: Database) -> None:
    """It can be run at every start."""
    await execute(database, "INSERT INTO pauses (scope, paused_by, at) VALUES ('*', 'x', '2026-01-01')")
    await migrate.upgrade(database.engine)
    assert await one_row(database, "SELECT count(*) FROM pauses") == (1,)


async def test_a_database_of_a_later_version_is_refused(place: Path | URL) -> None:
    """Its tables are not touched."""
    database = await Database.open(place, secret=SECRET)
    await execute(database, "UPDATE alembic_version SET version_num = '9999'")
    await database.close()
    with pytest.raises(StoreUnavailable, match="9999, which this version does not know") as caught:
        await Database.open(place, secret=SECRET)
    assert "later version" in caught.value.remedy


async def test_a_database_of_an_earlier_version_waits_for_its_upgrade(
    place: Path | URL, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Old tables are not guessed at: an operator upgrades them, after a backup."""
    await (await Database.open(place, secret=SECRET)).close()
    earlier = migrate.newest()
    become_later(monkeypatch, tmp_path)
    with pytest.raises(StoreUnavailable, match=f"revision {earlier}; this version needs {REVISION}") as caught:
        await Database.open(place, secret=SECRET)
    assert "antiphon db upgrade" in caught.value.remedy


async def test_two_processes_make_the_tables_of_one_database_once(empty_place: Path | URL) -> None:
    """Everything starts at once after a power cut."""
    opened = await asyncio.gather(*(Database.open(empty_place, secret=SECRET) for _ in range(3)))
    for database in opened:
        assert await one_row(database, "SELECT version_num FROM alembic_version") == (migrate.newest(),)
        await database.close()


def test_the_graph_the_tables_and_the_step_say_the_same() -> None:
    """A state or a move that only one of them knows would be refused in production, or let through."""
    declared = {
        constraint.name: str(constraint.sqltext)  # type: ignore[attr-defined]
        for constraint in Base.metadata.tables["audit"].constraints
        if constraint.name == "declared_move"
    }["declared_move"]
    steps = ScriptDirectory.from_config(migrate.config())
    first, step = (steps.get_revision(name).module for name in ("0001", "0015"))

    def words(text: str) -> list[str]:
        return sorted(part.strip(" ()\n") for part in text.replace("\n", " ").split(" OR "))

    assert words(declared) == words(step.DECLARED)
    for old in CaseState:
        line = next((part for part in words(declared) if part.startswith(f"from_state = '{old}'")), "")
        assert {new for new in CaseState if f"'{new}'" in line.partition("AND")[2]} == TRANSITIONS[old]
    assert [str(state) for state in CaseState] == first.STATES
