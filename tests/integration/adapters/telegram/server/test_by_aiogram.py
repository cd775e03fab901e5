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
