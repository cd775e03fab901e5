"""Edits and deletions of posts that have an open case: the instance is asked for them, since it tells nobody.

Owns how often and for how many is asked: in every look a part of them, all in turn. Mastodon lets an account ask 300
times in five minutes (docs.joinmastodon.org/api/rate-limits), of which this takes a sixth.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from mastodon.return_types import Status

from adapters.common.desk import DeskAccess
from adapters.common.words.errors import log_failure
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.refs import NAME, revision_of
from adapters.mastodon.connection.statuses import AT_ONCE, Statuses
from adapters.mastodon.speech.plain_text import words_of
from core.errors import Unavailable
from core.models import PostRef

_LOG = logging.getLogger(__name__)
LOOK_SECONDS: Final = 60.0
MOST_FOLLOWED: Final = 1000
_MOST_QUESTIONS: Final = 10
"""In one look."""
_GONE: Final = "gone"


class Originals:
    """Follows the posts of open cases.

    Args:
        look_seconds: how long after one look the next begins.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: MastodonClient,
        statuses: Statuses,
        *,
        look_seconds: float = LOOK_SECONDS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._statuses = client, statuses
        self._look_seconds, self._sleep = look_seconds, sleep
        self._told: dict[PostRef, str] = {}
        """What the desk knows, by the revision of each post."""
        self._next = 0
        self._questions = 0

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                await self.look()
            except Unavailable as err:
                _LOG.warning("Edits and deletions on Mastodon could not be looked for: %s", err.message)
            except Exception as err:
                log_failure("looking for edits and deletions on Mastodon", err)
            await self._sleep(self._look_seconds)

    async def look(self) -> None:
        """Look at as many posts as one look takes, and go on behind them the next time.

        Raises:
            Unavailable: the instance or the database does not answer.
        """
        refs = await self._followed()
        self._told = {ref: told for ref, told in self._told.items() if ref in refs}
        self._questions = 0
        left = refs[self._next % max(1, len(refs)) :] + refs[: self._next % max(1, len(refs))]
        while left and self._questions < _MOST_QUESTIONS:
            now, left = left[:AT_ONCE], left[AT_ONCE:]
            self._next += await self._compare(now)

    async def _followed(self) -> list[PostRef]:
        found = await self._client.desk.casework.posts(NAME, MOST_FOLLOWED)
        return [ref for ref in found if ref.community == self._client.home and ref.message.isalnum()]

    async def _compare(self, refs: Sequence[PostRef]) -> int:
        """Tell the desk what some posts say now; returns for how many of them that is known."""
        self._questions += 1
        found = await self._statuses.many([ref.message for ref in refs])
        for count, ref in enumerate(refs):
            status = None if found is None else found.get(ref.message)
            if status is None:  # a status that is left out of many may still be there
                if self._questions >= _MOST_QUESTIONS:
                    return count
                self._questions += 1
                status = await self._statuses.one(ref.message)
            await self._tell(self._client.desk, ref, status)
        return len(refs)

    async def _tell(self, desk: DeskAccess, ref: PostRef, status: Status | None) -> None:
        revision = _GONE if status is None else revision_of(status)
        if self._told.get(ref) == revision:
            return
        if status is None:
            await desk.casework.original_changed(ref, None)
        else:
            await desk.casework.original_changed(ref, words_of(status).compared, revision=revision)
        self._told[ref] = revision
