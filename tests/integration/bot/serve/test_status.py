"""What a process says of itself over HTTP: that it lives, whether it is ready and why not, and what there is."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientSession
from prometheus_client.parser import text_string_to_metric_families

from bot.compose.desk import Desk
from bot.serve.status import (
    CLOSED_SECONDS,
    FRESH_SECONDS,
    STARTING,
    STOPPING,
    Condition,
    DatabaseMetrics,
    Glance,
    Status,
    answering,
    database_answers,
    platform_connected,
)
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.closures import CloseReason
from core.desk.runtime import faults
from core.errors import BadSettings, ModelAway, StoreUnavailable
from core.models import FlaggedPost, Priority
from tests.fakes.desk.boards import CHANNEL, choose_channel
from tests.fakes.desk.decisions import approve, execute, take
from tests.fakes.desk.people import MODERATOR
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock

LOOPBACK = "127.0.0.1:0"


class Page:
    """The routes of one process."""

    def __init__(self, session: ClientSession, port: int) -> None:
        self._session, self._place = session, f"http://127.0.0.1:{port}"

    async def json(self, route: str) -> tuple[int, Any]:
        async with self._session.get(self._place + route) as answer:
            return answer.status, await answer.json()

    async def samples(self) -> dict[str, float]:
        """Every value of /metrics, by its name with its labels' values."""
        async with self._session.get(f"{self._place}/metrics") as answer:
            assert answer.status == 200
            assert answer.content_type == "text/plain"
            text = await answer.text()
        found = dict[str, float]()
        for family in text_string_to_metric_families(text):
            found |= {" ".join([one.name, *one.labels.values()]): one.value for one in family.samples}
        return found


@pytest.fixture
def status() -> Status:
    return Status()


@pytest.fixture
async def page(status: Status) -> AsyncIterator[Page]:
    async with answering(LOOPBACK, status) as port, ClientSession() as session:
        yield Page(session, port)


@pytest.mark.both_databases
async def test_a_process_is_ready_between_its_start_and_its_stop(
    status: Status, page: Page, database: Database
) -> None:
    """And only while what it needs is there; it lives all the time."""
    faults_of_model = [ModelAway("The server is gone.", remedy="Start it.")]
    platforms = dict[str, object]()

    async def ask_model() -> None:
        if faults_of_model:
            raise faults_of_model[0]

    conditions = {
        "model": Condition(ask_model, "The model", fresh_seconds=0),
        "platforms": platform_connected(platforms),
    }
    assert await page.json("/ready") == (503, {"ready": False, "reasons": {"process": STARTING}})
    async with status.working(database, conditions):
        code, said = await page.json("/ready")
        assert (code, set(said["reasons"])) == (503, {"model", "platforms"})
        assert said["reasons"]["model"] == "The server is gone. Start it."
        assert (await page.samples())["antiphon_ready"] == 0
        faults_of_model.clear()
        platforms["sample"] = object()
        assert await page.json("/ready") == (200, {"ready": True, "reasons": {}})
        assert (await page.samples())["antiphon_ready"] == 1
        status.stop()
        assert await page.json("/ready") == (503, {"ready": False, "reasons": {"process": STOPPING}})
    assert (await page.json("/ready"))[0] == 503
    assert await page.json("/health") == (200, {"alive": True})


async def test_tables_of_another_version_are_a_reason(database: Database) -> None:
    """A process that was not upgraded with the database must get no work."""
    assert await database_answers(database).why_not() == ""
    await execute(database, "UPDATE alembic_version SET version_num = 'of-tomorrow'")
    assert "of-tomorrow" in await database_answers(database).why_not()


async def test_what_does_not_answer_in_time_is_asked_once_and_heard_later() -> None:
    """A person who asks often does not pile up questions to a database that hangs."""
    asked, answer = 0, asyncio.Event()

    async def look() -> int:
        nonlocal asked
        asked += 1
        await answer.wait()
        return asked

    glance = Glance(look, fresh_seconds=60, patience_seconds=0.01)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            await glance.see()
    answer.set()
    await asyncio.sleep(0)
    assert [await glance.see() for _ in range(3)] == [1, 1, 1]


async def test_a_port_that_is_taken_is_told_with_its_remedy(status: Status) -> None:
    async with answering(LOOPBACK, status) as port:
        for place in (f"127.0.0.1:{port}", "127.0.0.1:99999"):
            with pytest.raises(BadSettings) as caught:
                async with answering(place, status):
                    pass
            assert place in caught.value.message
            assert "operations.listen" in caught.value.remedy


