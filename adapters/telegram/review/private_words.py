"""What one person is told in a review chat: a notice of the app's own, an ephemeral message, or an open answer.

Everybody who can read along must be a moderator: a server that offers no ephemeral messages shows the answer to all of
the chat. A press is answered last: until a message is known to be sent, the notice over the chat is kept to say that
none could be.
"""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from telegram import ForceReply, InlineKeyboardMarkup, InputFile, LinkPreviewOptions, ReplyParameters
from telegram.constants import ParseMode
from telegram.error import BadRequest, RetryAfter

from adapters.common.words.excerpts import shortened
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS, is_unchanged
from adapters.telegram.connection.limiter import seconds_of
from adapters.telegram.review.layout import HtmlMessage
from adapters.telegram.review.refusals import chat_full
from adapters.telegram.speech.markup import BREAK, MARKUP
from core.errors import PlatformBusy

_LOG = logging.getLogger(__name__)
NO_PREVIEW: Final = LinkPreviewOptions(is_disabled=True)
_NOTICE: Final = 200
"""The longest text that Telegram shows of itself over a chat, in characters."""
_TAG: Final = re.compile(r"<[^<>]*>")
_MARKED: Final = ("<tg-time", "<a ", "<pre", "<tg-spoiler")
"""What a notice cannot show."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a person pressed or wrote something.

    Attributes:
        chat: the chat, and ``topic`` its topic, or ``None``.
        message: the number of the pressed or written message; 0 for an ephemeral one.
        whisper: the number of an ephemeral message among such; ``None`` for one that all see.
        query: the press, which must be answered; ``None`` for something written.
        is_group: whether others are in the chat.
        person: who it was, and ``name`` what they call themselves.
    """

    chat: int
    topic: int | None
    message: int
    whisper: int | None
    query: str | None
    is_group: bool
    person: int
    name: str


@dataclass(slots=True)
class EphemeralSupport:
    """Whether the server offers ephemeral messages: one that does not know them sends an open message instead."""

    is_offered: bool = True


