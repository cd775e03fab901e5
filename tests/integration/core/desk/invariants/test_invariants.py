"""Each promise of the desk: a healthy database keeps it, and one that was tampered with is caught."""

import asyncio
import copy
import shutil
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import URL, text

from core.desk.database.connection import Database, Session
from core.desk.database.revisions import newest
from core.desk.invariants.checks import INVARIANTS, audit, check, violations
from core.desk.invariants.facts import ArrivedReply, AuditLimits, Closure, OutsideRecord, Revocation, read_facts
from core.desk.rules.approval import CaseState, text_hash
from core.models import PostRef
from tests.fakes.desk.people import COMMUNITY_ID, SECRET
from tests.fakes.machine.postgres import new_database
from tests.torture.world.platform import Outcome
from tests.torture.world.posts import drafted, numbered_post
from tests.torture.world.world import World, opened_world

PERSON = "SELECT id FROM persons ORDER BY created_at DESC LIMIT 1"
APPROVER = "SELECT moderator FROM approvals ORDER BY approved_at LIMIT 1"


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    """A SQLite file of such a world, made once; tests work on copies."""
    file = tmp_path_factory.mktemp("lived") / "antiphon.sqlite"

    async def live() -> World:
        async with opened_world(file) as world:
            await _live(world)
            return world

    return file, asyncio.run(live())


@pytest.fixture
async def world(lived: tuple[Path, World], tmp_path: Path) -> AsyncIterator[World]:
    """A desk where one reply was posted, one approval was undone, and cases stand in most of the states."""
    file, before = lived
    shutil.copy(file, tmp_path / "antiphon.sqlite")
    clock, platform, acknowledged = copy.deepcopy((before.clock, before.platform, before.acknowledged))
    database = await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET, clock=clock)
    made = World(database, clock, platform)
    made.acknowledged = acknowledged
    yield made
    await database.close()


async def _live(world: World) -> None:
    for number in range(5):
        await world.flag(number)
        await world.take(0)
        await world.store(0, 2)
    posted, undone, approved, declined, _ = await world.cases()
    await world.approve(posted)
    world.clock.advance(16)
    await world.send()
    await world.approve(undone)
    await world.undo(await world.desk.queries.case(undone.id))
    await world.close(declined)
    await world.flag(5)
    await world.take(1)
    await world.flag(6)
    await world.approve(approved)


def _tamper(world: World, statement: str) -> None:
    """Change rows behind the program's back, without its guards."""
    connection = sqlite3.connect(world.database.engine.url.database or "")
    for name in ("audit_refuses_update", "audit_refuses_delete"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.executescript(statement)
    connection.commit()
    connection.close()


async def _broken(world: World, record: OutsideRecord | None = None, limits: AuditLimits | None = None) -> set[str]:
    return set(await check(world.database, record or world.record(), limits, looks_at_schema=False))


async def test_a_healthy_database_keeps_every_promise(place: Path | URL) -> None:
    """On both databases, with the schema looked at, the owners of all work asked for, and a record from outside."""
    async with opened_world(place) as world:
        await _live(world)
        states = {case.state for case in await world.cases()}
        assert {
            CaseState.POSTED,
            CaseState.APPROVED,
            CaseState.DECLINED,
            CaseState.QUEUED,
            CaseState.DRAFTING,
        } <= states
        assert await check(world.database, world.record()) == {}


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("ALTER TABLE audit DISABLE TRIGGER USER", "I11"),
        ("ALTER TABLE outbox DROP CONSTRAINT outbox_approval_id_key", "I18"),
        ("UPDATE cases SET version = version + 1", "I11"),
    ],
)
async def test_what_was_tampered_with_in_postgresql_is_caught(postgresql: URL, statement: str, broken: str) -> None:
    """Its triggers and constraints are looked at as those of SQLite are."""
    async with new_database(postgresql) as address, opened_world(address) as world:
        await world.flag(0)
        assert await check(world.database) == {}
        await world.database.run("tamper", lambda session: session.execute(text(statement)))
        assert broken in await check(world.database)


