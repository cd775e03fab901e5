"""Answers that only the person who wrote to us can see: one direct status, below what they wrote.

This is the only place that writes to people. It asks for the visibility ``direct`` alone, names only the person who is
answered, holds no word of a post, and takes back at once what an instance showed to others after all. What cannot be
said so is not said.

A word joiner behind the signs of mentions, hashtags, links and emoji, which nobody sees, ends each of them: it is none
of the characters that these may consist of (``MENTION_RE`` and ``HASHTAG_RE`` of Mastodon's app/models/account.rb and
tag.rb).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from typing import Final

from mastodon.return_types import Status

from adapters.common.words.excerpts import shortened
from adapters.common.words.markup import visible_lines
from adapters.mastodon.connection.client import MastodonClient, NotificationEvent
from adapters.mastodon.connection.error_meanings import FAULTS, is_gone, of_question, of_send
from core.errors import AntiphonError, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import sentence

_LOG = logging.getLogger(__name__)
DIRECT: Final = "direct"
BREAK: Final = "\u2060"
_ACCT: Final = re.compile(r"\w[\w.-]*(?:@[\w.-]*\w)?")
"""The name of an account, as its home instance writes it."""
_SIGN: Final = re.compile("(?<=[@#:*\uff20\uff03\uff1a])(?=\\S)")
"""Behind what begins or goes on whatever an instance makes something of."""
_PAUSES_SECONDS: Final = (1.0, 5.0)
"""How long is waited where the instance is busy, before what is said is given up."""
_LONGEST_PAUSE_SECONDS: Final = 30.0


class DirectAnswer:
    """The answer to one message. What is refused is logged, and raises nothing.

    Args:
        heard: what is answered.
        locale: the language to speak.
    """

    def __init__(self, client: MastodonClient, heard: NotificationEvent, locale: str) -> None:
        self._client, self._account, self._below = client, heard.status.account, str(heard.status.id)
        self._key = hashlib.sha256(f"answer {heard.number} {self._account.id}".encode()).hexdigest()[:32]
        self.locale = locale
        self.preface = ""
        """A line of ours above whatever is said."""

    @property
    def limit(self) -> int:
        """In characters, as the home instance takes them in one status."""
        return self._client.instance.max_characters - len(str(self._account.acct)) - len(self.preface) - 4

    async def tell(self, text: str) -> None:
        """Say something in plain words."""
        message = "\n\n".join(filter(None, [self.preface, shortened(inert(text), self.limit)]))
        try:
            for pause_seconds in _PAUSES_SECONDS:
                try:
                    return await self._say(message)
                except PlatformBusy as err:
                    await asyncio.sleep(max(pause_seconds, min(err.retry_after_seconds, _LONGEST_PAUSE_SECONDS)))
            await self._say(message)
        except AntiphonError as err:
            _LOG.warning("Who wrote to us on Mastodon could not be answered in private: %s", err.message)

    async def _say(self, text: str) -> None:
        name = str(self._account.acct)
        if not _ACCT.fullmatch(name):
            raise _not_private()
        try:
            answer = await self._client.call(
                lambda api: api.status_post(
                    f"@{name}\n{text}",
                    in_reply_to_id=self._below,
                    visibility=DIRECT,
                    sensitive=True,
                    language=self.locale,
                    idempotency_key=self._key,
                )
            )
        except FAULTS as err:
            raise of_send(err) from err
        if not isinstance(answer, Status):
            raise _not_private()
        if answer.visibility != DIRECT or {str(each.id) for each in answer.mentions} - {str(self._account.id)}:
            _LOG.error("An instance showed a direct status to others than it was for; it is deleted.")
            await self._take_back(str(answer.id))
            raise _not_private()

    async def _take_back(self, status_id: str) -> None:
        try:
            await self._client.call(lambda api: api.status_delete(status_id))
        except FAULTS as err:
            if not is_gone(err):
                raise of_question(err) from err


def inert(text: str) -> str:
    """A text of which an instance makes no mention, hashtag, link or emoji.

    Characters that turn the direction of what follows, or that nobody sees, are left out, and so are empty lines.
    """
    return _SIGN.sub(BREAK, "\n".join(visible_lines(text)))


def _not_private() -> PlatformUnavailable:
    """Something would have reached others, so it was not said."""
    return PlatformUnavailable(
        sentence("An answer could not be given to one person alone on Mastodon, and so was not given."),
        remedy=sentence("Tell the person who runs Antiphon."),
    )
