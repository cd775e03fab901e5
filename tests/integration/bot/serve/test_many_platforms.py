"""Two towns served by one process: one fails, is named and connected again, and the other never notices."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import URL

from bot.cli.doctor.checks import examine_platforms
from bot.compose.application import Application, admit, open_application
from bot.serve.supervision import Patience, first_of, serve
from bot.settings import Settings
from core.desk.drafting.queue import Backoff
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import Person
from core.desk.runtime.findings import Finding
from core.desk.schema import PlatformState
from core.desk.store.cases import Case
from core.desk.views.platforms import PlatformStatus, troubles
from core.engine.pipeline import OnProgress
from core.engine.request import Request
from core.errors import BadSettings, PlatformUnavailable
from core.models import Suggestion
from tests.fakes.desk.decisions import approve, one_row
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.installation import settings_of
from tests.fakes.machine.patience import until
from tests.fakes.ports.unsteady import UnsteadyTown

_REST = ("test", 10.0, 30.0)
"""How the pauses are drawn: the first one is 10 seconds at most, and none is longer than 30."""


class _Engine:
    """An engine that drafts the same for everybody."""

    readers = readers_saying()

    evidence = FakeEvidence()

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> Suggestion:
        return suggestion_for(request.post)


class _Pauses:
    """Pauses that last until a test ends them, by a clock that stands still."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.now = 0.0
        self._go_on = asyncio.Event()

    async def wait(self, stop: asyncio.Event, seconds: float) -> None:
        self._go_on.clear()
        self.seconds.append(seconds)
        await first_of(stop.wait(), self._go_on.wait())

    def seconds_now(self) -> float:
        """What the clock shows."""
        return self.now

    def end(self) -> None:
        """End the pause that lasts."""
        self._go_on.set()


@dataclass
class Scene:
    """An application over a steady town and one that fails; ``heard`` is what who started it was told."""

    application: Application
    settings: Settings
    steady: UnsteadyTown
    failing: UnsteadyTown
    pauses: _Pauses
    heard: list[PlatformStatus]
    serving: asyncio.Task[None]

    async def until_heard(self, town: UnsteadyTown, state: PlatformState, times: int = 1) -> PlatformStatus:
        """Wait until a town was said to stand so, so many times; what was said last."""

        async def found() -> bool:
            return len(self._heard(town, state)) >= times or self.serving.done()

        await until(found)
        return self._heard(town, state)[times - 1]

    def _heard(self, town: UnsteadyTown, state: PlatformState) -> list[PlatformStatus]:
        return [one for one in self.heard if (one.platform, one.state) == (town.name, state)]

    async def case_of(self, town: UnsteadyTown) -> Case | None:
        found = [case for case in await self.application.desk.queries.cases() if case.post.ref.platform == town.name]
        return found[0] if found else None

    async def until_in(self, town: UnsteadyTown, state: CaseState) -> Case:
        """Wait until the town's case is in a state."""

        async def is_there() -> bool:
            case = await self.case_of(town)
            return case is not None and case.state is state

        await until(is_there)
        case = await self.case_of(town)
        assert case is not None
        return case

    async def draft(self, town: UnsteadyTown) -> Case:
        """Flag a post of a town, and wait for its drafts."""
        await town.flag()
        return await self.until_in(town, CaseState.IN_REVIEW)

    async def approve(self, case: Case) -> None:
        """Let the town's moderator approve a reply."""
        await approve(self.application.desk, case, _moderator(case.post.ref.platform))

    async def answer(self, town: UnsteadyTown) -> None:
        """From a flag to a posted reply."""
        await self.approve(await self.draft(town))
        await self.until_in(town, CaseState.POSTED)
        assert len(town.replies()) == 1

    async def finding(self, town: UnsteadyTown) -> Finding:
        """What ``antiphon doctor`` says of a town in another process, once the latest standing is kept."""
        state = next(one.state for one in reversed(self.heard) if one.platform == town.name)

        async def is_kept() -> bool:
            query = f"SELECT count(*) FROM platforms WHERE platform = '{town.name}' AND state = '{state}'"
            return await one_row(self.application.database, query) == (1,)

        await until(is_kept)
        found = {each.name: each for each in await examine_platforms(self.settings)}
        return found[f"platform {town.name}"]

    async def troubles(self) -> list[str]:
        """The platforms that managers are told of."""
        return [one.platform for one in await self.application.database.run("look", troubles)]


