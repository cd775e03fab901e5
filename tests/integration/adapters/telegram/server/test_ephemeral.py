"""What the fake Telegram promises of ephemeral messages: number 0, 15 seconds, and no way into the public."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.telegram.plain_calls import done, refusal
from tests.fakes.telegram.server.server import TelegramServer

COMMANDS = [{"command": "counter", "description": "Flag a post", "is_ephemeral": True}]


@pytest.fixture
async def group(server: TelegramServer) -> int:
    """A group whose bot has an ephemeral command; its owner is 5001."""
    await done(server, "setMyCommands", commands=COMMANDS, scope={"type": "all_group_chats"})
    return server.town.add_group(owner=server.town.add_user())


def _flag(server: TelegramServer, group: int) -> dict[str, Any]:
    return server.town.command(5001, group, "counter", reply_to=server.town.say(5001, group, "They should all go."))


def _answer(group: int, receiver: int = 5001, **reply: Any) -> dict[str, Any]:
    asked = {"chat_id": group, "text": "Thanks.", "ephemeral_message_parameters": {"receiver_user_id": receiver}}
    return asked | {"reply_parameters": reply}


async def test_an_ephemeral_command_is_seen_by_the_bot_alone(server: TelegramServer, group: int) -> None:
    flag = _flag(server, group)
    told = server.state.updates.made[-1]["message"]
    assert (told["message_id"], told["ephemeral_message_id"], told["text"]) == (0, 1, "/counter@antiphon_bot")
    assert told["reply_to_message"]["text"] == "They should all go."
    assert flag not in server.town.public(group)


async def test_its_answer_is_ephemeral_within_15_seconds(server: TelegramServer, group: int) -> None:
    number = _flag(server, group)["ephemeral_message_id"]
    server.town.wait(15)
    sent = await done(server, "sendMessage", **_answer(group, ephemeral_message_id=number))
    assert (sent["message_id"], sent["receiver_user"]["id"]) == (0, 5001)
    assert [message["text"] for message in server.town.whispers_to(5001, group)] == ["Thanks."]
    server.town.wait(1)
    assert "too old" in await refusal(server, "sendMessage", **_answer(group, ephemeral_message_id=number))
    assert server.town.of_bot(group) == []


async def test_what_is_not_an_answer_to_the_person_is_refused(server: TelegramServer, group: int) -> None:
    number = _flag(server, group)["ephemeral_message_id"]
    other = server.town.add_user("Ben")
    assert "not a member" in await refusal(server, "sendMessage", **_answer(group, other, ephemeral_message_id=number))
    server.town.join(group, other)
    words = await refusal(server, "sendMessage", **_answer(group, other, ephemeral_message_id=number))
    assert words == "Bad Request: message to be replied not found"
    alone = _answer(group)
    del alone["reply_parameters"]
    assert "answers nothing" in await refusal(server, "sendMessage", **alone)
    in_public = _answer(group, ephemeral_message_id=number)
    del in_public["ephemeral_message_parameters"]
    assert "must be an ephemeral message" in await refusal(server, "sendMessage", **in_public)
    by_zero = {"chat_id": group, "text": "Thanks.", "reply_parameters": {"message_id": 0}}
    assert "replied not found" in await refusal(server, "sendMessage", **by_zero)
    assert server.town.of_bot(group) == []


async def test_the_trap_is_there(server: TelegramServer, group: int) -> None:
    """What a library that knows no ephemeral messages does is possible, and public."""
    _flag(server, group)
    asked = {"message_id": 0, "allow_sending_without_reply": True}
    await done(server, "sendMessage", chat_id=group, text="Thanks.", reply_parameters=asked)
    assert [message["text"] for message in server.town.of_bot(group)] == ["Thanks."]


async def test_an_ephemeral_message_is_edited_pressed_and_deleted(server: TelegramServer, group: int) -> None:
    number = _flag(server, group)["ephemeral_message_id"]
    keyboard = {"inline_keyboard": [[{"text": "Undo", "callback_data": "undo"}]]}
    sent = await done(server, "sendMessage", **_answer(group, ephemeral_message_id=number), reply_markup=keyboard)
    whisper = server.town.whispers_to(5001, group)[0]
    query = server.town.press(5001, whisper, "undo")
    assert server.state.updates.made[-1]["callback_query"]["message"]["ephemeral_message_id"] == 2
    given = {"receiver_user_id": 5001, "callback_query_id": query}
    await done(server, "sendMessage", chat_id=group, text="Undone.", ephemeral_message_parameters=given)
    there = {"chat_id": group, "receiver_user_id": 5001, "ephemeral_message_id": sent["ephemeral_message_id"]}
    await done(server, "editEphemeralMessageText", **there, text="Taken back.")
    assert [each["text"] for each in server.town.whispers_to(5001, group)] == ["Taken back.", "Undone."]
    await done(server, "deleteEphemeralMessage", **there)
    assert "to edit not found" in await refusal(server, "editEphemeralMessageText", **there, text="x")
    server.town.wait(16)
    words = await refusal(server, "sendMessage", chat_id=group, text="x", ephemeral_message_parameters=given)
    assert "query is too old" in words


async def test_there_is_nothing_ephemeral_outside_groups(server: TelegramServer) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    assert "groups" in await refusal(server, "sendMessage", **_answer(ada, ada, message_id=1))


async def test_an_older_server_does_without_and_says_everything_in_public(server: TelegramServer, group: int) -> None:
    server.state.offers_ephemeral = False
    flag = _flag(server, group)
    assert flag in server.town.public(group)
    await done(server, "sendMessage", **_answer(group, message_id=flag["message_id"]))
    assert [message["text"] for message in server.town.of_bot(group)] == ["Thanks."]
    there = {"chat_id": group, "receiver_user_id": 5001, "ephemeral_message_id": 1}
    assert await refusal(server, "deleteEphemeralMessage", **there) == "Not Found"