@pytest.mark.both_databases
async def test_metrics_say_what_there_is(
    status: Status, page: Page, database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """One case is in review, one approved and due, one closed, one being drafted, two wait; the board shows none."""
    before = await page.samples()
    await choose_channel(database, CHANNEL)
    posts = [replace(post, ref=replace(post.ref, message=f"m{n}"), text=f"Street {n} is full.") for n in range(6)]
    cases = []
    for each in posts[:3]:
        await desk.intake.flag(each)
        taken = await take(queue)
        cases.append(await queue.store(taken, suggestion_for(each, ("We all live here.",))))
    await approve(desk, cases[1])
    await desk.decisions.close(cases[2].id, cases[2].version, MODERATOR, CloseReason.NOT_HATEFUL)
    await desk.intake.flag(posts[3])
    await take(queue)
    await desk.intake.flag(replace(posts[4], priority=Priority.DETECTED))
    clock.advance(10)
    await desk.intake.flag(posts[5])
    clock.advance(20)
    async with status.working(database, {}):
        found = await page.samples()
    counted = {name.split()[1]: value for name, value in found.items() if name.startswith("antiphon_cases ") and value}
    assert counted == {"in_review": 1, "approved": 1, "no_reply": 1, "drafting": 1, "queued": 2}
    expected = {
        "database_up": 1,
        "queue_cases detected": 1,
        "queue_cases flagged": 1,
        "queue_cases asked": 0,
        "queue_oldest_waiting_seconds detected": 30,
        "queue_oldest_waiting_seconds flagged": 20,
        "queue_oldest_waiting_seconds asked": 0,
        "workers_drafting": 1,
        "review_oldest_waiting_seconds": 30,
        "sends_waiting": 1,
        "sends_oldest_waiting_seconds": 15,
        "sends_unknown": 0,
        "cards_outdated": 6,
        "board_lag_seconds": 30,
        "posting_paused": 0,
    }
    assert {name: found[f"antiphon_{name}"] for name in expected} == expected
    grown = {
        name.removeprefix("antiphon_"): value - before.get(name, 0)
        for name, value in found.items()
        if name.startswith(("antiphon_flag_to_drafts_seconds_count", "antiphon_flag_to_decision_seconds_count"))
    }
    assert {name: value for name, value in grown.items() if value} == {
        "flag_to_drafts_seconds_count flagged": 3,
        "flag_to_decision_seconds_count approved": 1,
        "flag_to_decision_seconds_count closed": 1,
    }


async def test_nothing_old_is_told_while_the_database_is_away(
    page: Page, database: Database, desk: Desk, post: FlaggedPost
) -> None:
    """Old numbers would look like today's; when it is back, so are they. It is asked again after a while only."""
    now, is_away = 1000.0, False

    async def break_down(point: str) -> None:
        if is_away and point == "count what there is: before the commit":
            raise StoreUnavailable("The database does not answer.")

    counting = DatabaseMetrics(database, ticks=lambda: now)
    with faults.installed(break_down):
        await counting.refresh()
        await desk.intake.flag(post)
        await counting.refresh()
        assert (await page.samples())["antiphon_cases queued"] == 0
        is_away, now = True, now + FRESH_SECONDS
        await counting.refresh()
        away = await page.samples()
        is_away, now = False, now + FRESH_SECONDS
        await counting.refresh()
        back = await page.samples()
    assert away["antiphon_database_up"] == 0
    assert not [name for name in away if name.startswith("antiphon_cases ")]
    assert away["antiphon_sends_unknown"] != away["antiphon_sends_unknown"]  # not a number
    assert (back["antiphon_database_up"], back["antiphon_cases queued"], back["antiphon_cases posted"]) == (1, 1, 0)


async def test_closed_cases_are_counted_less_often(
    page: Page, database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """They are many, and a count of them takes long."""
    now = 1000.0
    counting = DatabaseMetrics(database, ticks=lambda: now)
    await counting.refresh()
    await desk.intake.flag(post)
    case = await queue.store(await take(queue), suggestion_for(post, ("We all live here.",)))
    await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.NOT_HATEFUL)
    now += FRESH_SECONDS
    await counting.refresh()
    assert (await page.samples())["antiphon_cases no_reply"] == 0
    now += CLOSED_SECONDS
    await counting.refresh()
    assert (await page.samples())["antiphon_cases no_reply"] == 1