def _moderator(platform: str) -> Person:
    return Person(platform, "moderator_one", "moderator_one")


@pytest.fixture
def steady() -> UnsteadyTown:
    """A town that nothing happens to."""
    return UnsteadyTown("harbour", "quay")


@pytest.fixture
def failing() -> UnsteadyTown:
    """A town whose line fails as a test says."""
    return UnsteadyTown("sample", "brenmoor")


@asynccontextmanager
async def served(place: Path | URL, folder: Path, steady: UnsteadyTown, failing: UnsteadyTown) -> AsyncIterator[Scene]:
    """Both towns, served until the block is over."""
    settings, pauses, stop = settings_of(place, folder), _Pauses(), asyncio.Event()
    heard: list[PlatformStatus] = []
    async with open_application(
        _Engine(),  # type: ignore[arg-type]
        settings,
        [failing.served, steady.served],
        PATIENT,
        undo_seconds=0,
        on_standing=heard.append,
        patience=Patience(Backoff(*_REST), wait=pauses.wait, seconds_now=pauses.seconds_now),
    ) as application:
        for town in (steady, failing):
            await admit(application.database, town.name, town.community.community, _moderator(town.name))
        serving = asyncio.create_task(serve(application, stop, drain_seconds=20))
        try:
            yield Scene(application, settings, steady, failing, pauses, heard, serving)
        finally:
            stop.set()
            await asyncio.wait({serving})
        assert await one_row(application.database, "SELECT count(*) FROM platforms") == (0,)
    serving.result()


@pytest.fixture
async def scene(place: Path | URL, tmp_path: Path, steady: UnsteadyTown, failing: UnsteadyTown) -> AsyncIterator[Scene]:
    """Both towns, connected."""
    async with served(place, tmp_path, steady, failing) as made:
        for town in (steady, failing):
            await made.until_heard(town, PlatformState.CONNECTED)
        yield made


async def test_one_that_cannot_connect_is_named_and_tried_again_while_the_other_is_served(
    place: Path | URL, tmp_path: Path, steady: UnsteadyTown, failing: UnsteadyTown
) -> None:
    """After longer and longer pauses, up to a ceiling; in the end it answers its people as if nothing had been."""
    failing.open_faults = [PlatformUnavailable("The town is closed.", remedy="Wait."), *(OSError() for _ in range(4))]
    async with served(place, tmp_path, steady, failing) as scene:
        first = await scene.until_heard(failing, PlatformState.WAITING)
        assert (first.failures, first.message, first.remedy) == (1, "The town is closed.", "Wait.")
        found = await scene.finding(failing)
        assert (found.ok, found.remedy) == (False, "Wait.")
        assert "The town is closed. Attempts that failed: 1; the next is at" in found.detail
        assert await scene.troubles() == ["sample"]
        await scene.answer(steady)
        assert (await scene.finding(steady)).ok
        for attempt in range(2, 6):
            scene.pauses.end()
            waiting = await scene.until_heard(failing, PlatformState.WAITING, attempt)
            assert (waiting.failures, waiting.message) == (attempt, "sample failed (OSError).")
        scene.pauses.end()
        assert (await scene.until_heard(failing, PlatformState.CONNECTED)).note == "line 1"
        assert (await scene.finding(failing)).ok
        assert await scene.troubles() == []
        await scene.answer(failing)
    expected = Backoff(*_REST)
    assert scene.pauses.seconds == [expected.seconds(attempt) for attempt in range(1, 6)]
    assert max(scene.pauses.seconds) <= 30.0
    assert len(steady.lines) == 1


async def test_one_that_dies_in_the_middle_finishes_its_own_case_when_it_is_back(scene: Scene) -> None:
    """What is approved meanwhile waits, and no attempt is counted; the other town posts at once."""
    case = await scene.draft(scene.failing)
    scene.failing.die()
    lost = await scene.until_heard(scene.failing, PlatformState.WAITING)
    assert lost.message == "sample failed (ConnectionResetError)."
    await scene.approve(case)
    await scene.answer(scene.steady)
    assert await scene.application.outbox.send_due() == await scene.application.outbox.recover() == []
    assert await one_row(scene.application.database, "SELECT state, attempts FROM outbox WHERE state <> 'posted'") == (
        "queued",
        0,
    )
    assert not (await scene.finding(scene.failing)).ok
    scene.pauses.end()
    await scene.until_in(scene.failing, CaseState.POSTED)
    assert len(scene.failing.replies()) == 1
    assert (len(scene.failing.lines), len(scene.steady.lines)) == (2, 1)


