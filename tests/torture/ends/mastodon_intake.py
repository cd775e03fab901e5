"""Processes that take in the mentions of an instance on loopback, killed with SIGKILL at random moments of the intake.

The instance outlives them: it tells of every notification as often as it is asked. Each mention asks about a post of
its own. At the end every post has one case, whoever asked was answered once, and no notification is left.
"""

import asyncio
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

from adapters.common.arrivals import UpdateHandler
from adapters.mastodon import capture
from adapters.mastodon.connection.client import MastodonClient, MastodonOptions, NotificationEvent
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.connection.updates import FIRST, MastodonDispatcher, NotificationPoll
from bot.compose.desk import build_casework, build_desk
from bot.serve.supervision import cancel_all, first_of
from core.desk.communities.decisions import CommunityDesk
from core.desk.communities.governance import Governance
from core.desk.database.connection import Database, Session
from core.desk.rules.roles import Operator
from core.desk.runtime.faults import installed
from core.desk.schema import CaseRow, UpdateRow, UpdateState
from core.desk.sending.outbox import Outbox
from core.desk.store.inbox import StoredInbox
from tests.fakes.desk.people import SECRET
from tests.fakes.machine.patience import GUARD_SECONDS, until
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON
from tests.torture.ends.child import POINT, Place
from tests.torture.world.processes import CHILDREN

_LEASE: Final = timedelta(milliseconds=20)
"""So that a process goes on at once with what the one before it had in hand."""
_MENTIONS: Final = 4
"""How many come in each cycle."""
_MOST_POINTS: Final = 40
"""A process is killed at one of so many points: fewer than what comes in a cycle makes it reach."""
_HANDED_OUT: Final = "handed out"
_GAP_SECONDS: Final = 0.02


class KilledIntake(NamedTuple):
    """What the kills left behind.

    Attributes:
        handed_out: how often a mention was handed out, which a kill before the record of how it ended repeats.
        lost: how many posts have no case.
        doubled: how many have more than one.
        answers: how many mentions were answered how often.
        unsettled: how many notifications still wait, or could not be handled.
        worded: how many notifications still say whose they are.
    """

    kills: int
    mentions: int
    handed_out: int
    lost: int
    doubled: int
    answers: dict[int, int]
    unsettled: int
    worded: int

    @property
    def broken(self) -> str:
        """What must not be; "" where all is as it must."""
        is_whole = not (self.lost or self.doubled or self.unsettled or self.worded)
        is_answered = self.answers == {1: self.mentions}
        return "" if is_whole and is_answered and self.handed_out >= self.mentions else repr(self)


class _Talk:
    """People who post, and people who ask about it."""

    def __init__(self, server: MastodonServer, chance: random.Random) -> None:
        self._server, self._chance = server, chance
        self._authors = [server.town.add_account(f"author{number}", "far.example") for number in range(3)]
        self._members = [server.town.add_account(f"member{number}") for number in range(3)]
        self.posts: list[JSON] = []
        self.mentions: list[JSON] = []

    async def go_on(self) -> None:
        """Let people ask about some more posts."""
        for _ in range(_MENTIONS):
            post = await self._server.town.post(self._chance.choice(self._authors), f"Post {len(self.posts)}")
            self.posts.append(post)
            asked = self._server.town.mention(
                self._chance.choice(self._members), self._server.bot, "counter", reply_to=post
            )
            self.mentions.append(await asked)

    async def answers(self) -> dict[int, int]:
        written = await self._server.town.written_by(self._server.bot)
        counts = Counter(str(each["in_reply_to_id"]) for each in written)
        return dict(Counter(counts[str(mention["id"])] for mention in self.mentions))


async def killed_at(where: Path | URL, folder: Path, kills: int, seed: int) -> KilledIntake:
    """Do it over a PostgreSQL database, or a SQLite file in a folder."""
    place = _place(where, folder)
    await (await Database.open(where if place.address else folder / "world", secret=SECRET)).close()
    return await run(place, kills, seed)


def _place(where: Path | URL, folder: Path) -> Place:
    return Place(folder) if isinstance(where, Path) else Place(folder, where.render_as_string(hide_password=False))


