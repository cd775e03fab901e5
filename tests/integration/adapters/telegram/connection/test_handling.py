"""Handling: in order in a chat, several chats at once, and nothing dropped."""

import asyncio
import logging

import pytest
from sqlalchemy import select

from adapters.telegram.connection.client import UpdateEvent
from core.desk.database.connection import Database
from core.desk.schema import UpdateRow, UpdateState
from core.errors import StoreUnavailable
from tests.fakes.machine.patience import until
from tests.fakes.telegram.server.server import TelegramServer
from tests.integration.adapters.telegram.connection.conftest import Intake, MakeIntake, Pauses


@pytest.fixture
def ada(server: TelegramServer) -> int:
    return server.town.add_user("Ada")


@pytest.fixture
def chat(server: TelegramServer) -> int:
    """A group in which we hear everything."""
    return server.town.add_group(bot="administrator")


async def _settled(database: Database, count: int) -> dict[UpdateState, int]:
    """How many updates ended how, once so many have ended."""
    found: dict[UpdateState, int] = {}

    async def is_over() -> bool:
        rows = await database.run("look", lambda session: session.scalars(select(UpdateRow.state)))
        states = list(rows)
        found.clear()
        found.update({state: states.count(state) for state in set(states)})
        return sum(each for state, each in found.items() if state is not UpdateState.WAITING) >= count

    await until(is_over)
    return found


async def test_a_chat_waits_for_itself_only(server: TelegramServer, intake: Intake, chat: int, ada: int) -> None:
    """What was written later there may rest on what was written before; other chats go on."""
    other = server.town.add_group("Elsewhere", bot="administrator")
    gate = intake.gates[chat] = asyncio.Event()
    for text in ("one", "two", "three"):
        server.town.say(ada, chat, text)
    server.town.say(ada, other, "elsewhere")
    async with intake.open():
        await intake.until_heard(2)
        assert set(intake.texts()) == {"one", "elsewhere"}
        gate.set()
        await intake.until_heard(4)
    assert [text for text in intake.texts() if text != "elsewhere"] == ["one", "two", "three"]


async def test_a_press_waits_for_no_message(server: TelegramServer, intake: Intake, chat: int, ada: int) -> None:
    """Nor does an ephemeral command, which must be answered within 15 seconds: not even where the chat is stuck."""
    intake.gates[chat] = asyncio.Event()
    card = server.town.say(ada, chat, "card", reply_markup={"inline_keyboard": [[{"text": "x", "callback_data": "x"}]]})
    for number in range(20):
        server.town.say(ada, chat, f"message {number}")
    waiting = intake.gates.pop(chat)
    held: list[str] = []

    async def hold(heard: object) -> bool:
        held.append("message")
        await waiting.wait()
        return True

    slow = server.town.whisper(ada, chat, "/counter@antiphon_bot")
    assert slow["message_id"] == 0
    server.town.press(ada, card, "x")

    async def listen(heard: object) -> bool:
        return await intake.listen(heard)  # type: ignore[arg-type]

    intake.client._listeners["message"] = [
        lambda heard: listen(heard) if heard.raw["message"]["message_id"] == 0 else hold(heard)
    ]
    async with intake.open():
        await intake.until_heard(2)
        assert set(intake.texts()) == {"/counter@antiphon_bot", "x"}
        assert held in ([], ["message"])
        waiting.set()


async def test_a_database_that_is_away_for_a_while_loses_nothing(
    server: TelegramServer, intake: Intake, database: Database, pauses: Pauses, chat: int, ada: int
) -> None:
    """The update is handed out again, before what was written after it."""
    server.town.say(ada, chat, "one")
    server.town.say(ada, chat, "two")
    intake.answers += [StoreUnavailable("The database does not answer.", remedy="")] * 3
    async with intake.open():
        assert await _settled(database, 2) == {UpdateState.DONE: 2}
    assert intake.texts() == ["one"] * 4 + ["two"]
    assert pauses.seconds == [1, 2, 4]


