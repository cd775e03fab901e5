"""One person's private chat with the bot: where panels, reports and refusals are shown, and nowhere else."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from telegram import ForceReply, LinkPreviewOptions, User
from telegram.constants import ParseMode
from telegram.error import TelegramError

from adapters.common.words.errors import explain, log_failure, unforeseen
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS, is_message_gone, is_unchanged, of_question
from adapters.telegram.manage.messages import PanelMessage
from adapters.telegram.speech.markup import MARKUP, reader_language
from core.errors import AntiphonError

_LOG = logging.getLogger(__name__)
_ERROR: Final = 2000
_NO_PREVIEW: Final = LinkPreviewOptions(is_disabled=True)


@dataclass(frozen=True, slots=True)
class PrivateChat:
    """The chat; ``shown`` is the message whose button was pressed, ``None`` where a new one is written."""

    client: TelegramClient
    user: User
    shown: int | None = None

    @property
    def locale(self) -> str:
        """The language of the person's app, before a community is known."""
        return reader_language(self.user.language_code, None)

    async def put(self, message: PanelMessage) -> None:
        """Show a message in place of the one whose button was pressed, or as a new one."""
        if self.shown is not None and await self._changed(message):
            return
        await self.client.bot.send_message(
            self.user.id,
            message.text,
            ParseMode.HTML,
            link_preview_options=_NO_PREVIEW,
            reply_markup=message.keyboard,
        )

    async def ask(self, message: PanelMessage) -> None:
        """Ask a question that the person's app answers."""
        await self.client.bot.send_message(
            self.user.id, message.text, ParseMode.HTML, link_preview_options=_NO_PREVIEW, reply_markup=ForceReply()
        )

    async def send(self, data: bytes, name: str, words: str) -> None:
        await self.client.bot.send_document(self.user.id, data, filename=name, caption=words)

    async def refuse(self, err: BaseException) -> None:
        """Say what went wrong, in a message of its own; a person who closed the chat is told nothing."""
        if isinstance(err, TelegramError):
            err = of_question(err)
        if isinstance(err, AntiphonError):
            text = MARKUP.inert(explain(err, self.locale, _ERROR))
        else:
            log_failure("a panel on Telegram", err)
            text = unforeseen(self.locale)
        try:
            await PrivateChat(self.client, self.user).put(PanelMessage(text))
        except FAULTS as fault:
            _LOG.info("A person could not be told in private: %s.", type(fault).__name__)

    async def _changed(self, message: PanelMessage) -> bool:
        """Change the message; ``False`` if it is gone."""
        try:
            await self.client.bot.edit_message_text(
                message.text,
                self.user.id,
                self.shown,
                parse_mode=ParseMode.HTML,
                link_preview_options=_NO_PREVIEW,
                reply_markup=message.keyboard,
            )
        except FAULTS as err:
            if is_message_gone(err):
                return False
            if not is_unchanged(err):
                raise
        return True
