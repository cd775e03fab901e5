"""Workers as processes that are killed, stopped and told to end: no case is lost, none is drafted behind its back."""

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import URL

from bot.compose.desk import Desk, build_desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.models import FlaggedPost
from tests.fakes.desk.people import SECRET, settle
from tests.fakes.machine.heard import OPERATED, heard, port_of, told
from tests.fakes.machine.patience import GUARD_SECONDS, until

pytestmark = pytest.mark.both_databases


ONE_DATABASE = pytest.mark.parametrize("database_server", ["sqlite"], indirect=True)
"""What a process does at a signal does not depend on the database; how its lease is taken does."""


class Workers:
    """Starts processes that draft from one database, with leases of a second."""

    def __init__(self, place: Path | URL, folder: Path, preloaded: Sequence[str]) -> None:
        self.go = folder / "go"
        self.preloaded = preloaded
        if isinstance(place, Path):
            where = {"ANTIPHON__DESK__DATABASE": str(place)}
        else:
            where = {"ANTIPHON__DESK__DATABASE_URL": place.render_as_string(hide_password=False)}
        own = {name: text for name, text in os.environ.items() if not name.upper().startswith("ANTIPHON")}
        self._variables = (
            own
            | where
            | {
                "ANTIPHON__DESK__LEASE_SECONDS": "1",
                "GO": str(self.go),
                "XDG_RUNTIME_DIR": str(folder),
            }
        )

    @asynccontextmanager
    async def started(self, name: str, engine: str, *, drain: str = "60", **more: str) -> AsyncIterator[Process]:
        """A process whose engine does this; killed at the end of the block, if it is still there."""
        process = await asyncio.create_subprocess_exec(
            *(*self.preloaded, "-m", "tests.fakes.desk.draft_worker"),
            stdout=PIPE,
            stderr=PIPE,
            env=self._variables | {"NAME": name, "ENGINE": engine, "ANTIPHON__DESK__DRAIN_SECONDS": drain} | more,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


@pytest.fixture
def workers(place: Path | URL, tmp_path: Path, preloaded: Sequence[str]) -> Workers:
    return Workers(place, tmp_path, preloaded)


@pytest.fixture
async def live(place: Path | URL) -> AsyncIterator[Database]:
    """The test's database by the real clock, which the processes share."""
    opened = await Database.open(place, secret=SECRET)
    await settle(opened)
    yield opened
    await opened.close()


async def begun(process: Process) -> int:
    """Wait until the engine is at work on a case; the number of its process, which ``process`` stands for."""
    assert process.stdout is not None
    async with asyncio.timeout(GUARD_SECONDS):
        line = await process.stdout.readline()
    assert line.startswith(b"begun ")
    return int(line.split()[1])


async def ended(process: Process) -> tuple[int, str]:
    """The exit code, and what was said on standard error."""
    async with asyncio.timeout(GUARD_SECONDS):
        _, said = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


async def reasons(desk: Desk, case_id: str) -> list[str]:
    return [entry.reason for entry in await desk.queries.history(case_id)][2:]


async def texts(desk: Desk, case_id: str) -> list[str]:
    stored = await desk.queries.suggestion(case_id)
    return [] if stored is None else [draft.text for draft in stored.suggestion.drafts]


async def is_in_review(desk: Desk, case_id: str) -> bool:
    return (await desk.queries.case(case_id)).state is CaseState.IN_REVIEW


async def test_a_case_whose_worker_was_killed_is_drafted_by_another(
    workers: Workers, live: Database, post: FlaggedPost
) -> None:
    """A kill -9 in the middle of a draft: when the lease is over, another process takes over (invariant I5)."""
    desk = build_desk(live)
    case = await desk.intake.flag(post)
    async with workers.started("first", "waits") as first:
        os.kill(await begun(first), signal.SIGKILL)
        async with workers.started("second", "drafts"):
            await until(lambda: is_in_review(desk, case.id))
    assert await texts(desk, case.id) == ["drafted by second"]
    assert await reasons(desk, case.id) == [
        "drafting, attempt 1",
        "Its worker was lost. It is tried again later.",
        "drafting, attempt 2",
        "1 draft",
    ]


async def test_a_worker_that_slept_through_its_lease_writes_nothing(
    workers: Workers, live: Database, post: FlaggedPost
) -> None:
    """SIGSTOP until another process has finished, then SIGCONT: the late draft is refused (invariant I5)."""
    desk = build_desk(live)
    case = await desk.intake.flag(post)
    async with workers.started("sleeper", "waits", HEARTBEAT="3600") as sleeper:
        number = await begun(sleeper)
        os.kill(number, signal.SIGSTOP)
        async with workers.started("other", "drafts"):
            await until(lambda: is_in_review(desk, case.id))
        reviewed, history = await desk.queries.case(case.id), await desk.queries.history(case.id)
        workers.go.touch()
        os.kill(number, signal.SIGCONT)
        assert sleeper.stderr is not None
        said = b""
        async with asyncio.timeout(GUARD_SECONDS):
            while b"moved by somebody else" not in said:
                said += await sleeper.stderr.readline()
        sleeper.send_signal(signal.SIGTERM)
        assert (await ended(sleeper))[0] == 0
    assert await desk.queries.case(case.id) == reviewed
    assert await desk.queries.history(case.id) == history
    assert await texts(desk, case.id) == ["drafted by other"]


@ONE_DATABASE
async def test_a_post_that_kills_its_worker_three_times_comes_to_a_person(
    workers: Workers, live: Database, post: FlaggedPost
) -> None:
    """Whatever restarts the process, it is not killed for ever (invariant I6)."""
    desk = build_desk(live)
    case = await desk.intake.flag(post)
    for number in range(3):
        async with workers.started(f"victim {number}", "dies") as victim:
            assert (await ended(victim))[0] == 9
    queue = DraftQueue(live, "reaper")

    async def is_handed_over() -> bool:
        assert await queue.take() is None
        return (await desk.queries.case(case.id)).state is CaseState.NEEDS_PERSON

    await until(is_handed_over)
    assert (await reasons(desk, case.id))[-1] == ("Drafting was tried 3 times. The last time: Its worker was lost.")


@ONE_DATABASE
async def test_a_worker_told_to_end_finishes_what_it_drafts(
    workers: Workers, live: Database, post: FlaggedPost
) -> None:
    """SIGTERM: it is not ready from then on, keeps the draft in hand, and begins nothing else. It writes only JSON."""
    desk = build_desk(live)
    case = await desk.intake.flag(post)
    async with workers.started("worker", "waits", **OPERATED) as process:
        await begun(process)
        said = await heard(process, "Drafting 1 at once")
        assert (await told(port_of(said), "/ready"))[0] == 200
        process.send_signal(signal.SIGTERM)
        said += await heard(process, "Stopping")
        assert (await told(port_of(said), "/ready"))[0] == 503
        workers.go.touch()
        code, rest = await ended(process)
    assert code == 0
    events = [json.loads(line) for line in (said + rest).splitlines()]
    assert "Stopped. What was not finished is in the queue again." in [event["event"] for event in events]
    assert {(one["case"], one["worker"]) for one in events if "case" in one} == {(case.id, "worker-0")}
    assert await texts(desk, case.id) == ["drafted by worker"]


@ONE_DATABASE
@pytest.mark.parametrize("twice", [False, True])
async def test_a_worker_that_cannot_finish_in_time_gives_its_case_back(
    workers: Workers, live: Database, post: FlaggedPost, twice: bool
) -> None:
    """When the time is over, or at the second signal, the case waits again, and the attempt is not held against it."""
    desk = build_desk(live)
    case = await desk.intake.flag(post)
    async with workers.started("worker", "waits", drain="3600" if twice else "0.1") as process:
        await begun(process)
        process.send_signal(signal.SIGINT)
        if twice:
            assert process.stderr is not None
            async with asyncio.timeout(GUARD_SECONDS):
                while b"Stopping" not in await process.stderr.readline():
                    pass
            process.send_signal(signal.SIGINT)
        code, _ = await ended(process)
    assert code == (130 if twice else 0)
    assert (await desk.queries.case(case.id)).state is CaseState.QUEUED
    taken = await DraftQueue(live, "next").take()
    assert taken is not None
    assert (taken.job.attempts, taken.job.tries) == (2, 1)