async def run(place: Place, kills: int, seed: int) -> KilledIntake:
    """Let people ask, and kill who takes it in, so many times; then let somebody take in the rest."""
    chance, server = random.Random(seed), MastodonServer()
    async with server.running():
        talk, database = _Talk(server, chance), place.database()
        options, account = MastodonOptions(server.url, server.bot.token), f"{server.bot.id}@{server.domain}"
        try:
            await _set_up(database, server, account)
            for _ in range(kills):
                await talk.go_on()
                await asyncio.to_thread(_kill_one, place, options, account, chance.randint(1, _MOST_POINTS))
            await _take_in_the_rest(place, options, account, database, len(talk.mentions))
            found = await database.run("look", lambda session: _found(session, place, kills, len(talk.posts)))
            answered = found._replace(answers=await talk.answers())
        finally:
            await database.close()
    if server.errors:
        raise AssertionError(server.errors)
    return answered


async def _set_up(database: Database, server: MastodonServer, account: str) -> None:
    """Let everybody flag, who then waits for no drafts; whatever comes from now on is for who takes it in."""
    desk = CommunityDesk(database)
    community = await desk.known(NAME, server.domain)
    await desk.configure(community, lambda _: {"members_flag": True}, Operator("operator"))
    await StoredInbox(database, NAME, account, "parent").keep([], FIRST)


def _kill_one(place: Place, options: MastodonOptions, account: str, points: int) -> None:
    """Start a process, and kill it when it reached so many points."""
    steps, said = CHILDREN.Pipe(duplex=False)
    process: BaseProcess = CHILDREN.Process(target=_main, args=(place, options, account, said), daemon=True)
    process.start()
    said.close()
    for _ in range(points):
        if not steps.poll(GUARD_SECONDS):
            raise RuntimeError("A process that takes in mentions did nothing for too long.")
        steps.recv_bytes()
    process.kill()
    process.join()
    steps.close()
    if process.exitcode != -signal.SIGKILL:
        raise RuntimeError(f"A process that takes in mentions ended by itself with {process.exitcode}.")


def _main(place: Place, options: MastodonOptions, account: str, steps: Connection) -> None:
    async def tell(_: str) -> None:
        steps.send_bytes(POINT)

    with installed(tell):
        asyncio.run(_take_in(place, options, account, place.database()))


async def _take_in(place: Place, options: MastodonOptions, account: str, database: Database) -> None:
    """Take in mentions until cancelled, or killed."""
    desk = build_desk(database, max_queued=10**6)
    governance = Governance(database, desk.live_roles)
    client = MastodonClient(options, build_casework(desk, Outbox(database, {})), governance)

    async def say(heard: NotificationEvent) -> bool:
        place.say(_HANDED_OUT, str(heard.number))
        return False

    def inbox(name: str) -> StoredInbox:
        return StoredInbox(database, NAME, f"{account} {name}".strip(), f"process {os.getpid()}", lease=_LEASE)

    client.listen(say)
    captured = capture.Capture(client, inbox)
    handling = UpdateHandler(MastodonDispatcher(client), inbox(""))
    polling = NotificationPoll(
        client, inbox(""), handling.wake, poll_seconds=2 * _GAP_SECONDS, gap_seconds=_GAP_SECONDS
    )
    try:
        await client.open()
        await first_of(polling.run(), handling.run())
    finally:
        await handling.close()
        await captured.close()
        await client.close()


async def _take_in_the_rest(
    place: Place, options: MastodonOptions, account: str, database: Database, mentions: int
) -> None:
    """Let one process take in what is left, as long as it goes on."""
    taking = asyncio.create_task(_take_in(place, options, account, database))
    left = mentions

    async def are_less() -> bool:
        nonlocal left
        rows = list(await database.run("look", lambda session: session.scalars(select(UpdateRow.state))))
        before, left = left, mentions - len(rows) + rows.count(UpdateState.WAITING)
        return taking.done() or left < before or left == 0

    try:
        while left and not taking.done():
            await until(are_less)
    finally:
        if taking.done():
            taking.result()
        await cancel_all([taking])


async def _found(session: Session, place: Place, kills: int, mentions: int) -> KilledIntake:
    cases = Counter(list(await session.execute(select(CaseRow.channel, CaseRow.message))))
    updates = list(await session.scalars(select(UpdateRow)))
    return KilledIntake(
        kills=kills,
        mentions=mentions,
        handed_out=len(place.said(_HANDED_OUT)),
        lost=mentions - len(cases),
        doubled=sum(count > 1 for count in cases.values()),
        answers={},
        unsettled=sum(row.state is not UpdateState.DONE for row in updates),
        worded=sum(row.payload is not None for row in updates),
    )
