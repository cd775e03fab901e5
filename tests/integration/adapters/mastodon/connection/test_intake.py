"""Notifications: each is committed before the cursor moves, handed out in order, and handled once."""

import asyncio
import json
import logging

import pytest
from sqlalchemy import select

from adapters.mastodon.connection import updates
from adapters.mastodon.connection.updates import MOST_FAULTS
from core.desk.database.connection import Database
from core.desk.schema import UpdateRow, UpdateState
from core.errors import BadSettings, PlatformBusy, PlatformUnavailable, StoreUnavailable
from tests.fakes.machine.patience import until
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import Person
from tests.integration.adapters.mastodon.connection.conftest import Intake, MakeIntake, Pauses

_PATH = "/api/v1/notifications"


@pytest.fixture
def ada(server: MastodonServer) -> Person:
    return server.town.add_account("ada", "far.example", email="ada@mail.example", ip="203.0.113.9")


@pytest.fixture
def ben(server: MastodonServer) -> Person:
    return server.town.add_account("ben")


async def _settled(database: Database, count: int) -> dict[UpdateState, int]:
    """How many notifications ended how, once so many have ended."""
    found: dict[UpdateState, int] = {}

    async def is_over() -> bool:
        states = list(await database.run("look", lambda session: session.scalars(select(UpdateRow.state))))
        found.clear()
        found.update({state: states.count(state) for state in set(states)})
        return sum(each for state, each in found.items() if state is not UpdateState.WAITING) >= count

    await until(is_over)
    return found


async def test_each_is_heard_once_in_order(server: MastodonServer, intake: Intake, ada: Person) -> None:
    texts = [f"message {number}" for number in range(5)]
    for text in texts:
        await server.town.mention(ada, server.bot, text)
    async with intake.open():
        await intake.until_heard(5)
        await server.town.mention(ada, server.bot, "the last")
        await intake.until_heard(6)
    assert intake.texts() == [*texts, "the last"]


async def test_an_account_waits_for_itself_only(
    server: MastodonServer, intake: Intake, ada: Person, ben: Person
) -> None:
    gate = intake.gates[ada.id] = asyncio.Event()
    for text in ("one", "two"):
        await server.town.mention(ada, server.bot, text)
    await server.town.mention(ben, server.bot, "elsewhere")
    async with intake.open():
        await intake.until_heard(2)
        assert set(intake.texts()) == {"one", "elsewhere"}
        gate.set()
        await intake.until_heard(3)
    assert [text for text in intake.texts() if text != "elsewhere"] == ["one", "two"]


async def test_what_is_written_to_us_alone_waits_for_nothing_public(
    server: MastodonServer, intake: Intake, ada: Person
) -> None:
    intake.gates[ada.id] = asyncio.Event()
    await server.town.mention(ada, server.bot, "public")
    await server.town.direct(ada, "private", server.bot)
    async with intake.open():
        await intake.until_heard(2)
        assert set(intake.texts()) == {"public", "private"}
        intake.gates[ada.id].set()


