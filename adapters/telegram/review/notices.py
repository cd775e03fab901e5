"""Notices on Telegram: moderators are called in the review chat, one person is told in their private chat.

A call to many mentions nobody, since Telegram has no roles and the message itself notifies all of the chat. A person
who cannot be written to is mentioned in the review chat. Nobody is named where people other than moderators read.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Final

from telegram import ReplyParameters
from telegram.constants import ParseMode
from telegram.error import BadRequest, Forbidden

from adapters.common.words.notices import notice_text
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS, of_send
from adapters.telegram.connection.limiter import PATIENT
from adapters.telegram.connection.refs import numbers_of
from adapters.telegram.review.places import ReviewPlaces
from adapters.telegram.review.private_words import NO_PREVIEW
from adapters.telegram.speech.markup import reader_of
from core.desk.rules.policy import Notice
from core.errors import AmbiguousSend, PlatformUnavailable
from core.i18n.catalogs import gettext
from core.i18n.sentences import sentence

_SAME_SECONDS: Final = 120.0
_MOST_KEPT: Final = 1000


class TelegramNotifier:
    """A ``core.desk.rules.platforms.Notifier`` over a client.

    Telegram knows no keys: that two calls for one ``Notice.key`` are one message is remembered by this process alone.
    """

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._places = ReviewPlaces(client)
        self._said: OrderedDict[str, float] = OrderedDict()

    async def call(self, notice: Notice, role: str) -> None:
        """Say it below the card, for everybody in the review chat; ``role`` names nobody on Telegram."""
        await self._below_the_card(notice, "")

    async def tell(self, notice: Notice, user: str) -> None:
        """Tell a person in their private chat; a reviewer who never opened one is mentioned below the card."""
        if not (user.isascii() and user.isdecimal()):
            raise PlatformUnavailable(
                sentence("Telegram does not know this person."), remedy=sentence("Tell them yourself.")
            )
        if self._is_said(notice.key):
            return
        try:
            where = "" if notice.outcome is not None else await self._title(notice.community)
            words = self._words(notice, where)
            await self._client.bot.send_message(int(user), words, ParseMode.HTML, link_preview_options=NO_PREVIEW)
        except (Forbidden, BadRequest):  # they never began a chat with the bot, or blocked it
            if notice.outcome is None:
                you = gettext("For you", notice.language)
                await self._below_the_card(notice, f'<a href="tg://user?id={user}">{you}</a>: ')
        except FAULTS as err:
            raise self._failed(notice, err) from err
        else:
            self._keep(notice.key)

    async def _below_the_card(self, notice: Notice, mention: str) -> None:
        if self._is_said(notice.key):
            return
        place = await self._places.require_closed(notice.community, notice.card.channel)
        try:
            await self._client.bot.send_message(
                place.chat,
                f"{mention}{self._words(notice)}",
                ParseMode.HTML,
                message_thread_id=place.topic,
                link_preview_options=NO_PREVIEW,
                reply_parameters=ReplyParameters(numbers_of(notice.card).message, allow_sending_without_reply=True),
                rate_limit_args=PATIENT,
            )
        except FAULTS as err:
            raise self._failed(notice, err) from err
        self._keep(notice.key)

    def _failed(self, notice: Notice, err: BaseException) -> Exception:
        meant = of_send(err)
        if isinstance(meant, AmbiguousSend):
            self._keep(notice.key)
        return meant

    def _is_said(self, key: str) -> bool:
        return time.monotonic() < self._said.get(key, 0.0)

    def _keep(self, key: str) -> None:
        self._said[key] = time.monotonic() + _SAME_SECONDS
        if len(self._said) > _MOST_KEPT:
            self._said.popitem(last=False)

    async def _title(self, community: str) -> str:
        return (await self._client.bot.get_chat(int(community))).title or ""

    def _words(self, notice: Notice, where: str = "") -> str:
        return notice_text(notice, reader_of(notice.language or "en"), where)
