"""Posts that somebody forwards to Antiphon in their private chat with it, and words that they type behind ``/counter``.

Telegram says who wrote a forwarded post and when, but not where. A message that was heard lately in a group is
recognised; any other is taken as words from elsewhere, to which nothing can be posted. Other messages of a private chat
are not looked at.
"""

from __future__ import annotations

from typing import Final

import telegram
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters
from telegram.constants import ChatType

from adapters.common.capture.requests import answered
from adapters.common.words.languages import language_for
from adapters.common.words.messages import no_words, type_it
from adapters.telegram.capture.commands import answer_to, command_words
from adapters.telegram.capture.flaggers import DraftWish, Flaggers, KnownGroup, KnownGroups, person_of
from adapters.telegram.capture.posts import words_of
from adapters.telegram.capture.recent_messages import RecentMessages
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS, of_question
from adapters.telegram.speech.private_answers import TelegramAnswer
from core.errors import BadInput, NotAllowed
from core.i18n.catalogs import gettext
from core.models import MessageWords, Part, PartKind

CHOICE: Final = "from:"
"""Begins the data of a button that names a group."""
_MOST_BUTTONS: Final = 10
_LABEL: Final = 60
_FORWARDED, _ELSEWHERE = "forwarded", "words from elsewhere"


class PrivatePosts:
    """Hears what people send to their private chat with Antiphon."""

    def __init__(self, client: TelegramClient, flaggers: Flaggers, groups: KnownGroups, recent: RecentMessages) -> None:
        self._client = client
        self._flaggers = flaggers
        self._groups = groups
        self._recent = recent

    async def hear(self, heard: UpdateEvent) -> bool:
        """Flag a forwarded post, or the words behind the command; raises as ``Flaggers.about_message``."""
        message = heard.update.message
        user = None if message is None else message.from_user
        if message is None or user is None or message.chat.type != ChatType.PRIVATE:
            return False
        if self._typed(message) is None and message.forward_origin is None:
            return False
        answer = answer_to(self._client, heard, message)
        request = DraftWish(person_of(user), _ELSEWHERE, answer, user.language_code or "", is_late=heard.is_late)
        await answered(answer, self._take_in(request, message))
        return True

    async def choose(self, heard: UpdateEvent) -> bool:
        """Take the words of the message that a button stands below for the group that it names."""
        query = heard.update.callback_query
        if query is None or not (query.data or "").startswith(CHOICE):
            return False
        await self._stop_waiting(query)
        shown = query.message
        if not isinstance(shown, telegram.Message) or shown.chat.id != query.from_user.id:
            return True
        locale = query.from_user.language_code or ""
        answer = TelegramAnswer(
            self._client,
            query.from_user.id,
            language_for(locale, None),
            heard.received_at,
            shown=shown.message_id,
        )
        request = DraftWish(person_of(query.from_user), _ELSEWHERE, answer, locale, is_late=heard.is_late)
        await answered(answer, self._chosen(request, (query.data or "").removeprefix(CHOICE), shown.reply_to_message))
        return True

    async def _take_in(self, request: DraftWish, message: telegram.Message) -> None:
        words = self._words(message, request.answer.reader.locale)
        for post in self._recent.forwarded(message):
            if await self._flaggers.may_flag(post.chat.id, request.by):
                there = DraftWish(request.by, _FORWARDED, request.answer, request.locale, is_late=request.is_late)
                return await self._flaggers.about_message(there, post)
        groups = await self._groups.of(request.by)
        if not groups:
            raise _nowhere(request.answer.reader.locale)
        if len(groups) > 1:
            return await self._ask(request, message, groups[:_MOST_BUTTONS])
        return await self._as_words(request, groups[0], message, words)

    async def _chosen(self, request: DraftWish, chat: str, message: telegram.Message | None) -> None:
        title = await self._groups.title_of(int(chat)) if chat.removeprefix("-").isdecimal() else None
        if message is None or title is None:
            raise BadInput(
                gettext("The message with these words is gone.", request.answer.reader.locale),
                remedy=gettext("Forward the post again.", request.answer.reader.locale),
            )
        words = self._words(message, request.answer.reader.locale)
        await self._as_words(request, KnownGroup(int(chat), title), message, words)

    async def _as_words(
        self, request: DraftWish, group: KnownGroup, message: telegram.Message, words: MessageWords
    ) -> None:
        """Flag words for a group; two presses, or an update that is handled again, name the same words."""
        try:
            chat = await self._client.bot.get_chat(group.id)
        except FAULTS as err:
            raise of_question(err) from err
        number = f"words-{message.chat.id}-{message.message_id}"
        await self._flaggers.about_words(request, chat, words, number)

    async def _ask(self, request: DraftWish, message: telegram.Message, groups: list[KnownGroup]) -> None:
        """Ask which group the words are for, below the message with the words; in the private chat alone."""
        rows = [
            [InlineKeyboardButton(group.title[:_LABEL] or str(group.id), callback_data=f"{CHOICE}{group.id}")]
            for group in groups
        ]
        try:
            await self._client.bot.send_message(
                int(request.by.user),
                gettext("For which group should Antiphon draft a reply to this?", request.answer.reader.locale),
                reply_markup=InlineKeyboardMarkup(rows),
                reply_parameters=ReplyParameters(message.message_id, allow_sending_without_reply=False),
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
        except FAULTS as err:
            raise of_question(err) from err

    def _typed(self, message: telegram.Message) -> str | None:
        """The words behind the command, if somebody typed it: a forwarded command is words of somebody else."""
        if message.forward_origin is not None:
            return None
        return command_words(message, self._client.bot.username)

    def _words(self, message: telegram.Message, locale: str) -> MessageWords:
        typed = self._typed(message)
        words = words_of(message) if typed is None else MessageWords.of([Part(PartKind.OWN, typed)])
        if not words.text.strip():
            raise no_words(words, locale, type_it(locale))
        return words

    async def _stop_waiting(self, query: telegram.CallbackQuery) -> None:
        try:
            await self._client.bot.answer_callback_query(query.id)
        except FAULTS:  # it was pressed too long ago: nobody waits any more
            return


def _nowhere(locale: str) -> NotAllowed:
    return NotAllowed(
        gettext("Antiphon knows no group in which you may flag.", locale),
        remedy=gettext("Answer the post with /counter in its group, or ask a manager for the role volunteer.", locale),
    )
