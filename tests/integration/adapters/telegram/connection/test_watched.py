"""Messages of a watched group through the real inbox: none is done before the filter looked at it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

import pytest
from sqlalchemy import select

from adapters.common.arrivals import UpdateHandler
from adapters.telegram.capture import events
from adapters.telegram.connection.client import TelegramClient, TelegramOptions
from adapters.telegram.connection.refs import NAME
from adapters.telegram.connection.updates import TelegramDispatcher, UpdatePoll
from bot.serve.supervision import cancel_all, first_of
from core.desk.database.connection import Database
from core.desk.review.casework import Casework
from core.desk.rules.roles import Role
from core.desk.schema import UpdateRow, UpdateState
from core.desk.store.inbox import StoredInbox
from core.errors import StoreUnavailable
from tests.fakes.machine.patience import until
from tests.fakes.ports.flag_desk import FlagDesk
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.ports.word_detector import WordDetector
from tests.fakes.telegram.captured import HATE, SET_UP
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.server.state import JSON
from tests.integration.adapters.telegram.connection.conftest import Pauses


class StoppedDetector(WordDetector):
    """A filter that gives no answer before ``goes`` is set; ``asked`` counts the texts that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.goes = asyncio.Event()
        self.asked = 0

    async def score(self, text: str, language: str) -> float:
        """As ``WordDetector``, later."""
        self.asked += 1
        await self.goes.wait()
        return await super().score(text, language)


class WatchedTown:
    """A watched group, its author and its volunteer; processes come and go, the desk stays."""

    def __init__(self, server: TelegramServer, database: Database, pauses: Pauses) -> None:
        self.server, self.database, self._pauses = server, database, pauses
        town = server.town
        self.author, self.volunteer = town.add_user("Bo"), town.add_user("Ane")
        self.group = town.add_group(members=(self.author, self.volunteer), bot="administrator")
        self.desk, self.governance = FlagDesk(), FakeGovernance()
        self.governance.policies[str(self.group)] = replace(SET_UP, watched_channels=(str(self.group),))
        self.governance.grant(self.volunteer, Role.VOLUNTEER)
        self.detector = StoppedDetector()
        self.capture: events.Capture

    @asynccontextmanager
    async def process(self, name: str = "process 1") -> AsyncIterator[None]:
        """Take in what waits while the block runs, as ``bot.compose.telegram`` does."""
        self.detector = StoppedDetector()
        options = TelegramOptions(self.server.token, self.server.url)
        client = TelegramClient(options, cast(Casework, self.desk), self.governance)
        await client.open()
        self.capture = events.Capture(client, self.detector)
        inbox = StoredInbox(self.database, NAME, client.own_id(), name)
        handling = UpdateHandler(TelegramDispatcher(client), inbox, sleep=self._pauses.sleep)
        polling = UpdatePoll(client, inbox, handling.wake, sleep=self._pauses.sleep)
        await polling.open()
        running = asyncio.create_task(first_of(polling.run(), handling.run()))
        try:
            yield
        finally:
            await cancel_all([running])
            await handling.close()
            await self.capture.close()
            await client.close()

    def say(self, text: str) -> JSON:
        """The author writes into the group."""
        return self.server.town.say(self.author, self.group, text)

    def flagged(self) -> list[str]:
        """What is found or flagged, in order."""
        return [post.text for post in self.desk.flagged]

    async def states(self) -> list[tuple[UpdateState, bool]]:
        """How each update stands, and whether it still holds words."""

        async def look(session: object) -> list[tuple[UpdateState, bool]]:
            rows = await session.scalars(select(UpdateRow).order_by(UpdateRow.number))  # type: ignore[attr-defined]
            return [(row.state, row.payload is not None) for row in rows]

        return await self.database.run("look", look)

    async def until_done(self, count: int) -> None:
        """Wait until so many updates are done; nothing of them is kept."""

        async def is_over() -> bool:
            states = await self.states()
            return states == [(UpdateState.DONE, False)] * count

        await until(is_over)


@pytest.fixture
def town(server: TelegramServer, database: Database, pauses: Pauses, monkeypatch: pytest.MonkeyPatch) -> WatchedTown:
    """A process that is told to end waits for nothing."""
    monkeypatch.setattr("adapters.common.arrivals._CLOSING_SECONDS", 0.01)
    monkeypatch.setattr("adapters.telegram.capture.events._FLAGGING_SECONDS", 0.01)
    return WatchedTown(server, database, pauses)


async def test_what_the_filter_had_in_hand_is_looked_at_after_the_restart(town: WatchedTown) -> None:
    """An update waits, with its words, until the filter has looked; then it is done, found or not."""
    for text in ("good morning", HATE, "good evening"):
        town.say(text)
    async with town.process():
        await town.server.until(lambda: town.detector.asked == 1 and town.capture.watching.lanes._waiting == 2)
        assert await town.states() == [(UpdateState.WAITING, True)] * 3
    assert town.flagged() == []
    assert await town.states() == [(UpdateState.WAITING, True)] * 3
    async with town.process("process 2"):
        town.detector.goes.set()
        await town.until_done(3)
    assert (town.flagged(), town.detector.read) == ([HATE], ["good morning", HATE, "good evening"])