class PrivateWords:
    """The answers to one press, or to one message.

    Args:
        whispering: shared by all answers of a client, so that one open message shows what the server offers.
    """

    def __init__(self, client: TelegramClient, spot: Spot, whispering: EphemeralSupport) -> None:
        self.spot = spot
        self.refused: PlatformBusy | None = None
        """Why a message could not be sent, where Telegram asked to wait."""
        self._client = client
        self._whispering = whispering
        self._has_settled = spot.query is None
        self._has_written = False

    async def settle(self) -> None:
        """Let the pressed button wait no longer; once."""
        await self._settle()

    async def notice(self, text: str, *, is_alert: bool) -> bool:
        """Show a sentence over the chat, to this person alone; whether that could be done.

        Below a message that was sent for the same press it is not shown so: what belongs to it stands beside it.

        Args:
            text: marked up; it cannot have more than a notice shows.
            is_alert: whether it stays until the person closes it.
        """
        plain = html.unescape(_TAG.sub("", text)).replace(BREAK, "")
        is_below = self._has_written and self.refused is None
        if self._has_settled or is_below or len(plain) > _NOTICE or any(tag in text for tag in _MARKED):
            return False
        return await self._settle(plain, is_alert=is_alert)

    async def warn(self, text: str) -> bool:
        """Say it over the chat, cut to what a notice shows, and nowhere else; whether that could be done."""
        plain = html.unescape(_TAG.sub("", text)).replace(BREAK, "")
        return await self._settle(shortened(plain, _NOTICE), is_alert=True)

    async def _settle(self, text: str | None = None, *, is_alert: bool = False) -> bool:
        if self._has_settled or self.spot.query is None:
            return False
        self._has_settled = True
        try:
            await self._client.bot.answer_callback_query(self.spot.query, text=text, show_alert=is_alert)
        except FAULTS as err:  # too late, or the line is down: what is to be said is said in a message
            _LOG.info("A press could not be answered: %s", type(err).__name__)
            return False
        return True

    async def write(self, written: HtmlMessage) -> None:
        """Send a message: ephemerally as the answer to a press, else openly, below what is answered.

        Raises:
            PlatformBusy: Telegram asks to wait; a press can still be answered by a notice that says so.
            TelegramError: it was not sent, or nobody knows.
        """
        with self._refusals():
            await self._write(written)

    async def ask(self, written: HtmlMessage, forced: ForceReply) -> None:
        """Send a message that this person answers: openly, since an ephemeral one cannot be. Raises as ``write``."""
        with self._refusals():
            await self._send(written, None, self._answered, forced)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Translate that Telegram asks to wait, and remember it."""
        try:
            yield
        except RetryAfter as err:
            self.refused = chat_full(seconds_of(err))
            raise self.refused from err
        self._has_written = True

    async def _write(self, written: HtmlMessage) -> None:
        spot = self.spot
        if spot.is_group and spot.query is not None and self._whispering.is_offered:
            only_for = {"receiver_user_id": spot.person, "callback_query_id": spot.query}
            try:
                number = await self._send(written, {"ephemeral_message_parameters": only_for}, None)
            except BadRequest as err:  # not offered here, or too late
                _LOG.info("An answer could not be ephemeral: %s", type(err).__name__)
            else:
                self._whispering.is_offered = number == 0
                return
        if spot.is_group:
            written = replace(written, text=f"{MARKUP.small(MARKUP.inert(spot.name, 40))}\n{written.text}")
        await self._send(written, None, self._answered)

    @property
    def _answered(self) -> ReplyParameters | None:
        """What a message that all see stands below."""
        spot = self.spot
        return ReplyParameters(spot.message, allow_sending_without_reply=True) if spot.message > 0 else None

    async def _send(
        self,
        written: HtmlMessage,
        added: dict[str, Any] | None,
        answered: ReplyParameters | None,
        markup: InlineKeyboardMarkup | ForceReply | None = None,
    ) -> int:
        """Send it, with its own keyboard if no other is given; the number of the message, 0 for an ephemeral one."""
        bot, spot = self._client.bot, self.spot
        for file in written.files:
            await bot.send_document(
                spot.chat,
                InputFile(file.text.encode("utf-8", "replace"), file.name),
                message_thread_id=spot.topic,
                disable_content_type_detection=True,
                reply_parameters=answered,
                api_kwargs=added,
            )
        sent = await bot.send_message(
            spot.chat,
            written.text,
            ParseMode.HTML,
            message_thread_id=spot.topic,
            link_preview_options=NO_PREVIEW,
            reply_parameters=answered,
            reply_markup=markup or written.keyboard,
            api_kwargs=added,
        )
        return sent.message_id

    async def replace(self, written: HtmlMessage) -> None:
        """Put a message in place of the pressed answer; below it where that is gone. Raises as ``write``."""
        with self._refusals():
            try:
                await self._change(written)
            except BadRequest as err:
                if not is_unchanged(err):
                    await self._write(written)

    async def _change(self, written: HtmlMessage) -> None:
        spot = self.spot
        if spot.whisper is not None:
            await self._client.call(
                "editEphemeralMessageText",
                chat_id=spot.chat,
                receiver_user_id=spot.person,
                ephemeral_message_id=spot.whisper,
                text=written.text,
                parse_mode=ParseMode.HTML,
                link_preview_options=NO_PREVIEW,
                reply_markup=written.keyboard,
            )
        else:
            await self._client.bot.edit_message_text(
                written.text,
                spot.chat,
                spot.message,
                parse_mode=ParseMode.HTML,
                link_preview_options=NO_PREVIEW,
                reply_markup=written.keyboard,
            )

    async def tell_alone(self, text: str) -> None:
        """Say a sentence without a word of a case in this person's private chat, if they ever opened one."""
        try:
            await self._client.bot.send_message(self.spot.person, text, link_preview_options=NO_PREVIEW)
        except FAULTS as err:
            _LOG.warning("Who wrote something could not be told to wait: %s", type(err).__name__)
