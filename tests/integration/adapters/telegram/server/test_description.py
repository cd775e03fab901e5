"""What the fake Bot API server takes and gives is what Telegram's own description has."""

from typing import Any

import pytest

from tests.fakes.telegram.plain_calls import asked, done
from tests.fakes.telegram.server.server import _METHODS, TelegramServer
from tests.fakes.telegram.server.spec import published


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
