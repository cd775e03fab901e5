"""Answers that only the person who asked can see: one direct status, below what they wrote.

Owns that there is one: what is said later takes its place. What cannot be said so is not said.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Final

from adapters.common.words.fitting import shortened
from adapters.common.words.markup import Reader
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.listening import Heard
from adapters.mastodon.speech.markup import reader_of
from adapters.mastodon.speech.private import PrivateWords, Words, addressee_of, markup_of
from core.errors import AntiphonError, PlatformBusy
from core.i18n.catalogs import gettext

_LOG = logging.getLogger(__name__)
FOLLOWED: Final = timedelta(minutes=30)
"""How long an answer is changed; no instance limits it."""
_PAUSES_SECONDS: Final = (1.0, 5.0)
"""How long is waited where the instance is busy, before what is said is given up."""
_LONGEST_PAUSE_SECONDS: Final = 30.0
_LINKS: Final = 60
"""What is kept free, since an instance may count a short address for more characters than it has."""


class DirectAnswer:
    """Implements ``adapters.common.capture.answering.PlainAnswer``. What is refused is logged, and raises nothing.

    Args:
        heard: what is answered.
        locale: the language to speak.
        now: when it was taken up.
    """

    review_channel = ""
    """Always "": the review is a conversation, which has no address."""

    def __init__(self, client: MastodonClient, words: PrivateWords, heard: Heard, locale: str, now: datetime) -> None:
        self._client, self._words = client, words
        self._to = addressee_of(heard.status.account)
        self._below = str(heard.status.id)
        self._key = f"answer {heard.number}"
        self._written: str | None = None
        self._until = now + FOLLOWED
        self.preface = ""
        """A line of ours above whatever is said."""
        self.reader: Reader = reader_of(markup_of(client), locale)

    @property
    def limit(self) -> int:
        """In characters, as the home instance takes them in one status."""
        return self._words.room([self._to], "") - len(self.preface) - _LINKS

    @property
    def until(self) -> datetime:
        """Half an hour after it was taken up."""
        return self._until

    @property
    def promise(self) -> str:
        """Here, and for how long."""
        return gettext(
            "The drafts appear in this message when they are ready, within 30 minutes: open it again. Only you see it.",
            self.reader.locale,
        )

    async def give(self, text: str) -> None:
        """Say something, in the reader's markup; a second time it takes the place of the first."""
        blocks = tuple(block for block in (self.preface, text) if block)
        words = Words("", blocks, language=self.reader.locale)
        try:
            for pause_seconds in _PAUSES_SECONDS:
                try:
                    return await self._say(words)
                except PlatformBusy as err:
                    await asyncio.sleep(max(pause_seconds, min(err.retry_after_seconds, _LONGEST_PAUSE_SECONDS)))
            await self._say(words)
        except AntiphonError as err:
            _LOG.warning("Who asked on Mastodon could not be told in private: %s", err.message)

    async def _say(self, words: Words) -> None:
        if self._written is None:
            self._written, *_ = await self._words.write([self._to], words, self._key, answers=self._below)
        else:
            await self._words.change(self._written, [self._to], words)

    async def change(self, text: str) -> None:
        """Say something else in its place."""
        await self.give(text)

    async def tell(self, text: str) -> None:
        """Say a sentence in plain words, such as what went wrong."""
        await self.give(self.reader.markup.inert(shortened(text, self.limit)))
