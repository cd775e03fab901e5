"""The way of the drafts to the person who asked for them, in the answer that they are looking at.

While they wait only the desk is asked; the platform is asked once, for their rights, before drafts are shown. An answer
is changed once, and never after the time that the platform allows: drafts stay on the card in the review channel. The
waits are forgotten when the process ends. Whoever asks again for the same post then sees its drafts at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from adapters.common.capture.answers import is_decided
from adapters.common.desk import DeskAccess
from adapters.common.words.errors import log_failure
from core.desk.rules.case_cards import Card
from core.desk.rules.roles import Person
from core.errors import AntiphonError, Unavailable

_LOG = logging.getLogger(__name__)
MOST_FOLLOWED: Final = 200
_SHORTEST_PAUSE_SECONDS: Final = 2.0
_USUAL_PAUSE_SECONDS: Final = 8.0
_LONGEST_PAUSE_SECONDS: Final = 15.0

ShowTo: TypeAlias = Callable[[Card], Awaitable[None]]
"""Changes the answer of the person who asked."""


class Following:
    """The people who wait for drafts, at most ``MOST_FOLLOWED`` of them.

    Args:
        now: the time by the platform's clock, aware.
    """

    def __init__(self, desk: DeskAccess, now: Callable[[], datetime]) -> None:
        self._desk = desk
        self._now = now
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def has_room(self) -> bool:
        """Whether one more can be waited for."""
        return len(self._tasks) < MOST_FOLLOWED

    def follow(self, card: Card, by: Person, until: datetime, show: ShowTo) -> None:
        """Show the case once: when it has drafts, or else just before ``until``."""
        task = asyncio.create_task(self._follow(card, by, until, show))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop waiting."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self, card: Card, by: Person, until: datetime, show: ShowTo) -> None:
        try:
            await show(await self._card_in_the_end(card, by, until))
        except AntiphonError as err:
            _LOG.warning("The drafts of a case could not be shown to who asked: %s", err.message)
        except Exception as err:
            log_failure("showing the drafts to who asked", err)

    async def _card_in_the_end(self, card: Card, by: Person, until: datetime) -> Card:
        """The case once it is decided, or as it is at the end of the wait."""
        casework = self._desk.casework
        while self._now() + timedelta(seconds=(pause := _pause_seconds(card))) < until:
            await asyncio.sleep(pause)
            try:
                card = await casework.look(card.case_id, by)
                if is_decided(card):
                    return await casework.card(card.case_id, by)
            except Unavailable as err:
                _LOG.warning("A case could not be read yet: %s", err.message)
        return await casework.card(card.case_id, by)


def _pause_seconds(card: Card) -> float:
    """When to look again: after a quarter of the expected time."""
    expected = None if card.waiting is None else card.waiting.expected_seconds
    if expected is None:
        return _USUAL_PAUSE_SECONDS
    return min(max(expected / 4, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
