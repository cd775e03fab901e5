"""Polling: Telegram forgets an update only after it is committed, whatever happens in between."""

import asyncio

import pytest

from adapters.telegram.connection.updates import KINDS, MOST_FAULTS
from core.desk.database.connection import Database
from core.desk.runtime.faults import installed
from core.errors import BadSettings, PlatformUnavailable, StoreUnavailable
from tests.fakes.desk.traces import everything
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.telegram.server.server import TelegramServer
from tests.integration.adapters.telegram.connection.conftest import Intake, MakeIntake, Pauses

DAY = 24 * 3600


@pytest.fixture
def chat(server: TelegramServer) -> int:
    """A group in which we hear everything."""
    return server.town.add_group(bot="administrator")


@pytest.fixture
def ada(server: TelegramServer) -> int:
    return server.town.add_user("Ada")


async def test_what_is_written_is_heard_once_and_then_forgotten(
    server: TelegramServer, intake: Intake, database: Database, chat: int, ada: int
) -> None:
    """By Telegram, and by us: only the number of the update stays."""
    server.town.say(ada, chat, "first words")
    async with intake.open():
        await intake.until_heard(1)
        server.town.say(ada, chat, "second words")
        await intake.until_heard(2)
        await server.until_heard()
    assert intake.texts() == ["first words", "second words"]
    assert not any(heard.is_late for heard in intake.heard)
    assert "words" not in await everything(database)


async def test_every_kind_is_asked_for_by_name(server: TelegramServer, intake_of: MakeIntake, chat: int) -> None:
    """Telegram tells nothing of reactions to who does not name them; what a listener wants more is named, too."""
    intake = intake_of(kinds=("chat_join_request",))
    async with intake.open():
        await server.until(lambda: server.asked("getUpdates"))
    assert set(server.asked("getUpdates")[0]["allowed_updates"]) == {*KINDS, "chat_join_request"}


async def test_an_update_that_could_not_be_kept_is_asked_for_again(
    server: TelegramServer, intake: Intake, pauses: Pauses, chat: int, ada: int
) -> None:
    """It is not confirmed: the next question names the same offset, or none."""
    failed = 0

    async def full(point: str) -> None:
        nonlocal failed
        if point == "keep updates: before the commit" and failed < 3:
            failed += 1
            raise StoreUnavailable("The disk is full.", remedy="")

    server.town.say(ada, chat, "kept at last")
    with installed(full):
        async with intake.open():
            await intake.until_heard(1)
            await server.until_heard()
    assert intake.texts() == ["kept at last"]
    assert [asked.get("offset") for asked in server.asked("getUpdates")[:4]] == [None] * 4
    assert pauses.seconds[:3] == [1, 2, 4]


async def test_repeated_updates_are_harmless(server: TelegramServer, intake: Intake, chat: int, ada: int) -> None:
    """Telegram may send an update once more, even after it was confirmed."""
    async with intake.open():
        server.town.say(ada, chat, "once")
        await intake.until_heard(1)
        await server.until_heard()
        server.state.updates.repeat(server.state.updates.made[0]["update_id"])
        server.town.say(ada, chat, "afterwards")
        await intake.until_heard(2)
        await server.until_heard()
    assert intake.texts() == ["once", "afterwards"]


async def test_a_restart_hears_nothing_again(
    server: TelegramServer, intake_of: MakeIntake, chat: int, ada: int
) -> None:
    """Even if Telegram sends everything again."""
    server.town.say(ada, chat, "once")
    first, second = intake_of(), intake_of("process 2")
    async with first.open():
        await first.until_heard(1)
        await server.until_heard()
    server.state.updates.repeat(server.state.updates.made[0]["update_id"])
    async with second.open():
        server.town.say(ada, chat, "afterwards")
        await second.until_heard(1)
        await server.until_heard()
    assert (first.texts(), second.texts()) == (["once"], ["afterwards"])


async def test_numbers_that_begin_anew_lower_are_heard(
    server: TelegramServer, intake: Intake, clock: FakeClock, chat: int, ada: int
) -> None:
    """After a quiet week Telegram draws a number; the old offset would confirm what nobody heard."""
    async with intake.open():
        server.town.say(ada, chat, "before")
        await intake.until_heard(1)
        await server.until_heard()
    clock.advance(8 * DAY)
    server.town.wait(8 * DAY)
    server.state.updates.restart_at(5)
    server.town.say(ada, chat, "after a week")
    intake.handling.wake()
    async with intake.open():
        await intake.until_heard(2)
        await server.until_heard()
    assert intake.texts() == ["before", "after a week"]