async def test_there_are_eighteen_promises_each_with_a_sentence() -> None:
    """Numbered as in the plan, each once."""
    assert [invariant.id for invariant in INVARIANTS] == [f"I{number}" for number in range(1, 19)]
    assert len({invariant.promise for invariant in INVARIANTS}) == 18


TAMPERED = {
    "text of an approval": ("UPDATE approvals SET text = text || '!'", "I1"),
    "quote of an approval": ("UPDATE approvals SET quote = quote || '!'", "I1"),
    "approver": (f"UPDATE approvals SET moderator = ({PERSON})", "I1"),
    "send without an approval": (
        "UPDATE outbox SET approval_id = 'forged' WHERE id = (SELECT id FROM outbox LIMIT 1)",
        "I1",
    ),
    "posted nowhere": ("UPDATE outbox SET remote_message = NULL WHERE state = 'posted'", "I1"),
    "posted without an intent": (
        "UPDATE outbox SET state = 'posted', remote_message = 'x' WHERE state = 'queued'",
        "I1",
    ),
    "one message for two replies": (
        "UPDATE outbox SET remote_message = (SELECT remote_message FROM outbox WHERE state = 'posted')",
        "I2",
    ),
    "case gone": ("DELETE FROM cases WHERE state = 'declined'", "I3"),
    "queued without work": ("DELETE FROM jobs WHERE state = 'ready'", "I5"),
    "work of nobody": ("UPDATE jobs SET owner = NULL WHERE state = 'running'", "I5"),
    "begun too often": ("UPDATE jobs SET attempts = 9 WHERE state = 'running'", "I6"),
    "given up without a reason": ("UPDATE jobs SET state = 'dead', error = NULL WHERE state = 'done'", "I6"),
    "approved by a part": ("UPDATE approvals SET moderator = 'worker'", "I7"),
    "other target": ("UPDATE approvals SET target_sha256 = 'other'", "I8"),
    "approved without a send": ("DELETE FROM outbox WHERE state = 'queued'", "I8"),
    "used after its time": ("UPDATE approvals SET expires_at = approved_at", "I8"),
    "used under other rules": ("UPDATE approvals SET policy_version = 1", "I8"),
    "rules changed by nobody": ("UPDATE communities SET rules_version = rules_version + 1", "I8"),
    "undone, and waiting again": ("UPDATE outbox SET state = 'queued' WHERE state = 'cancelled'", "I9"),
    "undone, and posted": ("UPDATE outbox SET remote_message = 'x' WHERE state = 'cancelled'", "I9"),
    "sent before its time": ("UPDATE outbox SET not_before = updated_at WHERE state = 'posted'", "I9"),
    "a second winner": (
        "INSERT INTO approvals SELECT 'second', case_id, suggestion_id, draft_rank, text, footer, sha256, moderator, "
        "seconded_by, approved_at, expires_at, policy_version, edited, target_sha256, quote FROM approvals LIMIT 1",
        "I10",
    ),
    "actor of a line": ("UPDATE audit SET actor = 'nobody' WHERE seq = 2", "I11"),
    "line gone": ("DELETE FROM audit WHERE seq = 2", "I11"),
    "state of a case": ("UPDATE cases SET state = 'no_reply' WHERE state = 'declined'", "I11"),
    "note": ("UPDATE notes SET text = 'another'", "I11"),
    "community changed by nobody": ("UPDATE communities SET version = version + 1", "I11"),
    "suggestion that cannot be read": ("UPDATE suggestions SET document = '{}'", "I13"),
    "empty draft": (
        "UPDATE suggestions SET document = replace(document, 'Most newcomers work and pay taxes.', '  ')",
        "I13",
    ),
    "unseen characters": (
        "UPDATE suggestions SET document = replace(document, 'Most newcomers work and', 'Most \\u202e newcomers')",
        "I13",
    ),
    "passage that is not shown": (
        """UPDATE suggestions SET document = replace(document, '"evidence_id":"', '"evidence_id":"other-')""",
        "I14",
    ),
    "text of an erased case": ("UPDATE cases SET erased_at = updated_at WHERE state = 'declined'", "I15"),
    "preview of a case that nobody drafts": (
        "INSERT INTO previews SELECT id, '{}', updated_at FROM cases WHERE state = 'declined'",
        "I13",
    ),
    "proposed text of an erased case": (
        "UPDATE cases SET erased_at = updated_at, text = '', thread = '[]' WHERE state = 'queued'; "
        "INSERT INTO proposals SELECT 'shown', id, version, 'p-1', 'words', 'hash', NULL, NULL, updated_at, '', 0, 0 "
        "FROM cases WHERE state = 'queued'",
        "I15",
    ),
    "trigger gone": ("SELECT 1", "I11"),
}

