"""What the fake Bot API server promises of its network side: updates, conflicts, faults, the check."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from tests.fakes.telegram.plain_calls import asked, done, refusal
from tests.fakes.telegram.server.server import _METHODS, TelegramServer
from tests.fakes.telegram.server.spec import published


def _texts(updates: list[dict[str, Any]]) -> list[str]:
    return [update["message"]["text"] for update in updates]


async def test_an_update_comes_until_a_higher_offset_is_asked_for(server: TelegramServer) -> None:
    ada = server.town.add_user()
    for text in ("one", "two", "three"):
        server.town.say(ada, None, text)
    first = await done(server, "getUpdates", limit=2)
    assert _texts(first) == ["one", "two"]
    assert await done(server, "getUpdates", limit=2, offset=first[0]["update_id"]) == first
    assert _texts(await done(server, "getUpdates", offset=first[0]["update_id"] + 1)) == ["two", "three"]
    assert _texts(await done(server, "getUpdates", offset=-1)) == ["three"]
    assert _texts(await done(server, "getUpdates")) == ["three"]
    assert await done(server, "getUpdates", offset=first[1]["update_id"] + 2) == []


async def test_numbers_may_restart_and_updates_repeat(server: TelegramServer) -> None:
    ada = server.town.add_user()
    server.town.say(ada, None, "before")
    before = await done(server, "getUpdates")
    assert await done(server, "getUpdates", offset=before[0]["update_id"] + 1) == []
    server.state.updates.repeat(before[0]["update_id"])
    assert await done(server, "getUpdates") == before
    server.state.updates.drop_all()
    server.state.updates.restart_at(7)
    server.town.say(ada, None, "after")
    assert (await done(server, "getUpdates"))[0]["update_id"] == 7


async def test_a_question_is_held_until_something_happens(server: TelegramServer) -> None:
    ada = server.town.add_user()
    held = asyncio.create_task(done(server, "getUpdates", timeout=50))
    await server.until(lambda: server.requests)
    assert not held.done()
    server.town.say(ada, None, "now")
    assert _texts(await held) == ["now"]


async def test_a_second_poller_ends_the_first(server: TelegramServer) -> None:
    first = asyncio.create_task(refusal(server, "getUpdates", timeout=50))
    await server.until(lambda: server.requests)
    assert await done(server, "getUpdates", timeout=0) == []
    assert (await first).startswith("Conflict: terminated by other getUpdates request")


async def test_a_webhook_excludes_polling(server: TelegramServer) -> None:
    held = asyncio.create_task(refusal(server, "getUpdates", timeout=50))
    await server.until(lambda: server.requests)
    await done(server, "setWebhook", url="https://desk.example/hook")
    assert (await held).startswith("Conflict: can't use getUpdates method while webhook is active")
    assert (await done(server, "getWebhookInfo"))["url"] == "https://desk.example/hook"
    await done(server, "deleteWebhook")
    assert await done(server, "getUpdates") == []


async def test_only_an_encrypted_webhook_leaves_this_machine(server: TelegramServer) -> None:
    assert "HTTPS" in await refusal(server, "setWebhook", url="http://desk.example/hook")


@pytest.mark.parametrize(("kind", "code"), [("429", 429), ("409", 409), ("5xx", 502), ("5xx after", 502)])
async def test_an_error_strikes_so_often_as_it_says(server: TelegramServer, kind: str, code: int) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    server.fault("sendMessage", kind, 2)
    bodies = [await asked(server, "sendMessage", chat_id=ada, text=f"{number}") for number in range(3)]
    assert [body.get("error_code") for body in bodies] == [code, code, None]
    assert len(server.town.of_bot(ada)) == (3 if kind == "5xx after" else 1)
    assert bodies[0].get("parameters") == ({"retry_after": 1} if code == 429 else None)
    assert len(server.asked("sendMessage")) == 3


@pytest.mark.parametrize(("kind", "arrives"), [("lose reply", True), ("drop", False)])
async def test_a_connection_ends_without_an_answer(server: TelegramServer, kind: str, arrives: bool) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    server.fault("*", kind)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await asked(server, "sendMessage", chat_id=ada, text="x")
    assert bool(server.town.of_bot(ada)) is arrives


async def test_a_timeout_carries_out_and_never_answers(server: TelegramServer) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    server.fault("sendMessage", "timeout")
    waits = asyncio.create_task(asked(server, "sendMessage", chat_id=ada, text="x"))
    await server.until(lambda: server.town.of_bot(ada))
    await done(server, "getMe")
    assert not waits.done()
    waits.cancel()


async def test_connections_are_refused_until_they_are_taken_again(server: TelegramServer) -> None:
    server.fault("*", "refuse connection")
    with pytest.raises(aiohttp.ClientConnectorError):
        await asked(server, "getMe")
    await server.accept()
    assert (await done(server, "getMe"))["username"] == "antiphon_bot"
    assert len(server.requests) == 1


async def test_a_fault_may_strike_one_chat_only(server: TelegramServer) -> None:
    ada, ben = server.town.add_user("Ada"), server.town.add_user("Ben")
    for user in (ada, ben):
        server.town.start(user)
    server.fault("sendMessage", "429", chat=ben, retry_after=7)
    await done(server, "sendMessage", chat_id=ada, text="x")
    assert await refusal(server, "sendMessage", chat_id=ben, text="x") == "Too Many Requests: retry after 7"


async def test_a_wrong_token_is_refused(server: TelegramServer) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{server.url}/bot1:other/getMe") as answer:
        assert answer.status == 401


@pytest.mark.parametrize(
    ("method", "params", "words"),
    [
        ("sendMessage", {"chat_id": 1, "text": "x", "reply_to_message_id": 1}, "'reply_to_message_id' was unexpected"),
        ("sendMessage", {"chat_id": 1}, "'text' is a required property"),
        ("sendMessage", {"chat_id": 1, "text": "x", "receiver_user_id": 1}, "'receiver_user_id' was unexpected"),
        ("sendMessage", {"chat_id": 1, "text": "x", "reply_parameters": {"message_id": "1"}}, "is not of type"),
        ("answerCallbackQuery", {"callback_query_id": "1", "text": "x" * 201}, "is too long"),
        ("setMyCommands", {"commands": [{"command": "a", "description": ""}]}, "should be non-empty"),
        ("setMyCommands", {"commands": [], "scope": {"type": "group"}}, "is not valid under any"),
        ("setWebhook", {"url": "https://desk.example", "secret_token": "no space"}, "secret_token"),
        ("answerGuestMessage", {}, "there is no such method"),
    ],
)  # fmt: skip
async def test_what_the_description_does_not_know_is_refused_and_recorded(
    server: TelegramServer, method: str, params: dict[str, Any], words: str
) -> None:
    body = await asked(server, method, **params)
    assert body["error_code"] == (404 if "no such" in words else 400)
    assert len(server.errors) == 1
    assert words in server.errors[0]
    server.errors.clear()


@pytest.mark.parametrize(("more", "is_taken"), [(24, True), (25, False)])
async def test_callback_data_has_64_bytes_at_most(server: TelegramServer, more: int, is_taken: bool) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    keyboard = {"inline_keyboard": [[{"text": "Press", "callback_data": "é" * 20 + "x" * more}]]}
    body = await asked(server, "sendMessage", chat_id=ada, text="x", reply_markup=keyboard)
    assert body["ok"] is is_taken
    assert bool(server.errors) is not is_taken
    server.errors.clear()


async def test_an_update_of_a_later_kind_comes_too(server: TelegramServer) -> None:
    server.state.updates.add_odd({"telepathy": {"from": 1}})
    assert (await done(server, "getUpdates"))[0]["telepathy"] == {"from": 1}


async def test_what_the_fake_sends_is_checked_too() -> None:
    server = TelegramServer()
    async with server.running():
        server.state.updates.add("message", {"message_id": 1, "telepathy": True})
    assert any("'telepathy' was unexpected" in error for error in server.errors)


@pytest.mark.parametrize("method", sorted(_METHODS))
def test_the_description_tells_what_every_method_answers(method: str) -> None:
    """So that nothing reads what Telegram would not send."""
    assert published().faults_of_result(method, ["neither an object nor a yes"]) != []


async def test_an_answer_that_telegram_would_not_give_is_an_error(server: TelegramServer) -> None:
    """Of a member, of administrators, of commands, of a file: whatever a method reads."""
    owner = server.town.add_user()
    group = server.town.add_group(owner=owner, bot="administrator")
    administrators = [each["status"] for each in await done(server, "getChatAdministrators", chat_id=group)]
    assert (administrators, server.errors) == (["creator", "administrator"], [])
    server.state.chats[group].members[owner] |= {"is_boss": True}
    server.state.commands['{"type": "default"}', ""] = [{"command": "counter"}]
    for method, asks in (
        ("getChatMember", {"chat_id": group, "user_id": owner}),
        ("getChatAdministrators", {"chat_id": group}),
        ("getMyCommands", {}),
    ):
        await done(server, method, **asks)
        assert any(error.startswith(f"answer to {method}: ") for error in server.errors), method
    server.errors.clear()