async def test_an_update_that_fails_is_kept_and_the_next_is_heard(
    server: TelegramServer, intake: Intake, database: Database, caplog: pytest.LogCaptureFixture, chat: int, ada: int
) -> None:
    """Its words are not in the log: only what kind of error it was, and where."""
    caplog.set_level(logging.DEBUG)
    server.town.say(ada, chat, "hateful words")
    server.town.say(ada, chat, "two")
    intake.answers.append(ValueError("hateful words"))
    async with intake.open():
        assert await _settled(database, 2) == {UpdateState.DONE: 1, UpdateState.FAILED: 1}
    assert intake.texts() == ["hateful words", "two"]
    assert "ValueError" in caplog.text
    assert "hateful" not in caplog.text


async def test_an_update_that_the_library_cannot_read_is_kept(
    server: TelegramServer, intake: Intake, database: Database, chat: int, ada: int
) -> None:
    """One strange update holds up nothing."""
    server.state.updates.add_odd({"message": {"message_id": "x", "chat": 5}})
    server.town.say(ada, chat, "two")
    async with intake.open():
        assert await _settled(database, 2) == {UpdateState.DONE: 1, UpdateState.FAILED: 1}
    assert intake.texts() == ["two"]


async def test_a_kind_that_this_version_does_not_know_is_kept_and_counted(
    server: TelegramServer, intake: Intake, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """A later version of Telegram may have news; a known kind that nobody here listens to is done at once."""
    server.state.updates.add_odd({"thought": {"text": "unspoken"}})
    server.state.updates.add_odd({"thought": {"text": "unspoken"}})
    server.state.updates.add_odd({"my_chat_member": {"chat": {"id": 1, "type": "private"}, "date": 1}})
    async with intake.open():
        found = await _settled(database, 3)
    assert found[UpdateState.UNKNOWN] == 2
    assert intake.handling.unknown == {"thought": 2}
    assert "thought" in caplog.text
    assert "unspoken" not in caplog.text


async def test_more_than_is_handed_out_at_once(
    server: TelegramServer, intake: Intake, database: Database, chat: int, ada: int
) -> None:
    """After an outage hundreds may wait; each is heard once, in order."""
    texts = [f"message {number}" for number in range(450)]
    for text in texts:
        server.town.say(ada, chat, text)
    async with intake.open():
        await intake.until_heard(len(texts))
        assert await _settled(database, len(texts)) == {UpdateState.DONE: len(texts)}
    assert intake.texts() == texts


async def test_what_was_in_hand_at_the_end_is_handed_out_at_the_next_start(
    server: TelegramServer, intake_of: MakeIntake, chat: int, ada: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop waits for it only so long."""
    monkeypatch.setattr("adapters.common.arrivals._CLOSING_SECONDS", 0.01)
    first, second = intake_of(), intake_of("process 2")
    first.gates[chat] = asyncio.Event()
    server.town.say(ada, chat, "one")
    async with first.open():
        await first.until_heard(1)
    async with second.open():
        await second.until_heard(1)
    assert second.texts() == ["one"]


async def test_what_an_update_leaves_to_be_done_holds_up_no_other(
    server: TelegramServer, intake: Intake, database: Database, caplog: pytest.LogCaptureFixture, chat: int, ada: int
) -> None:
    """It is done with once that is, kept where it failed, and waits for the next start where it was given up."""
    left = {text: asyncio.get_running_loop().create_future() for text in ("done", "failed", "given up")}

    async def leave(heard: UpdateEvent) -> bool:
        text = heard.raw["message"]["text"]
        heard.unfinished.extend(future for name, future in left.items() if name == text)
        return False

    intake.client._listeners["message"].insert(0, leave)
    for text in (*left, "another"):
        server.town.say(ada, chat, text)
    async with intake.open():
        await intake.until_heard(4)
        assert await _settled(database, 1) == {UpdateState.DONE: 1, UpdateState.WAITING: 3}
        left["done"].set_result(None)
        left["failed"].set_exception(ValueError("somebody's words"))
        left["given up"].cancel()
        found = await _settled(database, 3)
        assert found == {UpdateState.DONE: 2, UpdateState.FAILED: 1, UpdateState.WAITING: 1}
    assert intake.texts() == ["done", "failed", "given up", "another"]
    assert "ValueError" in caplog.text and "somebody" not in caplog.text
