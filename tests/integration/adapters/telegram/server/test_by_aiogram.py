"""The fake Telegram driven by aiogram, a library that shares nothing with python-telegram-bot.

What both libraries understand is not an assumption that only one of them makes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.enums import ParseMode
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramRetryAfter,
    TelegramServerError,
)
from aiogram.filters import Command
from aiogram.types import (
    BotCommand,
    BotCommandScopeAllGroupChats,
    BufferedInputFile,
    CallbackQuery,
    EphemeralMessageParameters,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    Message,
    MessageReactionUpdated,
    ReactionTypeEmoji,
    ReplyParameters,
)

from tests.fakes.telegram.server.server import TelegramServer
from tools.telegram_later_spec import grown
from tools.telegram_spec import REDUCED

KEYBOARD = InlineKeyboardMarkup(
    inline_keyboard=[[InlineKeyboardButton(text="Post", callback_data="p", style="success")]]
)


@pytest.fixture
async def bot(server: TelegramServer) -> AsyncIterator[Bot]:
    """The bot of aiogram, led to the fake server."""
    session = AiohttpSession(api=TelegramAPIServer.from_base(server.url))
    made = Bot(server.token, session=session)
    yield made
    await session.close()


def test_the_description_holds_what_aiogram_knows() -> None:
    """The fake checks every request against it."""
    document = json.loads(REDUCED.read_text(encoding="utf-8"))
    assert grown(document) == document, "Run: python -m tools.telegram_later_spec"


async def test_it_logs_in(bot: Bot) -> None:
    me = await bot.me()
    assert (me.id, me.is_bot, me.username) == (123456, True, "antiphon_bot")


async def test_a_command_is_polled_answered_pressed_and_edited(server: TelegramServer, bot: Bot) -> None:
    dispatcher = Dispatcher()

    async def counter(message: Message) -> None:
        post = message.reply_to_message
        assert post is not None
        reply = ReplyParameters(message_id=post.message_id)
        await bot.send_message(
            message.chat.id,
            "<b>A card</b>",
            parse_mode=ParseMode.HTML,
            reply_parameters=reply,
            reply_markup=KEYBOARD,
        )

    async def pressed(query: CallbackQuery) -> None:
        assert isinstance(query.message, Message)
        await query.answer("Posted.")
        await bot.edit_message_text("Done.", chat_id=query.message.chat.id, message_id=query.message.message_id)

    dispatcher.message.register(counter, Command("counter"))
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


async def test_offsets_confirm(server: TelegramServer, bot: Bot) -> None:
    ada = server.town.add_user("Ada")
    server.town.say(ada, None, "one")
    server.town.say(ada, None, "two")
    first = await bot.get_updates()
    assert await bot.get_updates() == first
    rest = await bot.get_updates(offset=first[0].update_id + 1)
    assert [update.message.text for update in rest if update.message] == ["two"]


async def test_reactions_and_members_come_as_it_reads_them(server: TelegramServer, bot: Bot) -> None:
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
    assert isinstance(reaction.message_reaction, MessageReactionUpdated)
    (given,) = reaction.message_reaction.new_reaction
    assert isinstance(given, ReactionTypeEmoji)
    assert given.emoji == "👎"
    assert change.my_chat_member is not None
    assert change.my_chat_member.new_chat_member.status == "member"
    assert (await bot.get_chat_member(group, ada)).status == "creator"
    assert (await bot.get_chat(group)).is_forum
    assert len(await bot.get_chat_administrators(group)) == 1


async def test_a_missing_or_changed_answered_message_is_an_error(server: TelegramServer, bot: Bot) -> None:
    ada = server.town.add_user("Ada")
    group = server.town.add_group(owner=ada)
    post = server.town.say(ada, group, "They should all go.")
    reply = ReplyParameters(message_id=post["message_id"], quote="all go")
    bare = LinkPreviewOptions(is_disabled=True)
    sent = await bot.send_message(group, "Who?", reply_parameters=reply, link_preview_options=bare)
    assert sent.quote is not None
    assert sent.quote.text == "all go"
    server.town.edit(post, "They should stay.")
    with pytest.raises(TelegramBadRequest, match="QUOTE_TEXT_INVALID"):
        await bot.send_message(group, "Who?", reply_parameters=reply)
    server.town.delete(post)
    with pytest.raises(TelegramBadRequest, match="message to be replied not found"):
        await bot.send_message(group, "Who?", reply_parameters=reply)


async def test_each_error_is_the_one_that_it_knows(server: TelegramServer, bot: Bot) -> None:
    ada = server.town.add_user("Ada")
    with pytest.raises(TelegramForbiddenError):
        await bot.send_message(ada, "x")
    server.town.start(ada)
    server.fault("sendMessage", "429", retry_after=3)
    with pytest.raises(TelegramRetryAfter) as busy:
        await bot.send_message(ada, "x")
    assert busy.value.retry_after == 3
    server.fault("sendMessage", "5xx after")
    with pytest.raises(TelegramServerError):
        await bot.send_message(ada, "arrived")
    server.fault("getUpdates", "409")
    with pytest.raises(TelegramConflictError):
        await bot.get_updates()
    server.fault("sendMessage", "lose reply")
    with pytest.raises(TelegramNetworkError):
        await bot.send_message(ada, "arrived, too")
    sent = await bot.send_message(ada, "same")
    with pytest.raises(TelegramBadRequest, match="message is not modified"):
        await sent.edit_text("same")
    group = server.town.add_group(owner=ada, kind="group")
    new = server.town.migrate(group)
    with pytest.raises(TelegramMigrateToChat) as moved:
        await bot.send_message(group, "x")
    assert moved.value.migrate_to_chat_id == new
    assert [message["text"] for message in server.town.of_bot(ada)] == ["arrived", "arrived, too", "same"]


async def test_ephemeral_messages_are_as_it_knows_them(server: TelegramServer, bot: Bot) -> None:
    commands = [BotCommand(command="counter", description="Flag a post", is_ephemeral=True)]
    await bot.set_my_commands(commands, BotCommandScopeAllGroupChats())
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
        ephemeral_message_parameters=EphemeralMessageParameters(receiver_user_id=ada),
        reply_parameters=ReplyParameters(ephemeral_message_id=flag.ephemeral_message_id),
    )
    assert (sent.message_id, sent.ephemeral_message_id) == (0, 2)
    assert await bot.edit_ephemeral_message_text(
        chat_id=group, receiver_user_id=ada, ephemeral_message_id=2, text="Gone."
    )
    assert await bot.delete_ephemeral_message(chat_id=group, receiver_user_id=ada, ephemeral_message_id=2)
    assert server.town.of_bot(group) == []


async def test_a_file_and_a_draft_arrive(server: TelegramServer, bot: Bot) -> None:
    ada = server.town.add_user("Ada")
    server.town.start(ada)
    sent = await bot.send_document(ada, BufferedInputFile(b"a,b\n", "stats.csv"), caption="Here")
    assert sent.document is not None
    assert (sent.document.file_name, server.state.files[sent.document.file_id]) == ("stats.csv", b"a,b\n")
    assert await bot.send_message_draft(ada, 1, text="They")
    assert [draft["text"] for draft in server.state.drafts] == ["They"]