_OF_THE_SCHEMA = (TAMPERED["trigger gone"][0],)


@pytest.mark.parametrize(("statement", "broken"), TAMPERED.values(), ids=TAMPERED)
async def test_what_was_tampered_with_is_caught(world: World, statement: str, broken: str) -> None:
    """A person who changes a row behind the program's back breaks the promise that the row keeps."""
    _tamper(world, statement)
    found = await check(world.database, replace(world.record(), sent=None), looks_at_schema=statement in _OF_THE_SCHEMA)
    assert broken in found


async def test_a_revision_that_is_not_the_newest_is_caught(world: World) -> None:
    """In a transaction that already began; later ones are refused. What a later version added breaks no promise."""
    found = []

    async def tamper(session: Session) -> None:
        for revision in ("0000", f"{newest().partition('.')[0]}.99"):
            await session.execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))
            found.append(violations(await read_facts(session)))

    await world.database.run("tamper with the revision", tamper)
    assert [list(one) for one in found] == [["I18"], []]


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (lambda sent: replace(sent, sha256="other"), "I1"),
        (lambda sent: replace(sent, in_reply_to=PostRef("sample", "brenmoor", "town-square", "other")), "I1"),
        (lambda sent: replace(sent, approval_id="never given"), "I1"),
        (lambda sent: replace(sent, target_sha256="other"), "I8"),
    ],
)
async def test_a_post_that_nobody_approved_so_is_caught(world: World, change, broken: str) -> None:
    """Other bytes, under another post, of no approval, or to a text that was changed since."""
    (sent,) = world.platform.sent()
    assert broken in await _broken(world, replace(world.record(), sent=(change(sent),)))


async def test_a_reply_that_was_posted_twice_is_caught(world: World) -> None:
    (sent,) = world.platform.sent()
    again = replace(sent, ref=replace(sent.ref, message="again"))
    assert await _broken(world, replace(world.record(), sent=(sent, again))) == {"I2"}


async def test_a_reply_that_was_sent_before_its_intent_is_caught(world: World) -> None:
    """Nothing on the platform without a committed intent."""
    (queued,) = await world.cases(CaseState.APPROVED)
    approval_id, digest = await _approval_of(world, queued.id)
    early = ArrivedReply(approval_id, replace(queued.post.ref, message="early"), queued.post.ref, digest)
    assert await _broken(world, replace(world.record(), sent=(*world.platform.sent(), early))) == {"I1"}


async def test_an_undone_reply_that_stands_on_the_platform_is_caught(world: World) -> None:
    """Undo within the window always prevents the post."""
    (undone,) = [case for case in await world.cases() if case.post.ref == numbered_post(1).ref]
    approval_id, digest = await _approval_of(world, undone.id)
    sent = ArrivedReply(approval_id, replace(undone.post.ref, message="undone"), undone.post.ref, digest)
    assert "I9" in await _broken(world, replace(world.record(), sent=(*world.platform.sent(), sent)))


