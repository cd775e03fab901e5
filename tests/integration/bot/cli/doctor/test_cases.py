"""What nobody does: each is caused on SQLite and PostgreSQL, and the doctor says what to do."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import URL

from adapters.sample import SampleCommunity
from bot.cli.doctor.checks import examine_cases
from bot.compose.desk import Desk
from bot.settings import Settings
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.database.secret import load_secret
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.roles import Operator
from core.desk.runtime.findings import Finding
from core.desk.schema import PlatformState
from core.desk.store import jobs
from core.desk.store.communities import EVERYWHERE
from core.desk.upkeep.chores import MAX_ATTEMPTS, Chore, Chores, Done
from core.desk.upkeep.schedule import Schedule
from core.desk.views import platforms
from core.desk.views.platforms import PlatformStatus
from core.errors import StoreUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.decisions import drafted, take
from tests.fakes.desk.people import COMMUNITY_ID
from tests.fakes.desk.sending import SendingScene
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.doctor_faults import told
from tests.fakes.machine.installation import settings_of

_HOUR = 3600.0


@pytest.fixture
def clock() -> FakeClock:
    """The doctor has this machine's clock, and so must what it looks at; a test puts it back."""
    return FakeClock(datetime.now(UTC))


@pytest.fixture
def settings(place: Path | URL, tmp_path: Path) -> Settings:
    """The installation of the test's database."""
    load_secret(tmp_path / "secret")
    return settings_of(place, tmp_path)


async def _wrong(settings: Settings) -> list[Finding]:
    return [finding for finding in await examine_cases(settings) if not finding.ok]


@pytest.mark.both_databases
async def test_a_quiet_desk_is_well(database: Database, settings: Settings) -> None:
    found = await examine_cases(settings)
    assert [(one.name, one.ok) for one in found] == [
        (name, True) for name in ("drafting", "review", "sending", "posting", "schedule")
    ]


async def test_nobody_drafts(desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock, settings: Settings):
    """A case that was just flagged is no fault; one that waits is, and one whose worker was lost."""
    clock.advance(-60)
    await desk.intake.flag(post)
    assert await _wrong(settings) == []
    clock.advance(-_HOUR)
    await desk.intake.flag(SampleCommunity().flag("105", "mill_pond"))
    told("cases to draft, and no worker", await _wrong(settings))
    await take(queue)
    told("cases to draft, and no worker", await _wrong(settings))


async def test_too_few_draft(desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock, settings: Settings):
    """One worker is at work, and others wait for hours."""
    clock.advance(-2 * _HOUR)
    await desk.intake.flag(post)
    await desk.intake.flag(SampleCommunity().flag("105", "mill_pond"))
    clock.advance(2 * _HOUR)
    await take(queue)
    told("cases to draft, and too few workers", await _wrong(settings))


async def test_nobody_decides(desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock, settings: Settings):
    clock.advance(-13 * _HOUR)
    await drafted(desk, queue, post)
    told("drafts that nobody decides about", await _wrong(settings))


async def test_nobody_knows_whether_a_reply_arrived(database: Database, clock: FakeClock, settings: Settings) -> None:
    clock.advance(-_HOUR)
    scene = SendingScene(database, clock)
    await scene.approve()
    scene.community.resend, scene.community.send_fault, scene.community.arrives = 0.0, TimeoutError(), False
    await scene.outbox.send_due()
    told("a reply that may have arrived", await _wrong(settings))


@pytest.mark.parametrize(
    ("scope", "breakage"),
    [(COMMUNITY_ID, "posting that is stopped in a community"), (EVERYWHERE, "posting that is stopped everywhere")],
)
async def test_posting_is_stopped(database: Database, settings: Settings, scope: str, breakage: str) -> None:
    """Somebody did so on purpose, and may have forgotten it."""
    await CommunityDesk(database).pause(scope, Operator("ana"), "an alarm")
    told(breakage, await _wrong(settings))


async def test_nobody_leads_the_schedule(database: Database, settings: Settings) -> None:
    """Where a process serves a platform, one leads; where none does, nothing is told twice."""
    connected = [PlatformStatus("sample", PlatformState.CONNECTED)]
    await database.run("serve", lambda s: platforms.keep(s, "one", connected, timedelta(hours=1)))
    told("a schedule that no process leads", await _wrong(settings))
    await Schedule(database, (), "one").tick()
    assert await _wrong(settings) == []


async def test_a_chore_is_given_up(database: Database, clock: FakeClock, settings: Settings) -> None:
    """As long as it did not succeed since."""
    fails = True

    async def do(_: object) -> Done:
        if fails:
            raise StoreUnavailable("The disk is full.", remedy="Make room.")
        return Done("done")

    chores = Chores(database, [Chore("retention", do)], "one")
    for key in ("a", "b"):
        await database.run("ask", lambda s, key=key: jobs.enqueue(s, key, "retention"))  # type: ignore[misc]
        for _ in range(MAX_ATTEMPTS):
            await chores.drain()
            clock.advance(2 * _HOUR)
        if fails:
            told("a chore that was given up", await _wrong(settings))
        fails = False
    assert await _wrong(settings) == []
