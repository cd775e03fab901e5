"""What one person in a group wrote for Antiphon alone, and answers that only the person who asked can see.

Answers, errors included, are given ephemerally in the group where the person asked so, else in the person's private
chat with the bot. An answer that cannot be private is not given.
"""

from __future__ import annotations

import asyncio
import html
import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import telegram
from telegram import LinkPreviewOptions
from telegram.constants import ParseMode
from telegram.error import BadRequest, Forbidden

from adapters.common.words.excerpts import shortened
from adapters.common.words.markup import Reader
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS, is_message_gone, is_unchanged
from adapters.telegram.connection.refs import topic_of
from adapters.telegram.speech.markup import MAX_CHARACTERS, reader_of
from core.i18n.catalogs import gettext

_LOG = logging.getLogger(__name__)
_WHISPERED_WITHIN: Final = timedelta(seconds=15)
"""How long after an ephemeral command Telegram takes an ephemeral answer to it."""
_FOLLOWED: Final = timedelta(minutes=14)
"""How long an answer is changed; Telegram does not say how long an ephemeral message stays."""
_PAUSES_SECONDS: Final = (1.0, 5.0, 25.0)
_NO_PREVIEW: Final = LinkPreviewOptions(is_disabled=True)
_MOST_REMEMBERED: Final = 1000


@dataclass(frozen=True, slots=True)
class EphemeralCommand:
    """An ephemeral command: its number among the ephemeral messages of a chat, which Telegram gives again later.

    Such a message has the number 0 among the chat's messages, so nothing can be named by that.
    """

    chat: int
    number: int
    topic: int | None
    written_at: datetime


def ephemeral_command_of(message: telegram.Message, raw: dict[str, Any]) -> EphemeralCommand | None:
    """What an ephemeral command is to be answered by; ``None`` for a message that others see.

    Args:
        raw: the message as Telegram sent it; the library does not know ephemeral messages.
    """
    number = raw.get("ephemeral_message_id")
    if not isinstance(number, int) or number <= 0:
        return None
    return EphemeralCommand(message.chat.id, number, topic_of(message), message.date)


def is_ephemeral(message: telegram.Message) -> bool:
    """Whether a message has no number of its own, so that it cannot be named, answered or deleted like others."""
    return message.message_id <= 0 or "ephemeral_message_id" in message.api_kwargs