async def test_a_post_that_is_claimed_and_never_was_is_caught(world: World) -> None:
    """The database must not say that a reply stands which never arrived."""
    assert await _broken(world, replace(world.record(), sent=())) == {"I1"}


async def test_a_lost_capture_is_caught(world: World) -> None:
    """A person who was told that their flag was kept finds a case."""
    lost = numbered_post(99).ref
    assert await _broken(world, replace(world.record(), acknowledged=(lost,))) == {"I3"}


async def test_an_approver_without_the_right_is_caught(world: World) -> None:
    who = await _value(world, APPROVER)
    revoked = Revocation(who, COMMUNITY_ID, world.clock() - timedelta(days=1))
    assert await _broken(world, replace(world.record(), revoked=(revoked,))) == {"I7"}


@pytest.mark.parametrize("scope", ["*", COMMUNITY_ID])
async def test_a_post_while_closed_is_caught(world: World, scope: str) -> None:
    """While the kill switch is on, or in shadow mode."""
    closed = Closure(scope, world.clock() - timedelta(days=1))
    assert await _broken(world, replace(world.record(), closed=(closed,))) == {"I12"}


async def test_work_whose_owner_is_gone_is_caught(world: World) -> None:
    """After two leases without a word."""
    world.clock.advance(130)
    assert await _broken(world, limits=AuditLimits(lease=timedelta(seconds=60))) == {"I5"}
    assert await _broken(world, limits=AuditLimits(lease=None)) == set()


async def test_evidence_that_changed_under_review_is_caught(world: World) -> None:
    """What a moderator opens is what the engine read."""
    passages = {one.id: text_hash(one.text) for one in drafted(numbered_post(0), 1).evidence}
    await world.undo((await world.cases(CaseState.APPROVED))[0])
    assert await _broken(world, replace(world.record(), passages=passages)) == set()
    changed = replace(world.record(), passages=dict.fromkeys(passages, "other"))
    assert await _broken(world, changed) == {"I14"}


async def test_the_key_of_an_erased_person_is_caught(world: World) -> None:
    """An acknowledged erasure leaves no key."""
    assert await _broken(world, replace(world.record(), erased=(await _value(world, PERSON),))) == {"I15"}


async def test_a_backlog_without_bound_is_caught(world: World) -> None:
    """No more cases wait for drafts than the settings allow."""
    assert await _broken(world, limits=AuditLimits(max_queued=0)) == {"I16"}


async def test_the_audit_of_a_live_database_names_each_promise_and_no_text(world: World) -> None:
    """One finding for each, with a remedy where it is broken, and never a word of a post or a reply."""
    findings = await audit(world.database, AuditLimits(lease=None))
    assert all(finding.ok for finding in findings)
    _tamper(world, "UPDATE approvals SET text = 'newcomers ' || text")
    findings = await audit(world.database)
    document = str(findings)
    assert next(finding.name.split()[0] for finding in findings if not finding.ok) == "I1"
    assert all(finding.remedy for finding in findings if not finding.ok)
    for word in ("newcomers", "street", "Newcomers"):
        assert word not in document


async def test_an_unposted_reply_of_unknown_fate_breaks_nothing(world: World) -> None:
    """That nobody knows is a state of its own, and no violation."""
    world.platform.next_send = lambda: Outcome.CALL_LOST
    world.clock.advance(16)
    await world.send()
    assert await world.broken() == {}


async def _value(world: World, query: str) -> str:
    async def work(session: Session) -> str:
        return str(await session.scalar(text(query)))

    return await world.database.run("look", work)


async def _approval_of(world: World, case_id: str) -> tuple[str, str]:
    async def work(session: Session) -> tuple[str, str]:
        query = text("SELECT id, sha256 FROM approvals WHERE case_id = :case")
        found = (await session.execute(query, {"case": case_id})).one()
        return str(found[0]), str(found[1])

    return await world.database.run("look", work)