async def test_what_was_written_during_an_outage_is_late(
    server: TelegramServer, intake: Intake, clock: FakeClock, chat: int, ada: int
) -> None:
    """By more than ten minutes; it is heard all the same."""
    server.town.say(ada, chat, "early")
    clock.advance(6 * 60)
    server.town.wait(6 * 60)
    server.town.say(ada, chat, "later")
    clock.advance(5 * 60)
    async with intake.open():
        await intake.until_heard(2)
    assert {heard.raw["message"]["text"]: heard.is_late for heard in intake.heard} == {"early": True, "later": False}


async def test_a_webhook_is_taken_away_first(server: TelegramServer, intake: Intake, chat: int, ada: int) -> None:
    """With one, Telegram answers no question; what waited for it is not lost."""
    server.webhook = {"url": "http://127.0.0.1:9/nobody"}
    server.town.say(ada, chat, "waited for the webhook")
    async with intake.open():
        await intake.until_heard(1)
    assert server.webhook == {}
    assert server.asked("deleteWebhook") == [{"drop_pending_updates": False}]


async def test_another_program_with_the_same_bot_is_named(server: TelegramServer, intake: Intake) -> None:
    """It is of no use to ask again at once: the two would end each other's questions for ever."""
    server.fault("getUpdates", "409")
    async with intake.open() as running:
        await asyncio.wait({running}, timeout=GUARD_SECONDS)
        with pytest.raises(PlatformUnavailable, match="Another program") as caught:
            running.result()
    assert "Stop the other program" in caught.value.remedy
    assert len(server.asked("getUpdates")) == 1


async def test_two_pollers_lose_nothing_and_hear_nothing_twice(
    server: TelegramServer, intake_of: MakeIntake, chat: int, ada: int
) -> None:
    """The newer one ends the older one, which says why; what the older one had kept is handed out once."""
    older, newer = intake_of("process 1"), intake_of("process 2")
    async with older.open() as first:
        server.town.say(ada, chat, "one")
        await older.until_heard(1)
        async with newer.open():
            await asyncio.wait({first}, timeout=GUARD_SECONDS)
            assert isinstance(first.exception(), PlatformUnavailable)
            await older.handling.close()
            server.town.say(ada, chat, "two")
            server.town.say(ada, chat, "three")
            await newer.until_heard(2)
            await server.until_heard()
    assert (older.texts(), newer.texts()) == (["one"], ["two", "three"])


@pytest.mark.parametrize("kind", ["5xx", "drop", "lose reply", "not JSON"])
async def test_a_short_fault_is_borne(
    server: TelegramServer, intake: Intake, pauses: Pauses, chat: int, ada: int, kind: str
) -> None:
    """Telegram, and the way to it, fail now and then; a lost answer confirms nothing."""
    server.town.say(ada, chat, "through")
    server.fault("getUpdates", kind, MOST_FAULTS)
    async with intake.open() as running:
        await intake.until_heard(1)
        await server.until_heard()
        assert not running.done()
    assert intake.texts() == ["through"]
    assert pauses.seconds == [1, 2, 4, 8]


async def test_a_longer_fault_ends_the_connection(server: TelegramServer, intake: Intake) -> None:
    """So that people are told, and it is opened anew."""
    server.fault("getUpdates", "5xx", MOST_FAULTS + 1)
    async with intake.open() as running:
        await asyncio.wait({running}, timeout=GUARD_SECONDS)
        with pytest.raises(PlatformUnavailable, match="could not be reached"):
            running.result()


async def test_a_pause_that_telegram_asks_for_is_made(
    server: TelegramServer, intake: Intake, pauses: Pauses, chat: int, ada: int
) -> None:
    """However long, and without counting as a fault."""
    server.town.say(ada, chat, "patience")
    server.fault("getUpdates", "429", MOST_FAULTS + 1, retry_after=40)
    async with intake.open():
        await intake.until_heard(1)
    assert pauses.seconds == [40] * (MOST_FAULTS + 1)


async def test_a_token_that_was_revoked_ends_it_for_good(server: TelegramServer, intake: Intake) -> None:
    """Asking again would change nothing: somebody must give a new one."""
    async with intake.open() as running:
        await server.until(lambda: server.asked("getUpdates"))
        server.token = "123456:another"
        server.refuse()
        await server.accept()
        await asyncio.wait({running}, timeout=GUARD_SECONDS)
        with pytest.raises(BadSettings, match="does not accept the token"):
            running.result()
