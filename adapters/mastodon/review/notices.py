"""Notices on Mastodon: direct statuses to those who are called, or to one person.

Owns whom such a status is for: of those whom a community calls, only who has a reviewer's role. None holds a word of a
post.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from adapters.common.words.notices import notice_text
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, is_gone, of_question
from adapters.mastodon.review.layout import NO_CASE
from adapters.mastodon.review.people import ReviewPeople
from adapters.mastodon.speech.markup import reader_of
from adapters.mastodon.speech.private import Addressee, PrivateWords, Words, addressee_of, markup_of
from core.errors import AmbiguousSend, PlatformUnavailable
from core.i18n.sentences import sentence
from core.moderation.community.notices import Notice

_SAME_SECONDS: Final = 120.0
_MOST_KEPT: Final = 1000


class MastodonNotifier:
    """A ``core.moderation.platforms.Notifier`` over a client.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(self, client: MastodonClient, *, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._words = PrivateWords(client)
        self._people = ReviewPeople(client, seconds_now=seconds_now)
        self._seconds_now = seconds_now
        self._said: OrderedDict[str, float] = OrderedDict()
        """What was said lately, or may have been, since not every instance knows keys."""

    async def call(self, notice: Notice, role: str) -> None:
        """Say it below the card, to the accounts that the role names."""
        if not self._is_said(notice.key):
            to = await self._people.readers(notice.community, role)
            await self._say(notice, to, answers=notice.card.message)

    async def tell(self, notice: Notice, user: str) -> None:
        """Tell one person."""
        if not self._is_said(notice.key):
            await self._say(notice, [await self._account(user)], answers=None)

    async def _account(self, user: str) -> Addressee:
        try:
            return addressee_of(await self._client.call(lambda api: api.account(user)))
        except FAULTS as err:
            if is_gone(err) or not user.isalnum():
                raise PlatformUnavailable(
                    sentence("The instance does not know this person."), remedy=sentence("Tell them yourself.")
                ) from err
            raise of_question(err) from err

    async def _say(self, notice: Notice, to: Sequence[Addressee], *, answers: str | None) -> None:
        reader = reader_of(markup_of(self._client), notice.language or "en")
        words = Words(NO_CASE, (notice_text(notice, reader),), language=reader.locale)
        try:
            await self._words.write(to, words, f"notice {notice.key}", answers=answers)
        except AmbiguousSend:
            self._keep(notice.key)
            raise
        self._keep(notice.key)

    def _is_said(self, key: str) -> bool:
        return self._seconds_now() < self._said.get(key, 0.0)

    def _keep(self, key: str) -> None:
        self._said[key] = self._seconds_now() + _SAME_SECONDS
        if len(self._said) > _MOST_KEPT:
            self._said.popitem(last=False)
