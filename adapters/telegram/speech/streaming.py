"""A text that is still being made, streamed into a private chat (``sendMessageDraft``) until a message takes its place.

Owns how often Telegram is asked to show it. Must never stream into a group; nothing that was streamed counts as said.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from telegram.constants import ParseMode
from telegram.error import BadRequest, EndPointNotFound, Forbidden, InvalidToken

from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS

_LOG = logging.getLogger(__name__)
_SHORTEST_PAUSE_SECONDS: Final = 1.0
_KEPT_SECONDS: Final = 20.0
"""After which a text that did not change is streamed again: Telegram shows one for 30 seconds."""
_NOT_OFFERED: Final = (BadRequest, EndPointNotFound, Forbidden, InvalidToken)
"""How Telegram refuses for good. A server that does not know the method answers as if the token were wrong."""


class StreamedText:
    """One text in one private chat, each time as far as it is.

    Args:
        chat: the person's id, which is that of their private chat.
        number: names the text in this chat; not 0.
        seconds_now: seconds that only grow.

    Raises:
        ValueError: ``chat`` is a group or a channel, or ``number`` is 0.
    """

    def __init__(
        self, client: TelegramClient, chat: int, number: int, *, seconds_now: Callable[[], float] = time.monotonic
    ) -> None:
        if chat <= 0 or number == 0:
            raise ValueError("A text is streamed into a private chat, under a number.")
        self.was_seen = False
        """Whether Telegram took any of it."""
        self._client, self._chat, self._number = client, chat, number
        self._seconds_now = seconds_now
        self._is_offered = True
        self._shown = ""
        self._shown_at = float("-inf")

    async def show(self, text: str) -> bool:
        """Show the text as it is now, in Telegram's HTML; whether a further one may be shown.

        One that comes too soon after another, or that is lost on the way, is left out.
        """
        age = self._seconds_now() - self._shown_at
        if not self._is_offered or age < (_KEPT_SECONDS if text == self._shown else _SHORTEST_PAUSE_SECONDS):
            return self._is_offered
        self._shown_at = self._seconds_now()
        try:
            await self._client.bot.send_message_draft(self._chat, self._number, text, parse_mode=ParseMode.HTML)
        except _NOT_OFFERED as err:
            _LOG.info("Drafts are not streamed into a private chat: %s.", type(err).__name__)
            self._is_offered = False
        except FAULTS as err:
            _LOG.info("A draft was not streamed: %s.", type(err).__name__)
        else:
            self._shown, self.was_seen = text, True
        return self._is_offered
