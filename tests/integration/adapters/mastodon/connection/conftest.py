"""What tests of the intake share: a real inbox, and who listens to what comes out of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.common.arrivals import UpdateHandler
from adapters.mastodon.connection.client import MastodonClient, MastodonOptions, NotificationEvent
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.connection.updates import MastodonDispatcher, NotificationPoll
from adapters.mastodon.speech import text_of
from bot.serve.supervision import cancel_all, first_of
from core.desk.database.connection import Database
from core.desk.store.inbox import StoredInbox
from tests.fakes.desk.people import SECRET
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.machine.sqlite_at_once import call_at_once
from tests.fakes.mastodon.server.server import MastodonServer

SHORT_SECONDS = 0.01
"""Between two questions of a test."""


class Pauses:
    """Pauses that take no time; ``seconds`` is how long each should have been, without those of the usual order."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        if seconds != SHORT_SECONDS:
            self.seconds.append(seconds)
        await asyncio.sleep(SHORT_SECONDS)


@dataclass
class Intake:
    """One process that takes in notifications; ``heard`` is what its listener was handed.

    Attributes:
        answers: what the listener raises next, if anything.
        gates: the accounts whose notifications end only when their event is set.
    """

    client: MastodonClient
    inbox: StoredInbox
    handling: UpdateHandler
    polling: NotificationPoll
    heard: list[NotificationEvent] = field(default_factory=list)
    answers: list[Exception] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)

    def texts(self) -> list[str]:
        """What was written behind the bot's name, in the order in which it was handed out."""
        return [text_of(each.status).partition(" ")[2] for each in self.heard]

    async def listen(self, heard: NotificationEvent) -> bool:
        """Hear one notification."""
        self.heard.append(heard)
        gate = self.gates.get(str(heard.status.account.id))
        if gate is not None:
            await gate.wait()
        if self.answers:
            raise self.answers.pop(0)
        return True

    @asynccontextmanager
    async def open(self) -> AsyncIterator[asyncio.Task[None]]:
        """Take in notifications while the block runs; the task ends only by a failure."""
        await self.client.open()
        task = asyncio.create_task(first_of(self.polling.run(), self.handling.run()))
        try:
            yield task
        finally:
            await cancel_all([task])
            await self.handling.close()
            await self.client.close()

    async def until_heard(self, count: int) -> None:
        """Wait until so many notifications were handed out."""
        async with asyncio.timeout(GUARD_SECONDS):
            while len(self.heard) < count:  # noqa: ASYNC110 - the listener tells nobody
                await asyncio.sleep(0.01)


MakeIntake = Callable[..., Intake]


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """A SQLite file."""
    opened = await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET, clock=FakeClock())
    await call_at_once(opened.engine, pauses=True)
    yield opened
    await opened.close()


@pytest.fixture
def intake_at(database: Database, pauses: Pauses) -> MakeIntake:
    """Makes a process that takes in the notifications of the bot on an instance."""

    def make(server: MastodonServer, owner: str = "process 1") -> Intake:
        client = MastodonClient(MastodonOptions(server.url, server.bot.token))
        inbox = StoredInbox(database, NAME, f"{server.bot.id}@{server.domain}", owner)
        handling = UpdateHandler(MastodonDispatcher(client), inbox, sleep=pauses.sleep)
        polling = NotificationPoll(
            client,
            inbox,
            handling.wake,
            poll_seconds=SHORT_SECONDS,
            gap_seconds=SHORT_SECONDS,
            sleep=pauses.sleep,
        )
        made = Intake(client, inbox, handling, polling)
        client.listen(made.listen)
        return made

    return make


@pytest.fixture
async def intake(server: MastodonServer, intake_at: MakeIntake) -> Intake:
    """One that has begun already, so that what is written from now on is for it."""
    made = intake_at(server)
    await made.inbox.keep([], "0")
    return made
