"""``/counter`` in a group, as an answer to the post; visible to the group or, where Telegram offers it, ephemeral.

A visible command is deleted first, where Antiphon may, since it tells who flags. A person is answered in the group only
ephemerally. Telegram hands over the answered message with the command, words included, also in privacy mode.
"""

from __future__ import annotations

import re
from typing import Final

import telegram
from telegram import MessageEntity

from adapters.common.capture.requests import run_request
from adapters.common.capture.wishes import COMMAND, COMMAND_NAMES, wish_in
from adapters.common.words.labels import language_for
from adapters.telegram.capture.flaggers import DraftWish, Flaggers, person_of
from adapters.telegram.capture.posts import is_group
from adapters.telegram.capture.recent_messages import answered_by
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS
from adapters.telegram.connection.refs import NAME
from adapters.telegram.speech.private_answers import Answers, TelegramAnswer, ephemeral_command_of, is_ephemeral
from core.desk.rules.roles import Person
from core.errors import BadInput
from core.i18n.catalogs import gettext
from core.models import MessageWords, Part, PartKind

_FORM: Final = re.compile(
    rf"/(?:{'|'.join(sorted(COMMAND_NAMES))})(?:@(?P<bot>\w+))?(?:\s+(?P<words>.*))?", re.IGNORECASE | re.DOTALL
)


def command_words(message: telegram.Message, own_name: str) -> str | None:
    """The words behind the command; ``None`` for any other message, and for another bot's command.

    Args:
        own_name: our account's name, without the @.
    """
    is_command = any(entity.type == MessageEntity.BOT_COMMAND and entity.offset == 0 for entity in message.entities)
    match = _FORM.fullmatch(message.text or "") if is_command else None
    if match is None or (match["bot"] or own_name).lower() != own_name.lower():
        return None
    return (match["words"] or "").strip()


def answer_to(client: TelegramClient, heard: UpdateEvent, message: telegram.Message) -> TelegramAnswer:
    """Where who sent a message is answered; nobody is where they hide behind the group, or a channel."""
    user = None if message.sender_chat is not None else message.from_user
    return TelegramAnswer(
        client,
        None if user is None or user.is_bot else user.id,
        language_for(None if user is None else user.language_code, None),
        message.date,
        command=ephemeral_command_of(message, heard.raw["message"]),
    )


class CounterCommand:
    """Hears the command in groups."""

    def __init__(self, client: TelegramClient, flaggers: Flaggers) -> None:
        self._client = client
        self._flaggers = flaggers
        self._answers = Answers()

    async def hear(self, heard: UpdateEvent) -> bool:
        """Flag the message that the command answers, or the words behind it; raises as ``Flaggers.about_message``."""
        message = heard.update.message
        if message is None or not is_group(message.chat):
            return False
        words = command_words(message, self._client.bot.username)
        if words is None:
            return False
        answer = self._answers.of(heard.update.update_id, answer_to(self._client, heard, message))
        if is_ephemeral(message):
            await answer.acknowledge()
        else:
            await self._delete(message)
        asker = _asker(message)
        if asker is not None:
            await self._take_in(heard, message, words, asker, answer)
        self._answers.done(heard.update.update_id)
        return True

    async def _take_in(
        self, heard: UpdateEvent, message: telegram.Message, words: str, by: Person, answer: TelegramAnswer
    ) -> None:
        locale = (message.from_user.language_code if message.from_user is not None else None) or ""
        post = answered_by(message)
        if post is not None:
            request = DraftWish(by, f"/{COMMAND}", answer, locale, wish_in(words), heard.is_late)
            await self._flaggers.about_message(request, post)
        elif words and by.user:
            request = DraftWish(by, "words from elsewhere", answer, locale, is_late=heard.is_late)
            typed = MessageWords.of([Part(PartKind.OWN, words)])
            await self._flaggers.about_words(request, message.chat, typed, f"words-{heard.update.update_id}")
        else:
            await run_request(answer, _refused(answer))

    async def _delete(self, command: telegram.Message) -> None:
        """Take a command out of sight; without the right to delete messages it stays."""
        try:
            await self._client.bot.delete_message(command.chat.id, command.message_id)
        except FAULTS:
            return


async def _refused(answer: TelegramAnswer) -> None:
    locale = answer.reader.locale
    raise BadInput(
        gettext("Telegram does not say which post you mean.", locale),
        remedy=gettext(
            "Answer the post with /counter, forward it to Antiphon in a private chat, or type its words behind "
            "/counter.",
            locale,
        ),
    )


def _asker(message: telegram.Message) -> Person | None:
    """Who gave a command: a person, nobody by name for an administrator behind the group, ``None`` for all others."""
    if message.sender_chat is not None:
        return Person(NAME, "") if message.sender_chat.id == message.chat.id else None
    user = message.from_user
    return None if user is None or user.is_bot else person_of(user)
