"""What one person is told for one command: collected, then written to them alone, below what they wrote.

Owns what goes into one message, and what is tried again. An exact text that is to be approved has a message of its own,
whose last part alone names it: who did not get all of it cannot approve it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from mastodon.return_types import Status

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.review.layout import offered
from adapters.mastodon.speech.private import PrivateWords, Words, addressee_of
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable

_LOG = logging.getLogger(__name__)
_PAUSES_SECONDS: Final = (1.0, 4.0)
_MOST_WAITED: Final = 10.0
"""How long an instance may ask to wait, in seconds, so that a person is answered all the same."""


@dataclass(frozen=True, slots=True)
class Told:
    """A part of an answer.

    Attributes:
        warning: the content warning of the message it is in.
        blocks: marked-up texts.
        commands: how it can be answered.
        ending: the mark of what it shows; "" for none.
        is_alone: it is a message of its own.
    """

    warning: str
    blocks: tuple[str, ...]
    commands: tuple[str, ...] = ()
    ending: str = ""
    is_alone: bool = False


class Telling:
    """The answer to one status.

    Args:
        status: what is answered.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: MastodonClient,
        words: PrivateWords,
        status: Status,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.to = addressee_of(status.account)
        self._client = client
        self._words = words
        self._status_id = str(status.id)
        self._sleep = sleep
        self._told: list[Told] = []

    def add(self, told: Told) -> None:
        """Say something more."""
        self._told.append(told)

    async def write(self, locale: str, *, is_final: bool) -> None:
        """Write all that was said.

        Args:
            is_final: something was decided, so what cannot be said now is not said.

        Raises:
            PlatformBusy: it could not be said now, nothing was decided, and the command can be heard again.
        """
        below = self._status_id
        for number, told in enumerate(_together(self._told), start=1):
            words = Words(told.warning, _with_commands(told, locale), told.ending, locale)
            try:
                below = await self._insist(words, f"answer {self._status_id} {number}", below)
            except PlatformBusy:
                if not is_final:
                    raise
                _LOG.warning("Somebody could not be told on Mastodon what came of a decision.")
                return
            except (PlatformUnavailable, AmbiguousSend) as err:
                _LOG.warning("Somebody could not be answered on Mastodon: %s", err.message)
                return
        self._told.clear()

    async def _insist(self, words: Words, key: str, below: str) -> str:
        """Write it; again where that is safe. The id of the last part."""
        for pause_seconds in _PAUSES_SECONDS:
            try:
                return (await self._words.write([self.to], words, key, answers=below))[-1]
            except PlatformBusy as err:
                if err.retry_after_seconds > _MOST_WAITED:
                    raise
                await self._sleep(max(pause_seconds, err.retry_after_seconds))
            except AmbiguousSend:
                if not self._client.instance.key_seconds:
                    raise
                await self._sleep(pause_seconds)
        return (await self._words.write([self.to], words, key, answers=below))[-1]


def _together(told: list[Told]) -> list[Told]:
    """What belongs into one message, joined."""
    found: list[Told] = []
    for one in told:
        last = found[-1] if found else None
        if last is None or last.is_alone or one.is_alone:
            found.append(one)
            continue
        commands = tuple(dict.fromkeys((*last.commands, *one.commands)))
        found[-1] = Told(last.warning, (*last.blocks, *one.blocks), commands, one.ending or last.ending)
    return found


def _with_commands(told: Told, locale: str) -> tuple[str, ...]:
    line = offered(list(told.commands), locale)
    return (*told.blocks, line) if line else told.blocks
