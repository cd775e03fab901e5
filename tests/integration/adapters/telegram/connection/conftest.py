"""What tests of the intake share: a real inbox, and who listens to what comes out of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from adapters.common.arrivals import UpdateHandler
from adapters.telegram.connection.client import TelegramClient, TelegramOptions, UpdateEvent
from adapters.telegram.connection.refs import NAME
from adapters.telegram.connection.updates import TelegramDispatcher, UpdatePoll
from bot.serve.supervision import cancel_all, first_of
from core.desk.database.connection import Database
from core.desk.store.inbox import StoredInbox
from tests.fakes.desk.people import SECRET
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.machine.sqlite_at_once import call_at_once
from tests.fakes.telegram.server.server import TelegramServer


@dataclass
class Intake:
    """One process that takes in updates; ``heard`` is what its listener was handed.

    Attributes:
        answers: what the listener raises next, if anything.
        gates: the chats whose updates end only when their event is set.
    """

    client: TelegramClient
    inbox: StoredInbox
    handling: UpdateHandler
    polling: UpdatePoll
    heard: list[UpdateEvent] = field(default_factory=list)
    answers: list[Exception] = field(default_factory=list)
    gates: dict[int, asyncio.Event] = field(default_factory=dict)

    def texts(self) -> list[str]:
        """What was written or pressed, in the order in which it was handed out."""
        return [_said(each.raw) for each in self.heard]

    async def listen(self, heard: UpdateEvent) -> bool:
        """Hear one update."""
        self.heard.append(heard)
        chat = heard.update.effective_chat
        if chat is not None and chat.id in self.gates:
            await self.gates[chat.id].wait()
        if self.answers:
            raise self.answers.pop(0)
        return True

    @asynccontextmanager
    async def open(self) -> AsyncIterator[asyncio.Task[None]]:
        """Take in updates while the block runs; the task ends only by a failure."""
        await self.client.open()
        await self.polling.open()
        task = asyncio.create_task(first_of(self.polling.run(), self.handling.run()))
        try:
            yield task
        finally:
            await cancel_all([task])
            await self.handling.close()
            await self.client.close()

    async def until_heard(self, count: int) -> None:
        """Wait until so many updates were handed out."""
        async with asyncio.timeout(GUARD_SECONDS):
            while len(self.heard) < count:  # noqa: ASYNC110 - the listener tells nobody
                await asyncio.sleep(0.01)


def _said(raw: dict[str, Any]) -> str:
    content = next(value for kind, value in raw.items() if kind != "update_id")
    return str(content.get("text") or content.get("data") or next(iter(raw.keys() - {"update_id"})))


MakeIntake = Callable[..., Intake]
Opened = AbstractAsyncContextManager[asyncio.Task[None]]


class Pauses:
    """Pauses that take no time; ``seconds`` is how long each should have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0.01)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def clock(server: TelegramServer) -> FakeClock:
    """The database's clock, which stands at the server's time."""
    return FakeClock(server.state.now())


@pytest.fixture
async def database(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    """A SQLite file."""
    opened = await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET, clock=clock)
    await call_at_once(opened.engine, pauses=True)
    yield opened
    await opened.close()


@pytest.fixture
def intake_of(server: TelegramServer, database: Database, pauses: Pauses) -> MakeIntake:
    """Makes a process that takes in updates."""

    def make(owner: str = "process 1", kinds: tuple[str, ...] = ("message", "callback_query")) -> Intake:
        client = TelegramClient(TelegramOptions(server.token, server.url))
        inbox = StoredInbox(database, NAME, client.own_id(), owner)
        handling = UpdateHandler(TelegramDispatcher(client), inbox, sleep=pauses.sleep)
        made = Intake(client, inbox, handling, UpdatePoll(client, inbox, handling.wake, sleep=pauses.sleep))
        for kind in kinds:
            client.listen(kind, made.listen)
        return made

    return make


@pytest.fixture
def intake(intake_of: MakeIntake) -> Intake:
    return intake_of()
