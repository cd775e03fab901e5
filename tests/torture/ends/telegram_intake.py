"""Processes that take in the updates of a Telegram on loopback, killed with SIGKILL at random moments of the intake.

The server outlives them, as Telegram does: it forgets an update only when a later one is asked for. Each process is
capture as it is served, over a real desk, on updates of many kinds (``telegram_talk``). At the end everything that was
flagged or found has one case, and no update is left.
"""

import asyncio
import os
import random
import signal
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import URL, func, select

from adapters.common.arrivals import UpdateHandler
from adapters.telegram.capture import events
from adapters.telegram.connection.client import TelegramClient, TelegramOptions, UpdateEvent
from adapters.telegram.connection.limiter import TelegramLimiter
from adapters.telegram.connection.refs import NAME
from adapters.telegram.connection.updates import TelegramDispatcher, UpdatePoll
from bot.compose.desk import build_casework, build_desk
from bot.serve.supervision import cancel_all, first_of
from core.desk.communities.governance import Governance
from core.desk.database.connection import Database, Session
from core.desk.runtime.faults import installed, reach
from core.desk.schema import CaseRow, UpdateRow, UpdateState
from core.desk.sending.outbox import Outbox
from core.desk.store.inbox import StoredInbox
from core.errors import PlatformUnavailable
from tests.fakes.desk.people import SECRET
from tests.fakes.machine.clock import Seconds
from tests.fakes.machine.patience import GUARD_SECONDS, until
from tests.fakes.ports.word_detector import WordDetector
from tests.fakes.telegram.server.server import TelegramServer
from tests.torture.ends.child import POINT, Place
from tests.torture.ends.telegram_talk import Cases, TelegramTalk
from tests.torture.world.processes import CHILDREN

_LEASE: Final = timedelta(milliseconds=20)
"""So that a process goes on at once with what the one before it had in hand."""
_DEEDS: Final = 2
"""How much people do in each cycle; of each come one to three updates."""
_MOST_POINTS: Final = 120
"""A process is killed at one of so many points: about what the updates of two cycles make it reach."""
_QUIET_SECONDS: Final = 0.5
"""After so long without a point a process has most likely dealt with all that there is."""
_HANDED_OUT: Final = "handed out"
_KINDS: Final = ("message", "edited_message", "message_reaction", "callback_query")


class KilledIntake(NamedTuple):
    """What the kills left behind.

    Attributes:
        handed_out: how often an update was handed out, which a kill before the record of how it ended repeats.
        unsettled: how many updates still wait, or could not be handled.
        worded: how many updates still hold words.
    """

    kills: int
    updates: int
    handed_out: int
    cases: Cases
    unsettled: int
    worded: int

    @property
    def broken(self) -> str:
        """What must not be; "" where all is as it must."""
        is_whole = not (self.cases.lost or self.cases.extra or self.unsettled or self.worded)
        return "" if is_whole and self.handed_out >= self.updates else repr(self)


class _Detector(WordDetector):
    """A filter during which a process can be killed, too."""

    async def score(self, text: str, language: str) -> float:
        await reach("the filter reads")
        return await super().score(text, language)


async def killed_at(where: Path | URL, folder: Path, kills: int, seed: int) -> KilledIntake:
    """Do it over a PostgreSQL database, or a SQLite file in a folder."""
    place = _place(where, folder)
    await (await Database.open(where if place.address else folder / "world", secret=SECRET)).close()
    return await run(place, kills, seed)


def _place(where: Path | URL, folder: Path) -> Place:
    return Place(folder) if isinstance(where, Path) else Place(folder, where.render_as_string(hide_password=False))