class TelegramAnswer:
    """A ``PrivateAnswer`` of ``adapters.common.capture.requests``. What Telegram refuses is logged and raises nothing.

    Args:
        to: the person's id; ``None`` where Telegram hides who asked, so that nobody is answered.
        asked_at: when they asked.
        command: their command, where it was ephemeral.
        shown: a message of ours in their private chat that the answer takes the place of.
    """

    review_channel = ""
    """Always "": a private group has no address that its members could be shown."""
    limit = MAX_CHARACTERS // 2
    """In characters, each of which has at most two of the units that Telegram counts."""

    def __init__(
        self,
        client: TelegramClient,
        to: int | None,
        locale: str,
        asked_at: datetime,
        *,
        command: EphemeralCommand | None = None,
        shown: int | None = None,
    ) -> None:
        self.reader: Reader = reader_of(locale)
        self.preface = ""
        """A line of ours above whatever is said."""
        self._client = client
        self._to = to
        self.asked_at = asked_at
        self._command = command
        self._shown = shown
        self._whisper: int | None = None

    @property
    def until(self) -> datetime:
        """Fourteen minutes after they asked."""
        return self.asked_at + _FOLLOWED

    @property
    def promise(self) -> str:
        return gettext(
            "The drafts appear here when they are ready, within 14 minutes. Only you see this.", self.reader.locale
        )

    def speak(self, locale: str) -> None:
        """Use this language from now on."""
        self.reader = reader_of(locale)

    async def acknowledge(self) -> None:
        """Say ephemerally that the command arrived, before anything is known of it; at most once."""
        if self._whisper is None and self._shown is None:
            await self._whisper_anew(gettext("One moment: Antiphon looks at the post.", self.reader.locale))

    async def give(self, text: str) -> None:
        """Say something, in the reader's markup; a second time it takes the place of the first."""
        text = self._prefaced(text)
        if self._whisper is not None and await self._change_whisper(text):
            return
        if self._shown is not None and await self._change_shown(text):
            return
        is_first = self._whisper is None and self._shown is None
        if not (is_first and await self._whisper_anew(text)):
            await self._write(text)

    async def change(self, text: str) -> None:
        await self.give(text)

    def _prefaced(self, text: str) -> str:
        return f"{self.preface}\n{text}" if self.preface else text

    async def tell(self, text: str) -> None:
        """Say a sentence in plain words, such as what went wrong."""
        await self.give(html.escape(shortened(text, self.limit)))

    async def _whisper_anew(self, text: str) -> bool:
        """Answer the command ephemerally; whether that was done, and nobody else can see it.

        The answer names the ephemeral command, so a server that does not know what an ephemeral answer is refuses it.
        """
        command = self._command if self._client.keeps_whispers else None
        if command is None or self._to is None or datetime.now(UTC) - command.written_at > _WHISPERED_WITHIN:
            return False
        try:
            sent = await self._client.bot.send_message(
                command.chat,
                text,
                parse_mode=ParseMode.HTML,
                link_preview_options=_NO_PREVIEW,
                message_thread_id=command.topic,
                api_kwargs={
                    "ephemeral_message_parameters": {"receiver_user_id": self._to},
                    "reply_parameters": {"ephemeral_message_id": command.number},
                },
            )
        except FAULTS as err:
            _LOG.warning("An ephemeral answer could not be given: %s.", type(err).__name__)
            return False
        number = sent.api_kwargs.get("ephemeral_message_id")
        if isinstance(number, int) and number > 0 and sent.message_id == 0:
            self._whisper = number
            return True
        await self._take_back(command.chat, sent.message_id)
        return False

    async def _take_back(self, chat: int, message: int) -> None:
        """Delete what Telegram shows to everybody after all."""
        self._client.keeps_whispers = False
        _LOG.error("Telegram showed an ephemeral answer to a whole group; it is deleted, and no other is tried.")
        try:
            await self._client.bot.delete_message(chat, message)
        except FAULTS as err:
            _LOG.error("It could not be deleted (%s): delete it by hand.", type(err).__name__)

    async def _change_whisper(self, text: str) -> bool:
        command = self._command
        if command is None:
            return False
        return await self._changed(
            "editEphemeralMessageText",
            chat_id=command.chat,
            receiver_user_id=self._to,
            ephemeral_message_id=self._whisper,
            text=text,
        )

    async def _change_shown(self, text: str) -> bool:
        return await self._changed("editMessageText", chat_id=self._to, message_id=self._shown, text=text)

    async def _changed(self, method: str, **fields: Any) -> bool:
        """Change an answer; a lost connection is waited for. Whether it shows the new text, or may show it."""
        for pause_seconds in (*_PAUSES_SECONDS, None):
            try:
                await self._edit(method, fields)
            except (BadRequest, Forbidden) as err:
                if not is_unchanged(err) and not is_message_gone(err):
                    _LOG.warning("An answer could not be changed: %s.", type(err).__name__)
                return is_unchanged(err)
            except FAULTS as err:
                if pause_seconds is None:
                    _LOG.warning("An answer could not be changed: %s.", type(err).__name__)
                    return True
                await asyncio.sleep(pause_seconds)
            else:
                return True
        return True

    async def _edit(self, method: str, fields: dict[str, Any]) -> None:
        if method == "editMessageText":
            await self._client.bot.edit_message_text(
                **fields, parse_mode=ParseMode.HTML, link_preview_options=_NO_PREVIEW
            )
        else:
            preview = {"is_disabled": True}
            await self._client.call(method, **fields, parse_mode=ParseMode.HTML, link_preview_options=preview)

    async def _write(self, text: str) -> bool:
        """Write into the person's private chat, if they ever opened one; whether that is known to be done."""
        if self._to is None:
            return False
        try:
            sent = await self._client.bot.send_message(
                self._to, text, parse_mode=ParseMode.HTML, link_preview_options=_NO_PREVIEW
            )
        except FAULTS as err:
            _LOG.info("Who asked could not be told in private: %s.", type(err).__name__)
            return False
        self._shown = sent.message_id
        return True


class Answers:
    """The answers to updates that are not dealt with yet, by the number of the update: it may be handled again."""

    def __init__(self) -> None:
        self._open: OrderedDict[int, TelegramAnswer] = OrderedDict()

    def of(self, update_id: int, made: TelegramAnswer) -> TelegramAnswer:
        """The answer of an update that came before, or this new one."""
        answer = self._open.setdefault(update_id, made)
        if len(self._open) > _MOST_REMEMBERED:
            self._open.popitem(last=False)
        return answer

    def done(self, update_id: int) -> None:
        """Forget the answer of an update."""
        self._open.pop(update_id, None)