async def test_pages_are_asked_for_until_there_is_nothing_more(
    server: MastodonServer, intake: Intake, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an outage hundreds may wait; an instance gives some of them at once."""
    monkeypatch.setattr(updates, "PAGE", 16)
    texts = [f"message {number}" for number in range(39)]
    for text in texts:
        await server.town.mention(ada, server.bot, text)
    async with intake.open():
        await intake.until_heard(len(texts))
    assert intake.texts() == texts
    cursors = [asked.query["min_id"] for asked in server.asked("GET", _PATH)][:4]
    assert cursors == sorted(set(cursors), key=int)


async def test_the_cursor_stays_where_nothing_could_be_kept(
    server: MastodonServer, intake: Intake, ada: Person, monkeypatch: pytest.MonkeyPatch, pauses: Pauses
) -> None:
    keep, failing = intake.inbox.keep, [StoreUnavailable("The database does not answer.", remedy="")] * 2

    async def fail(*arguments: object) -> None:
        if failing:
            raise failing.pop()
        await keep(*arguments)  # type: ignore[arg-type]  # what it was called with

    monkeypatch.setattr(intake.inbox, "keep", fail)
    await server.town.mention(ada, server.bot, "one")
    async with intake.open():
        await intake.until_heard(1)
    assert intake.texts() == ["one"]
    asked = [each.query["min_id"] for each in server.asked("GET", _PATH)]
    assert asked[:3] == ["0", "0", "0"]
    assert pauses.seconds[:2] == [2, 4]


async def test_the_first_start_begins_behind_the_newest(
    server: MastodonServer, intake_at: MakeIntake, ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await server.town.mention(ada, server.bot, "long ago")
    intake = intake_at(server)
    async with intake.open():
        await server.until(lambda: len(server.asked("GET", _PATH)) > 2)
        await server.town.mention(ada, server.bot, "now")
        await intake.until_heard(1)
    assert intake.texts() == ["now"]
    assert "Earlier notifications are not handled" in caplog.text


async def test_the_first_start_of_an_account_that_nobody_ever_mentioned(
    server: MastodonServer, intake_at: MakeIntake, ada: Person
) -> None:
    intake = intake_at(server)
    async with intake.open():
        await server.until(lambda: len(server.asked("GET", _PATH)) > 2)
        await server.town.mention(ada, server.bot, "now")
        await intake.until_heard(1)
    assert intake.texts() == ["now"]


async def test_ids_may_be_texts(gotosocial: MastodonServer, intake_at: MakeIntake) -> None:
    ada = gotosocial.town.add_account("ada")
    await gotosocial.town.mention(ada, gotosocial.bot, "long ago")
    intake = intake_at(gotosocial)
    async with intake.open():
        await gotosocial.until(lambda: len(gotosocial.asked("GET", _PATH)) > 2)
        for number in range(45):
            await gotosocial.town.mention(ada, gotosocial.bot, f"message {number}")
        await intake.until_heard(45)
    assert intake.texts() == [f"message {number}" for number in range(45)]


async def test_no_word_of_anybody_and_no_address_is_kept(
    server: MastodonServer, intake: Intake, database: Database, ada: Person
) -> None:
    await server.town.mention(ada, server.bot, "secret words")
    gate = intake.gates[ada.id] = asyncio.Event()
    async with intake.open():
        await intake.until_heard(1)
        row = await database.run("look", lambda session: session.scalar(select(UpdateRow)))
        gate.set()
        assert await _settled(database, 1) == {UpdateState.DONE: 1}
    assert row is not None
    kept = json.loads(row.payload or "")
    assert kept.keys() == {"kind", "status", "account", "at"}
    assert kept["account"] == {"id": ada.id}
    assert intake.heard[0].status.account.id == ada.id


async def test_a_mention_that_is_gone_is_dealt_with(
    server: MastodonServer, intake: Intake, database: Database, ada: Person
) -> None:
    post = await server.town.mention(ada, server.bot, "one")
    server.fault(f"/api/v1/statuses/{post['id']}", "404")
    await server.town.mention(ada, server.bot, "two")
    async with intake.open():
        assert await _settled(database, 2) == {UpdateState.DONE: 2}
    assert intake.texts() == ["two"]


async def test_a_mention_that_cannot_be_read_now_waits(
    server: MastodonServer, intake: Intake, database: Database, pauses: Pauses, ada: Person
) -> None:
    await server.town.mention(ada, server.bot, "one")
    server.fault("/api/v1/statuses/*", "503", count=2)
    intake.answers.append(PlatformBusy("not now"))
    async with intake.open():
        assert await _settled(database, 1) == {UpdateState.DONE: 1}
    assert intake.texts() == ["one", "one"]
    assert pauses.seconds == [1, 2, 4]


async def test_only_mentions_are_asked_for(server: MastodonServer, intake: Intake) -> None:
    """With what the account's policy would keep apart."""
    async with intake.open():
        await server.until(lambda: server.asked("GET", _PATH))
    query = server.asked("GET", _PATH)[0].query
    assert query["types"] == ["mention"]
    assert query["include_filtered"] == "true"
    assert not any("include_filtered" in each.query for each in server.requests if each.path != _PATH)


async def test_a_limit_is_waited_for(server: MastodonServer, intake: Intake, pauses: Pauses, ada: Person) -> None:
    await server.town.mention(ada, server.bot, "one")
    server.fault(_PATH, "429", seconds=120.0)
    async with intake.open():
        await intake.until_heard(1)
    assert len(pauses.seconds) == 1
    assert 60 <= pauses.seconds[0] <= 121


async def test_some_faults_are_borne_and_many_are_not(
    server: MastodonServer, intake: Intake, pauses: Pauses, ada: Person
) -> None:
    await server.town.mention(ada, server.bot, "one")
    server.fault(_PATH, "503", count=MOST_FAULTS)
    async with intake.open() as running:
        await intake.until_heard(1)
        server.fault(_PATH, "503", count=None)
        with pytest.raises(PlatformUnavailable):
            await running
    assert pauses.seconds == [2, 4, 8, 16] * 2


@pytest.mark.parametrize("fault", ["401", "403"])
async def test_a_token_that_is_refused_is_refused_for_good(
    server: MastodonServer, intake: Intake, pauses: Pauses, fault: str
) -> None:
    server.fault(_PATH, fault, count=None)
    async with intake.open() as running:
        with pytest.raises(BadSettings):
            await running
    assert pauses.seconds == []