async def run(place: Place, kills: int, seed: int) -> KilledIntake:
    """Let people talk, and kill who takes it in, so many times; then let somebody take in the rest."""
    chance, server = random.Random(seed), TelegramServer()
    async with server.running():
        talk, database = TelegramTalk(server.town, chance), place.database()
        try:
            server.state.updates.allowed = list(_KINDS)
            await talk.set_up(database)
            for _ in range(kills):
                talk.go_on(_DEEDS)
                await asyncio.to_thread(_kill_one, place, server.url, server.token, chance.randint(1, _MOST_POINTS))
            await _take_in_the_rest(place, server, database)
            updates, cases = await database.run("look", _look)
        finally:
            await database.close()
    if server.errors:
        raise AssertionError(server.errors)
    said = place.said(_HANDED_OUT)
    return KilledIntake(
        kills=kills,
        updates=len(updates),
        handed_out=len(said),
        cases=talk.look(cases),
        unsettled=sum(row.state is not UpdateState.DONE for row in updates)
        + len(server.state.updates.made)
        - len(updates),
        worded=sum(row.payload is not None for row in updates),
    )


async def _look(session: Session) -> tuple[Sequence[UpdateRow], Sequence[CaseRow]]:
    return list(await session.scalars(select(UpdateRow))), list(await session.scalars(select(CaseRow)))


def _kill_one(place: Place, url: str, token: str, points: int) -> None:
    """Start a process, and kill it when it reached so many points, or reaches no more of them."""
    steps, said = CHILDREN.Pipe(duplex=False)
    process: BaseProcess = CHILDREN.Process(target=_main, args=(place, url, token, said), daemon=True)
    process.start()
    said.close()
    if not steps.poll(GUARD_SECONDS):
        raise RuntimeError("A process that takes in updates did nothing for too long.")
    while points and steps.poll(_QUIET_SECONDS):
        steps.recv_bytes()
        points -= 1
    process.kill()
    process.join()
    steps.close()
    if process.exitcode != -signal.SIGKILL:
        raise RuntimeError(f"A process that takes in updates ended by itself with {process.exitcode}.")


def _main(place: Place, url: str, token: str, steps: Connection) -> None:
    async def tell(_: str) -> None:
        steps.send_bytes(POINT)

    with installed(tell):
        asyncio.run(_serve(place, url, token, place.database()))


async def _serve(place: Place, url: str, token: str, database: Database) -> None:
    """Take in updates until cancelled, or killed; a busy machine may answer too late, so connect again."""
    while True:
        with suppress(PlatformUnavailable):
            await _take_in(place, url, token, database)


async def _take_in(place: Place, url: str, token: str, database: Database) -> None:
    desk = build_desk(database, max_queued=10**6)
    governance = Governance(database, desk.live_roles)
    casework, ticks = build_casework(desk, Outbox(database, {})), Seconds()
    limiter = TelegramLimiter(seconds_now=ticks, sleep=ticks.sleep)
    client = TelegramClient(TelegramOptions(token, url), casework, governance, limiter)

    async def say(heard: UpdateEvent) -> bool:
        place.say(_HANDED_OUT, str(heard.update.update_id))
        return False

    for kind in _KINDS:
        client.listen(kind, say)
    captured = events.Capture(client, _Detector())
    inbox = StoredInbox(database, NAME, client.own_id(), f"process {os.getpid()}", lease=_LEASE)
    handling = UpdateHandler(TelegramDispatcher(client), inbox)
    polling = UpdatePoll(client, inbox, handling.wake)
    try:
        await client.open()
        await polling.open()
        await first_of(polling.run(), handling.run())
    finally:
        await handling.close()
        await captured.close()
        await client.close()


async def _take_in_the_rest(place: Place, server: TelegramServer, database: Database) -> None:
    """Let nobody kill a process until no update is left; raises ``TimeoutError`` once it gets no further."""
    taking = asyncio.create_task(_serve(place, server.url, server.token, database))
    waiting = select(func.count()).select_from(UpdateRow).where(UpdateRow.state == UpdateState.WAITING)

    async def left() -> int:
        kept = await database.run("look", lambda session: session.scalar(waiting))
        return (kept or 0) + len(server.state.updates.waiting())

    async def is_less_than(before: int) -> bool:
        return taking.done() or await left() < before

    try:
        while not taking.done() and (some := await left()):
            await until(partial(is_less_than, some))
    finally:
        if taking.done():
            taking.result()
        await cancel_all([taking])