async def test_one_that_breaks_in_a_send_is_connected_anew(scene: Scene) -> None:
    """The send is settled as every one of unknown fate; the error is named by its kind, without what it says."""
    scene.failing.post_faults = [RuntimeError("the words of a post")]
    await scene.answer(scene.failing)
    broken = await scene.until_heard(scene.failing, PlatformState.WAITING)
    assert broken.message == "sample failed (RuntimeError)."
    await scene.answer(scene.steady)
    scene.pauses.end()
    await scene.until_heard(scene.failing, PlatformState.CONNECTED, 2)
    assert len(scene.steady.lines) == 1
    assert len(scene.failing.replies()) == 1


async def test_one_that_is_silent_in_a_send_holds_up_nobody_else(scene: Scene) -> None:
    """A send without an answer takes as long as a call may; the other town's replies go out meanwhile."""
    scene.failing.is_free.clear()
    await scene.approve(await scene.draft(scene.failing))
    await scene.failing.is_sending.wait()
    await scene.answer(scene.steady)
    assert (await scene.until_in(scene.failing, CaseState.SENDING)).state is CaseState.SENDING
    scene.failing.is_free.set()
    await scene.until_in(scene.failing, CaseState.POSTED)


async def test_what_was_flagged_over_a_lost_line_is_drafted(scene: Scene) -> None:
    """A flag and the loss at the same moment: the post has its case (invariant I3)."""
    await scene.failing.flag()
    scene.failing.die()
    await scene.until_in(scene.failing, CaseState.IN_REVIEW)


async def test_one_whose_settings_are_refused_is_left_alone_and_named(
    place: Path | URL, tmp_path: Path, steady: UnsteadyTown, failing: UnsteadyTown
) -> None:
    """To ask again with the same token would do harm; the other town is served."""
    failing.open_faults = [BadSettings("The token is refused.", remedy="Make a new one.")]
    async with served(place, tmp_path, steady, failing) as scene:
        await scene.until_heard(failing, PlatformState.REFUSED)
        await scene.answer(steady)
        found = await scene.finding(failing)
        assert (found.ok, found.remedy) == (False, "Make a new one.")
        assert "The token is refused." in found.detail
    assert not failing.lines
    assert not scene.pauses.seconds


@pytest.mark.both_databases
async def test_where_every_platform_refuses_its_settings_it_ends(
    place: Path | URL, tmp_path: Path, steady: UnsteadyTown, failing: UnsteadyTown
) -> None:
    """A process that can serve nobody says so, and what to do."""
    for town in (steady, failing):
        town.open_faults = [BadSettings(f"{town.name} is refused.", remedy="Make a new token.")]
    with pytest.raises(BadSettings, match="is refused"):
        async with served(place, tmp_path, steady, failing) as scene:
            await asyncio.wait({scene.serving})


@pytest.mark.both_databases
async def test_a_connection_that_held_long_begins_the_pauses_anew(scene: Scene) -> None:
    """One that is lost soon after it was opened does not: it would be opened and lost without an end."""
    failures = list[int]()
    for lost, held_seconds in enumerate((0.0, 299.0, 300.0), start=1):
        await scene.until_heard(scene.failing, PlatformState.CONNECTED, lost)
        scene.pauses.now += held_seconds
        scene.failing.die()
        failures.append((await scene.until_heard(scene.failing, PlatformState.WAITING, lost)).failures)
        scene.pauses.end()
    assert failures == [1, 2, 1]


async def test_a_stop_ends_an_attempt_to_connect_and_a_pause(
    place: Path | URL, tmp_path: Path, steady: UnsteadyTown, failing: UnsteadyTown
) -> None:
    """Neither is waited for: what hangs has no limit of its own, and the pauses of this test never end."""
    failing.open_faults, steady.is_open = [OSError()], asyncio.Event()
    async with served(place, tmp_path, steady, failing) as scene:
        await scene.until_heard(failing, PlatformState.WAITING)
        assert await scene.until_heard(steady, PlatformState.CONNECTING)
    assert steady.lines == failing.lines == []