async def test_an_end_between_the_look_and_the_flag_loses_no_find(town: WatchedTown) -> None:
    """The update waits for the commit of the flag, too; afterwards it does not matter when it ends."""
    town.say(HATE)
    town.desk.slow_seconds = 3600.0
    async with town.process():
        town.detector.goes.set()
        await town.server.until(lambda: len(town.capture.watching.finds._tasks) == 1)
        assert await town.states() == [(UpdateState.WAITING, True)]
    assert town.flagged() == []
    town.desk.slow_seconds = 0.0
    async with town.process("process 2"):
        town.detector.goes.set()
        await town.until_done(1)
    assert town.flagged() == [HATE]
    async with town.process("process 3"):
        town.say("good evening")
        town.detector.goes.set()
        await town.until_done(2)
    assert (town.flagged(), town.detector.read) == ([HATE], ["good evening"])


async def test_a_filter_that_stands_still_stops_no_command(town: WatchedTown) -> None:
    """A flood keeps no more than some messages in memory; the others are counted, told, and done."""
    texts = [f"message {number}" for number in range(450)]
    for text in texts:
        town.say(text)
    post = town.server.town.say(town.author, town.group, "go home")
    town.server.town.command(town.volunteer, town.group, "counter", reply_to=post)
    async with town.process():
        await town.server.until(lambda: town.flagged() == ["go home"])
        await town.server.until(lambda: town.capture.left_out > 300)
        kept = len(texts) + 1 - town.capture.left_out
        assert 0 < kept <= 101, "those in the lane, and the one that the filter reads"

        async def all_others_done() -> bool:
            return [state for state, _ in await town.states()].count(UpdateState.WAITING) == kept

        await until(all_others_done)
        town.detector.goes.set()
        await town.until_done(len(texts) + 2)
        assert town.detector.read[:3] == texts[:3] and len(town.detector.read) in (kept, kept - 1)
    assert town.flagged() == ["go home"]


async def test_a_broken_filter_keeps_no_words(town: WatchedTown) -> None:
    """A look that fails is counted and logged as such; its update is done."""
    town.say(HATE)
    async with town.process():
        town.detector.is_broken = True
        town.detector.goes.set()
        await town.until_done(1)
        assert town.capture.watching.lanes.failed == 1


async def test_a_message_waits_where_nobody_knows_whether_its_group_is_watched(
    town: WatchedTown, pauses: Pauses
) -> None:
    """The database was away at the first message after the start."""
    town.governance.is_down = True
    town.say(HATE)
    async with town.process():
        town.detector.goes.set()
        await town.server.until(lambda: len(pauses.seconds) > 1)
        assert (await town.states(), town.flagged()) == ([(UpdateState.WAITING, True)], [])
        town.governance.is_down = False
        await town.until_done(1)
    assert town.flagged() == [HATE]


async def test_an_edit_of_what_is_still_to_be_looked_at_is_told_after_the_flag(town: WatchedTown) -> None:
    """The desk never holds words that their author has changed since without knowing that."""
    town.server.town.edit(town.say(HATE), "they are welcome")
    async with town.process():
        await town.server.until(lambda: town.detector.asked == 1 and not town.server.state.updates.waiting())
        await town.server.until(lambda: len(town.capture.watching.lanes._lanes) == 1)
        assert (town.desk.changes, await town.states()) == ([], [(UpdateState.WAITING, True)] * 2)
        town.desk.errors += [StoreUnavailable("The database does not answer.", remedy="Wait.")]
        town.detector.goes.set()
        await town.until_done(2)
    [flagged] = town.desk.flagged
    assert (flagged.text, town.desk.changes) == (HATE, [(flagged.ref, "they are welcome")])


async def test_new_words_while_the_old_ones_are_looked_at_are_looked_at(town: WatchedTown) -> None:
    """In their order, however often they change; an end in between loses none."""
    post = town.say("good morning")
    town.server.town.edit(post, "they are")
    town.server.town.edit(post, HATE)
    async with town.process():
        await town.server.until(lambda: town.detector.asked == 1)
    assert await town.states() == [(UpdateState.WAITING, True)] * 3
    async with town.process("process 2"):
        town.detector.goes.set()
        await town.until_done(3)
        assert town.detector.read == ["good morning", "they are", HATE]
    assert town.flagged() == [HATE]


async def test_an_edit_of_what_an_earlier_process_flagged_is_told(town: WatchedTown) -> None:
    """Even where the post was written in the second in which this one began."""
    post = town.say(HATE)
    async with town.process():
        town.detector.goes.set()
        await town.until_done(1)
    async with town.process("process 2"):
        town.detector.goes.set()
        town.server.town.edit(post, "they are welcome")
        await town.until_done(2)
    assert [text for _, text in town.desk.changes] == ["they are welcome"]
