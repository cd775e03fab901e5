"""The fake Telegram driven by aiogram, a library that shares nothing with python-telegram-bot.

What both libraries understand is not an assumption that only one of them makes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from tests.fakes.machine.later import Later
from tests.fakes.telegram.server.server import TelegramServer
from tools.telegram_spec import REDUCED

if TYPE_CHECKING:
    import aiogram
else:
    aiogram = Later("aiogram")  # its models take seconds, of each process that collects the tests


@pytest.fixture
async def bot(server: TelegramServer) -> AsyncIterator[aiogram.Bot]:
    """The bot of aiogram, led to the fake server."""
    session = aiogram.client.session.aiohttp.AiohttpSession(
        api=aiogram.client.telegram.TelegramAPIServer.from_base(server.url)
    )
    made = aiogram.Bot(server.token, session=session)
    yield made
    await session.close()


def test_the_description_holds_what_aiogram_knows() -> None:
    """The fake checks every request against it."""
    from tools.telegram_later_spec import grown  # which imports aiogram

    document = json.loads(REDUCED.read_text(encoding="utf-8"))
    assert grown(document) == document, "Run: python -m tools.telegram_later_spec"


async def test_it_logs_in(bot: aiogram.Bot) -> None:
    me = await bot.me()
    assert (me.id, me.is_bot, me.username) == (123456, True, "antiphon_bot")


async def test_a_command_is_polled_answered_pressed_and_edited(server: TelegramServer, bot: aiogram.Bot) -> None:
    dispatcher = aiogram.Dispatcher()
    button = aiogram.types.InlineKeyboardButton(text="Post", callback_data="p", style="success")
    keyboard = aiogram.types.InlineKeyboardMarkup(inline_keyboard=[[button]])

    async def counter(message: aiogram.types.Message) -> None:
        post = message.reply_to_message
        assert post is not None
        reply = aiogram.types.ReplyParameters(message_id=post.message_id)
        await bot.send_message(
            message.chat.id,
            "<b>A card</b>",
            parse_mode=aiogram.enums.ParseMode.HTML,
            reply_parameters=reply,
            reply_markup=keyboard,
        )

    async def pressed(query: aiogram.types.CallbackQuery) -> None:
        assert isinstance(query.message, aiogram.types.Message)
        await query.answer("Posted.")
        await bot.edit_message_text("Done.", chat_id=query.message.chat.id, message_id=query.message.message_id)

    dispatcher.message.register(counter, aiogram.filters.Command("counter"))
    dispatcher.callback_query.register(pressed)
    polling = asyncio.create_task(dispatcher.start_polling(bot, handle_signals=False, close_bot_session=False))
    ada = server.town.add_user("Ada")
    group = server.town.add_group(owner=ada)
    post = server.town.say(ada, group, "They should all go.")
    server.town.command(ada, group, "counter", reply_to=post)
    card = (await server.until(lambda: server.town.of_bot(group)))[0]
    assert (card["text"], card["reply_to_message"]["text"]) == ("A card", "They should all go.")
    query = server.town.press(ada, card, label="Post")
    await server.until(lambda: card["text"] == "Done.")
    assert (server.town.answer_to(query) or {})["text"] == "Posted."
    await server.until_heard()
    await dispatcher.stop_polling()
    await polling
    assert [list(update)[1] for update in server.state.updates.made] == ["message", "callback_query"]


async def test_offsets_confirm(server: TelegramServer, bot: aiogram.Bot) -> None:
    ada = server.town.add_user("Ada")
    server.town.say(ada, None, "one")
    server.town.say(ada, None, "two")
    first = await bot.get_updates()
    assert await bot.get_updates() == first
    rest = await bot.get_updates(offset=first[0].update_id + 1)
    assert [update.message.text for update in rest if update.message] == ["two"]


async def test_reactions_and_members_come_as_it_reads_them(server: TelegramServer, bot: aiogram.Bot) -> None:
    ada = server.town.add_user("Ada")
    group = server.town.add_group(owner=ada, bot="administrator", forum=True)
    await bot.get_updates(allowed_updates=["message", "message_reaction", "my_chat_member"])
    topic = server.town.add_topic(group)
    post = server.town.say(ada, group, "They should all go.", topic=topic)
    server.town.react(ada, post, "👎")
    server.town.set_member(group, bot.id, "member", by=ada)
    note, message, reaction, change = await bot.get_updates()
    assert note.message is not None
    assert note.message.forum_topic_created is not None
    assert message.message is not None
    assert (message.message.message_thread_id, message.message.is_topic_message) == (topic, True)
    assert isinstance(reaction.message_reaction, aiogram.types.MessageReactionUpdated)
    (given,) = reaction.message_reaction.new_reaction
    assert isinstance(given, aiogram.types.ReactionTypeEmoji)
    assert given.emoji == "👎"
    assert change.my_chat_member is not None
    assert change.my_chat_member.new_chat_member.status == "member"
    assert (await bot.get_chat_member(group, ada)).status == "creator"
    assert (await bot.get_chat(group)).is_forum
    assert len(await bot.get_chat_administrators(group)) == 1


async def test_a_missing_or_changed_answered_message_is_an_error(server: TelegramServer, bot: aiogram.Bot) -> None:
    ada = server.town.add_user("Ada")
    group = server.town.add_group(owner=ada)
    post = server.town.say(ada, group, "They should all go.")
    reply = aiogram.types.ReplyParameters(message_id=post["message_id"], quote="all go")
    bare = aiogram.types.LinkPreviewOptions(is_disabled=True)
    sent = await bot.send_message(group, "Who?", reply_parameters=reply, link_preview_options=bare)
    assert sent.quote is not None
    assert sent.quote.text == "all go"
    server.town.edit(post, "They should stay.")
    with pytest.raises(aiogram.exceptions.TelegramBadRequest, match="QUOTE_TEXT_INVALID"):
        await bot.send_message(group, "Who?", reply_parameters=reply)
    server.town.delete(post)
    with pytest.raises(aiogram.exceptions.TelegramBadRequest, match="message to be replied not found"):
        await bot.send_message(group, "Who?", reply_parameters=reply)


async def test_each_error_is_the_one_that_it_knows(server: TelegramServer, bot: aiogram.Bot) -> None:
    ada = server.town.add_user("Ada")
    with pytest.raises(aiogram.exceptions.TelegramForbiddenError):
        await bot.send_message(ada, "x")
    server.town.start(ada)
    server.fault("sendMessage", "429", retry_after=3)
    with pytest.raises(aiogram.exceptions.TelegramRetryAfter) as busy:
        await bot.send_message(ada, "x")
    assert busy.value.retry_after == 3
    server.fault("sendMessage", "5xx after")
    with pytest.raises(aiogram.exceptions.TelegramServerError):
        await bot.send_message(ada, "arrived")
    server.fault("getUpdates", "409")
    with pytest.raises(aiogram.exceptions.TelegramConflictError):
        await bot.get_updates()
    server.fault("sendMessage", "lose reply")
    with pytest.raises(aiogram.exceptions.TelegramNetworkError):
        await bot.send_message(ada, "arrived, too")
    sent = await bot.send_message(ada, "same")
    with pytest.raises(aiogram.exceptions.TelegramBadRequest, match="message is not modified"):
        await sent.edit_text("same")
    group = server.town.add_group(owner=ada, kind="group")
    new = server.town.migrate(group)
    with pytest.raises(aiogram.exceptions.TelegramMigrateToChat) as moved:
        await bot.send_message(group, "x")
    assert moved.value.migrate_to_chat_id == new
    assert [message["text"] for message in server.town.of_bot(ada)] == ["arrived", "arrived, too", "same"]


async def test_ephemeral_messages_are_as_it_knows_them(server: TelegramServer, bot: aiogram.Bot) -> None:
    commands = [aiogram.types.BotCommand(command="counter", description="Flag a post", is_ephemeral=True)]
    await bot.set_my_commands(commands, aiogram.types.BotCommandScopeAllGroupChats())
    ada = server.town.add_user("Ada")
    group = server.town.add_group(owner=ada)
    server.town.command(ada, group, "counter", reply_to=server.town.say(ada, group, "They should all go."))
    (update,) = await bot.get_updates()
    flag = update.message
    assert flag is not None
    assert (flag.message_id, flag.ephemeral_message_id) == (0, 1)
    sent = await bot.send_message(
        group,
        "Thanks.",
        ephemeral_message_parameters=aiogram.types.EphemeralMessageParameters(receiver_user_id=ada),
        reply_parameters=aiogram.types.ReplyParameters(ephemeral_message_id=flag.ephemeral_message_id),
    )
    assert (sent.message_id, sent.ephemeral_message_id) == (0, 2)
    assert await bot.edit_ephemeral_message_text(
        chat_id=group, receiver_user_id=ada, ephemeral_message_id=2, text="Gone."
    )
    assert await bot.delete_ephemeral_message(chat_id=group, receiver_user_id=ada, ephemeral_message_id=2)
    assert server.town.of_bot(group) == []


async def test_a_file_arrives(server: TelegramServer, bot: aiogram.Bot) -> None:
    ada = server.town.add_user("Ada")
    server.town.start(ada)
    sent = await bot.send_document(ada, aiogram.types.BufferedInputFile(b"a,b\n", "stats.csv"), caption="Here")
    assert sent.document is not None
    assert (sent.document.file_name, server.state.files[sent.document.file_id]) == ("stats.csv", b"a,b\n")
