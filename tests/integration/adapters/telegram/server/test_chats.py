"""What the fake Telegram promises of its chats: who hears what, who may write, what makes a message fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.telegram.plain_calls import asked, done, refusal
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.server.state import BOT_ID


def _group(server: TelegramServer, **how: Any) -> tuple[int, int]:
    ada = server.town.add_user()
    return ada, server.town.add_group(owner=ada, **how)


def _heard(server: TelegramServer) -> list[str]:
    return [update["message"].get("text", "(service)") for update in server.state.updates.made if "message" in update]


async def test_privacy_lets_the_bot_hear_commands_answers_and_service_messages(server: TelegramServer) -> None:
    ada, group = _group(server)
    own = await done(server, "sendMessage", chat_id=group, text="Hello.")
    post = server.town.say(ada, group, "They should all go.")
    server.town.say(ada, group, "I agree.", reply_to=post)
    server.town.edit(post, "They should go.")
    server.town.say(ada, group, "@antiphon_bot look")
    server.town.say(ada, group, "/ban@other_bot")
    assert _heard(server) == []
    server.town.command(ada, group, "counter", reply_to=post)
    server.town.say(ada, group, "/help")
    server.town.say(ada, group, "Thanks.", reply_to=own)
    server.town.join(group, server.town.add_user("Ben"))
    assert _heard(server) == ["/counter@antiphon_bot", "/help", "Thanks.", "(service)"]
    assert server.state.updates.made[0]["message"]["reply_to_message"]["text"] == "They should go."


@pytest.mark.parametrize("bot", ["administrator", "member"])
async def test_an_administrator_hears_all_and_so_does_a_bot_without_privacy(server: TelegramServer, bot: str) -> None:
    server.state.privacy = bot == "administrator"
    ada, group = _group(server, bot=bot)
    server.town.edit(server.town.say(ada, group, "one"), "two")
    assert [list(update)[1] for update in server.state.updates.made] == ["message", "edited_message"]


@pytest.mark.parametrize(
    ("bot", "allowed", "comes"),
    [("administrator", True, True), ("administrator", False, False), ("member", True, False)],
)
async def test_reactions_come_to_an_administrator_who_asks_for_them(
    server: TelegramServer, bot: str, allowed: bool, comes: bool
) -> None:
    ada, group = _group(server, bot=bot)
    await done(server, "getUpdates", allowed_updates=["message", "message_reaction"] if allowed else [])
    post = server.town.say(ada, group, "They should all go.")
    server.town.react(ada, post, "🚩")
    reactions = [each["message_reaction"] for each in server.state.updates.made if "message_reaction" in each]
    assert [each["new_reaction"] for each in reactions] == ([[{"type": "emoji", "emoji": "🚩"}]] if comes else [])
    body = await asked(server, "deleteMessageReaction", chat_id=group, message_id=post["message_id"], user_id=ada)
    assert body["ok"] is (bot == "administrator")


async def test_a_bot_writes_only_where_it_may(server: TelegramServer) -> None:
    ada, group = _group(server)
    assert "can't initiate" in await refusal(server, "sendMessage", chat_id=ada, text="x")
    server.town.start(ada)
    await done(server, "sendMessage", chat_id=ada, text="x")
    server.town.block(ada)
    assert "blocked by the user" in await refusal(server, "sendMessage", chat_id=ada, text="x")
    server.town.start(ada)
    for message in server.town.public(ada):
        server.town.delete(message)
    await done(server, "sendMessage", chat_id=ada, text="x")
    server.town.set_member(group, BOT_ID, "restricted", by=ada)
    assert "not enough rights" in await refusal(server, "sendMessage", chat_id=group, text="x")
    server.town.set_member(group, BOT_ID, "kicked", by=ada)
    assert "bot was kicked from the supergroup chat" in await refusal(server, "sendMessage", chat_id=group, text="x")
    assert "chat not found" in await refusal(server, "sendMessage", chat_id=-5, text="x")


async def test_a_group_that_became_a_supergroup_tells_its_new_number(server: TelegramServer) -> None:
    ada, group = _group(server, kind="group")
    new = server.town.migrate(group)
    body = await asked(server, "sendMessage", chat_id=group, text="x")
    assert body["parameters"] == {"migrate_to_chat_id": new}
    assert (await done(server, "sendMessage", chat_id=new, text="x"))["chat"]["type"] == "supergroup"
    told = [update["message"] for update in server.state.updates.made]
    assert [each.get("migrate_to_chat_id") for each in told] == [new, None]
    assert told[1]["migrate_from_chat_id"] == group
    assert (await done(server, "getChatMember", chat_id=new, user_id=ada))["status"] == "creator"


async def test_the_answered_message_must_be_there_and_have_the_quote(server: TelegramServer) -> None:
    ada, group = _group(server)
    post = server.town.say(ada, group, "They should all go. 🙂 Now.")
    reply = {"message_id": post["message_id"], "quote": "🙂 Now"}
    sent = await done(server, "sendMessage", chat_id=group, text="Who?", reply_parameters=reply)
    assert sent["quote"] == {"text": "🙂 Now", "position": 20, "is_manual": True}
    server.town.edit(post, "They should stay.")
    words = await refusal(server, "sendMessage", chat_id=group, text="Who?", reply_parameters=reply)
    assert words == "Bad Request: QUOTE_TEXT_INVALID"
    server.town.delete(post)
    words = await refusal(server, "sendMessage", chat_id=group, text="Who?", reply_parameters=reply)
    assert words == "Bad Request: message to be replied not found"
    anyway = {"message_id": post["message_id"], "allow_sending_without_reply": True}
    sent = await done(server, "sendMessage", chat_id=group, text="Who?", reply_parameters=anyway)
    assert "reply_to_message" not in sent


async def test_a_quote_has_the_formats_of_the_message(server: TelegramServer) -> None:
    ada, group = _group(server)
    bold = {"type": "bold", "offset": 5, "length": 6}
    post = server.town.say(ada, group, "They should all go, and all should go.", entities=[bold])
    for quote, place in (("They", 0), ("all should", 24), ("all", 12)):
        reply = {"message_id": post["message_id"], "quote": quote}
        sent = await done(server, "sendMessage", chat_id=group, text="Who?", reply_parameters=reply)
        assert sent["quote"]["position"] == place
    reply = {"message_id": post["message_id"], "quote": "should all"}
    words = await refusal(server, "sendMessage", chat_id=group, text="Who?", reply_parameters=reply)
    assert words == "Bad Request: QUOTE_TEXT_INVALID"
    reply["quote_entities"] = [{"type": "bold", "offset": 0, "length": 6}]
    sent = await done(server, "sendMessage", chat_id=group, text="Who?", reply_parameters=reply)
    assert sent["quote"]["position"] == 5


async def test_a_message_of_another_chat_is_not_answered(server: TelegramServer) -> None:
    ada, group = _group(server)
    other = server.town.add_group(owner=ada)
    reply = {"message_id": server.town.say(ada, other, "They should all go.")["message_id"], "chat_id": other}
    reply["allow_sending_without_reply"] = True
    assert "replied not found" in await refusal(
        server, "sendMessage", chat_id=group, text="Who?", reply_parameters=reply
    )


async def test_a_group_may_take_so_many_messages_a_minute(server: TelegramServer) -> None:
    ada, group = _group(server)
    server.state.group_limit = 2
    server.town.start(ada)
    for text in ("one", "two"):
        await done(server, "sendMessage", chat_id=group, text=text)
    body = await asked(server, "sendMessage", chat_id=group, text="three")
    wait = body["parameters"]["retry_after"]
    assert body["error_code"] == 429
    await done(server, "sendMessage", chat_id=ada, text="elsewhere")
    server.town.wait(wait)
    await done(server, "sendMessage", chat_id=group, text="three")


async def test_topics_keep_messages_apart(server: TelegramServer) -> None:
    ada, group = _group(server, forum=True)
    news, other = server.town.add_topic(group, "News"), server.town.add_topic(group, "Other")
    post = server.town.say(ada, group, "They should all go.", topic=news)
    assert post["reply_to_message"]["forum_topic_created"]["name"] == "News"
    reply = {"message_id": post["message_id"]}
    sent = await done(server, "sendMessage", chat_id=group, text="Who?", reply_parameters=reply)
    assert (sent["message_thread_id"], sent["is_topic_message"]) == (news, True)
    wrong = {"chat_id": group, "text": "Who?", "reply_parameters": reply}
    assert "replied not found" in await refusal(server, "sendMessage", **wrong, message_thread_id=other)
    assert "thread not found" in await refusal(server, "sendMessage", **wrong, message_thread_id=999)
    server.town.close_topic(group, news)
    assert "TOPIC_CLOSED" in await refusal(server, "sendMessage", **wrong)


async def test_a_thread_of_a_supergroup_is_not_a_topic(server: TelegramServer) -> None:
    ada, group = _group(server)
    post = server.town.say(ada, group, "They should all go.")
    answer = server.town.say(ada, group, "Yes.", reply_to=post)
    assert (answer["message_thread_id"], answer.get("is_topic_message")) == (post["message_id"], None)


@pytest.mark.parametrize(
    ("text", "shown", "kinds"),
    [
        ("<b>a</b> &lt;b&gt; &amp;", "a <b> &", ["bold"]),
        ("<tg-spoiler>a</tg-spoiler>", "a", ["spoiler"]),
        ("<blockquote expandable>a</blockquote>", "a", ["expandable_blockquote"]),
        ("<pre>@everyone /help</pre>", "@everyone /help", ["pre"]),
        ("@someone said https://a.example/b", "@someone said https://a.example/b", ["mention", "url"]),
        ('<a href="https://t.me/x?start=1">a</a>', "a", ["text_link"]),
        ("  <i> a </i>  ", "a", ["italic"]),
    ],
)
async def test_html_is_read(server: TelegramServer, text: str, shown: str, kinds: list[str]) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    sent = await done(server, "sendMessage", chat_id=ada, text=text, parse_mode="HTML")
    assert sent["text"] == shown
    assert [entity["type"] for entity in sent.get("entities", [])] == kinds


@pytest.mark.parametrize("text", ["<b>a", "<div>a</div>", "a</b>", "<b><i>a</b></i>", "<br/>", "<b></b>", "   "])
async def test_wrong_html_and_empty_texts_are_refused(server: TelegramServer, text: str) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    words = await refusal(server, "sendMessage", chat_id=ada, text=text, parse_mode="HTML")
    assert "can't parse entities" in words or words == "Bad Request: message text is empty"


@pytest.mark.parametrize(("text", "is_taken"), [("🙂" * 2048, True), ("🙂" * 2048 + "x", False)])
async def test_a_text_has_4096_units_after_parsing(server: TelegramServer, text: str, is_taken: bool) -> None:
    ada = server.town.add_user()
    server.town.start(ada)
    body = await asked(server, "sendMessage", chat_id=ada, text=f"<b>{text}</b>", parse_mode="HTML")
    assert body["ok"] is is_taken


async def test_only_own_messages_are_edited_and_only_to_something_else(server: TelegramServer) -> None:
    ada, group = _group(server)
    keyboard = {"inline_keyboard": [[{"text": "Press", "callback_data": "x"}]]}
    own = await done(server, "sendMessage", chat_id=group, text="<b>a</b>", parse_mode="HTML", reply_markup=keyboard)
    there = {"chat_id": group, "message_id": own["message_id"]}
    same = await refusal(server, "editMessageText", **there, text="<b>a</b>", parse_mode="HTML", reply_markup=keyboard)
    assert same.startswith("Bad Request: message is not modified")
    changed = await done(server, "editMessageText", **there, text="a")
    assert "reply_markup" not in changed
    assert "edit_date" in changed
    post = server.town.say(ada, group, "mine")
    there["message_id"] = post["message_id"]
    assert "can't be edited" in await refusal(server, "editMessageText", **there, text="b")
    assert "can't be deleted" in await refusal(server, "deleteMessage", **there)
    there["message_id"] = 0
    assert "to edit not found" in await refusal(server, "editMessageText", **there, text="b")
    assert "to delete not found" in await refusal(server, "deleteMessage", **there)


async def test_an_administrator_deletes_what_others_wrote(server: TelegramServer) -> None:
    ada, group = _group(server, bot="administrator", bot_rights=["can_delete_messages"])
    post = server.town.say(ada, group, "mine")
    await done(server, "deleteMessage", chat_id=group, message_id=post["message_id"])
    assert server.town.public(group) == []


async def test_a_press_is_answered_once_and_soon(server: TelegramServer) -> None:
    ada, group = _group(server)
    keyboard = {"inline_keyboard": [[{"text": "Press", "callback_data": "x"}]]}
    card = await done(server, "sendMessage", chat_id=group, text="a", reply_markup=keyboard)
    first, second = server.town.press(ada, card, "x"), server.town.press(ada, card, label="Press")
    await done(server, "answerCallbackQuery", callback_query_id=first, text="Yes.")
    assert (server.town.answer_to(first) or {})["text"] == "Yes."
    assert "query is too old" in await refusal(server, "answerCallbackQuery", callback_query_id=first)
    server.town.wait(61)
    assert "query is too old" in await refusal(server, "answerCallbackQuery", callback_query_id=second)
    with pytest.raises(LookupError):
        server.town.press(ada, card, "y")
    await done(server, "editMessageText", chat_id=group, message_id=card["message_id"], text="b")
    with pytest.raises(LookupError):
        server.town.press(ada, card, "x")
    server.town.press(ada, card, "x", stale=True)
    assert server.state.updates.made[-1]["callback_query"]["message"]["text"] == "b"
    server.town.delete(card)
    server.town.press(ada, card, "x", stale=True)
    assert server.state.updates.made[-1]["callback_query"]["message"]["date"] == 0


async def test_members_are_what_they_are(server: TelegramServer) -> None:
    ada, ben, cleo = (server.town.add_user(name) for name in ("Ada", "Ben", "Cleo"))
    group = server.town.add_group(owner=ada, admins={ben: ["can_change_info"]}, members=[cleo])
    asked_of = [await done(server, "getChatMember", chat_id=group, user_id=user) for user in (ada, ben, cleo)]
    assert [member["status"] for member in asked_of] == ["creator", "administrator", "member"]
    assert (asked_of[1]["can_change_info"], asked_of[1]["can_delete_messages"]) == (True, False)
    server.town.set_member(group, cleo, "left")
    assert (await done(server, "getChatMember", chat_id=group, user_id=cleo))["status"] == "left"
    assert "user not found" in await refusal(server, "getChatMember", chat_id=group, user_id=1)
    admins = await done(server, "getChatAdministrators", chat_id=group)
    assert {member["user"]["id"] for member in admins} == {ada, ben}
    server.state.chats[group].hides_members = True
    assert "inaccessible" in await refusal(server, "getChatMember", chat_id=group, user_id=ada)


async def test_command_lists_are_kept_by_scope_and_language(server: TelegramServer) -> None:
    commands = [{"command": "counter", "description": "Flag a post"}]
    scope = {"type": "all_group_chats"}
    await done(server, "setMyCommands", commands=commands, scope=scope, language_code="es")
    assert await done(server, "getMyCommands", scope=scope, language_code="es") == commands
    assert await done(server, "getMyCommands", scope=scope) == []


async def test_anonymous_administrators_and_channels_have_no_person_behind_them(server: TelegramServer) -> None:
    ada, group = _group(server, bot="administrator")
    channel = server.town.add_group("The Brenmoor Post", kind="channel", bot=None)
    server.town.link(channel, group)
    said = server.town.say(ada, group, "/counter", as_chat=group)
    assert (said["from"]["username"], said["sender_chat"]["id"]) == ("GroupAnonymousBot", group)
    post = server.town.post(channel, "News of the day.")
    assert (post["is_automatic_forward"], post["sender_chat"]["id"], post["from"]["id"]) == (True, channel, 777000)
    assert (await done(server, "getChat", chat_id=group))["linked_chat_id"] == channel


async def test_a_forward_shows_its_author_unless_they_hide(server: TelegramServer) -> None:
    ada, group = _group(server)
    post = server.town.say(ada, group, "They should all go.")
    ben = server.town.add_user("Ben")
    shown = server.town.forward(ben, post)["forward_origin"]
    hidden = server.town.forward(ben, post, hidden=True)["forward_origin"]
    assert (shown["sender_user"]["id"], hidden["sender_user_name"]) == (ada, "Ada")
