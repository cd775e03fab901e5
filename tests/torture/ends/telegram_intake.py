"""Processes that take in the updates of a Telegram on loopback, killed with SIGKILL at random moments of the intake.

The server outlives them, as Telegram does: it forgets an update only when a later one is asked for. Each update is a
post that is flagged. At the end every post has one case, and no update is left.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
from collections import Counter
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import URL, select

from adapters.common.arrivals.handling import Handling
from adapters.telegram.connection.client import Heard, TelegramClient, TelegramOptions
from adapters.telegram.connection.hearing import TelegramHearing
from adapters.telegram.connection.polling import Polling
from adapters.telegram.connection.refs import NAME, ref_of
from bot.intake.intake import Intake
from bot.runtime.faults import installed
from bot.serving.supervision import cancelled, first_of
from bot.store.engine.database import Database, Session
from bot.store.schema import CaseRow, UpdateRow, UpdateState
from bot.store.work.inbox import StoredInbox
from core.models import FlaggedPost
from tests.fakes.desk.people import SECRET
from tests.fakes.machine.patience import GUARD_SECONDS, until
from tests.fakes.telegram.server.server import TelegramServer
from tests.torture.ends.child import POINT, Place

_LEASE: Final = timedelta(milliseconds=20)
"""So that a process goes on at once with what the one before it had in hand."""
_POSTS: Final = 6
"""How many posts come in each cycle."""
_MOST_POINTS: Final = 30
"""A process is killed at one of so many points: fewer than what comes in a cycle makes it reach."""
_HANDLED: Final = "handled"
_CHILDREN: Final = multiprocessing.get_context("forkserver")


class KilledIntake(NamedTuple):
    """What the kills left behind.

    Attributes:
        handed_out: how often a post was handed out, which a kill between its effect and the record of it repeats.
        lost: how many posts have no case.
        doubled: how many have more than one.
        unsettled: how many updates still wait, or could not be handled.
        worded: how many updates still hold words.
    """

    kills: int
    posts: int
    handed_out: int
    lost: int
    doubled: int
    unsettled: int
    worded: int


def prepare() -> None:
    """Let the processes begin with everything imported."""
    _CHILDREN.set_forkserver_preload(["tests.torture.ends.telegram_intake"])


async def killed_at(where: Path | URL, folder: Path, kills: int, seed: int) -> KilledIntake:
    """Do it over a PostgreSQL database, or a SQLite file in a folder."""
    place = _place(where, folder)
    await (await Database.open(where if place.address else folder / "world", secret=SECRET)).close()
    return await run(place, kills, seed)


def _place(where: Path | URL, folder: Path) -> Place:
    return Place(folder) if isinstance(where, Path) else Place(folder, where.render_as_string(hide_password=False))


async def run(place: Place, kills: int, seed: int) -> KilledIntake:
    """Send posts, and kill who takes them in, so many times; then let somebody take in the rest."""
    chance, server = random.Random(seed), TelegramServer()
    async with server.running():
        town = server.town
        chats = [town.add_group(f"Town {number}", bot="administrator") for number in range(3)]
        people = [town.add_user(f"Person {number}") for number in range(3)]
        posts = list[dict[str, object]]()
        for _ in range(kills):
            posts += [
                town.say(chance.choice(people), chance.choice(chats), f"Post {len(posts) + number}")
                for number in range(_POSTS)
            ]
            await asyncio.to_thread(_kill_one, place, server.url, server.token, chance.randint(1, _MOST_POINTS))
        database = place.database()
        try:
            await _take_in_the_rest(place, server, database)
            found = await database.run("look", lambda session: _found(session, place, kills, len(posts)))
        finally:
            await database.close()
    if server.errors:
        raise AssertionError(server.errors)
    return found


def _kill_one(place: Place, url: str, token: str, points: int) -> None:
    """Start a process, and kill it when it reached so many points."""
    steps, said = _CHILDREN.Pipe(duplex=False)
    process: BaseProcess = _CHILDREN.Process(target=_main, args=(place, url, token, said), daemon=True)
    process.start()
    said.close()
    for _ in range(points):
        if not steps.poll(GUARD_SECONDS):
            raise RuntimeError("A process that takes in updates did nothing for too long.")
        steps.recv_bytes()
    process.kill()
    process.join()
    steps.close()
    if process.exitcode != -signal.SIGKILL:
        raise RuntimeError(f"A process that takes in updates ended by itself with {process.exitcode}.")


def _main(place: Place, url: str, token: str, steps: Connection) -> None:
    async def reach(_: str) -> None:
        steps.send_bytes(POINT)

    with installed(reach):
        asyncio.run(_take_in(place, url, token, place.database()))


async def _take_in(place: Place, url: str, token: str, database: Database) -> None:
    """Take in updates until cancelled, or killed."""
    client = TelegramClient(TelegramOptions(token, url))
    intake = Intake(database, max_queued=10**6, campaign_hours=0)

    async def flag(heard: Heard) -> bool:
        message = heard.update.effective_message
        assert message is not None and message.text is not None and message.from_user is not None
        ref, author = ref_of(message.chat_id, message.message_id), str(message.from_user.id)
        place.say(_HANDLED, ref.message)
        await intake.flag(FlaggedPost(ref, message.text, author, "mill_pond", "by hand"))
        return True

    client.listen("message", flag)
    inbox = StoredInbox(database, NAME, client.own_id(), f"process {os.getpid()}", lease=_LEASE)
    handling = Handling(TelegramHearing(client), inbox)
    polling = Polling(client, inbox, handling.wake)
    try:
        await client.open()
        await polling.open()
        await first_of(polling.run(), handling.run())
    finally:
        await handling.close()
        await client.close()


async def _take_in_the_rest(place: Place, server: TelegramServer, database: Database) -> None:
    taking = asyncio.create_task(_take_in(place, server.url, server.token, database))

    async def is_over() -> bool:
        waiting = select(UpdateRow.number).filter_by(state=UpdateState.WAITING).limit(1)
        is_empty = await database.run("look", lambda session: session.scalar(waiting)) is None
        return taking.done() or (not server.state.updates.waiting() and is_empty)

    try:
        await until(is_over)
    finally:
        if taking.done():
            taking.result()
        await cancelled([taking])


async def _found(session: Session, place: Place, kills: int, posts: int) -> KilledIntake:
    cases = Counter(list(await session.execute(select(CaseRow.channel, CaseRow.message))))
    updates = list(await session.scalars(select(UpdateRow)))
    return KilledIntake(
        kills=kills,
        posts=posts,
        handed_out=len(place.said(_HANDLED)),
        lost=posts - len(cases),
        doubled=sum(count > 1 for count in cases.values()),
        unsettled=sum(row.state is not UpdateState.DONE for row in updates),
        worded=sum(row.payload is not None for row in updates),
    )
