"""What the fake Telegram promises: offsets, conflicts, faults, who hears what, ephemeral messages, limits."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.fakes.telegram.server.server import TelegramServer

JSON = dict[str, Any]


async def _call(server: TelegramServer, method: str, **params: Any) -> JSON:
    """The body of an answer."""
    url = f"{server.url}/bot{server.token}/{method}"
    async with aiohttp.ClientSession() as session, session.post(url, json=params) as answer:
        body: JSON = await answer.json()
        assert body["ok"] is (answer.status == 200)
        return body


async def _ok(server: TelegramServer, method: str, **params: Any) -> Any:
    body = await _call(server, method, **params)
    assert body["ok"], body
    return body["result"]


async def test_an_update_comes_until_a_higher_offset_is_asked_for(server: TelegramServer) -> None:
    ada = server.town.add_user()
    server.town.say(ada, None, "one")
    server.town.say(ada, None, "two")
    first = await _ok(server, "getUpdates")
    again = await _ok(server, "getUpdates", offset=first[0]["update_id"])
    assert [update["message"]["text"] for update in first] == ["one", "two"]
    assert again == first
    rest = await _ok(server, "getUpdates", offset=first[0]["update_id"] + 1)
    assert [update["message"]["text"] for update in rest] == ["two"]
    assert await _ok(server, "getUpdates", offset=first[1]["update_id"] + 1) == []


async def test_a_message_that_is_answered_must_be_there(server: TelegramServer) -> None:
    ada = server.town.add_user()
    group = server.town.add_group(owner=ada)
    post = server.town.say(ada, group, "They should all go.")
    server.town.delete(post)
    gone = {"message_id": post["message_id"]}
    answer = await _call(server, "sendMessage", chat_id=group, text="Who?", reply_parameters=gone)
    assert answer["description"] == "Bad Request: message to be replied not found"
    anyway = gone | {"allow_sending_without_reply": True}
    assert "reply_to_message" not in await _ok(
        server, "sendMessage", chat_id=group, text="Who?", reply_parameters=anyway
    )
    assert [message["text"] for message in server.town.of_bot(group)] == ["Who?"]


async def test_what_the_description_does_not_allow_is_answered_400_and_recorded(server: TelegramServer) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    answer = await _call(server, "sendMessage", chat_id=ada, text="x", reply_to_message_id=1)
    assert answer["error_code"] == 400
    assert server.errors == [
        "sendMessage: /: Additional properties are not allowed ('reply_to_message_id' was unexpected)"
    ]
    server.errors.clear()


@pytest.mark.parametrize(("length", "is_taken"), [(64, True), (65, False)])
async def test_callback_data_has_64_bytes_at_most(server: TelegramServer, length: int, is_taken: bool) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    keyboard = {"inline_keyboard": [[{"text": "Press", "callback_data": "é" * 20 + "x" * (length - 40)}]]}
    answer = await _call(server, "sendMessage", chat_id=ada, text="x", reply_markup=keyboard)
    assert answer["ok"] is is_taken
    assert bool(server.errors) is not is_taken
    server.errors.clear()
