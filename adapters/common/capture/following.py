"""Bringing the drafts to who asked for them, in the answer that they are looking at.

Owns the wait. An answer is changed once, and never after the fifteen minutes that Discord allows: cards in review
channels are what lasts. Who waits is forgotten when the process ends; asked again, a case shows its drafts at once.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Final

import discord

from adapters.common.capture.answers import ended, is_decided, too_late, with_drafts
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.speech.private_answers import Interaction
from core.errors import AntiphonError, Unavailable
from core.moderation.cards import Card
from core.moderation.roles import Person

_LOG = logging.getLogger(__name__)
MOST_FOLLOWED: Final = 200
_ALLOWED: Final = timedelta(minutes=14)
_SHORTEST_PAUSE_SECONDS: Final = 2.0
_USUAL_PAUSE_SECONDS: Final = 8.0
_LONGEST_PAUSE_SECONDS: Final = 15.0


class Following:
    """Waits for drafts on behalf of the people who asked, at most ``MOST_FOLLOWED`` of them."""

    def __init__(self, client: AntiphonClient) -> None:
        self._client = client
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def has_room(self) -> bool:
        """Whether one more can be waited for."""
        return len(self._tasks) < MOST_FOLLOWED

    def follow(self, interaction: Interaction, card: Card, by: Person, locale: str) -> None:
        """Change the interaction's answer once, when the case has drafts, or just before it is too late."""
        task = asyncio.create_task(self._follow(interaction, card, by, locale))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self, interaction: Interaction, card: Card, by: Person, locale: str) -> None:
        try:
            card = await self._awaited(card, by, interaction.created_at + _ALLOWED)
        except AntiphonError as err:
            _LOG.warning("The drafts of a case could not be shown to who asked: %s", err.message)
            return
        if card.drafts:
            text = with_drafts(card, locale)
        else:
            text = ended(card, locale) if is_decided(card) else too_late(card, locale)
        try:
            await interaction.edit_original_response(content=text)
        except discord.HTTPException as err:
            _LOG.warning("An answer could not be changed: HTTP %s, code %s.", err.status, err.code)

    async def _awaited(self, card: Card, by: Person, until: datetime) -> Card:
        """The case when it is decided, or as it stands at the end."""
        while not is_decided(card) and discord.utils.utcnow() + timedelta(seconds=_pause_seconds(card)) < until:
            await asyncio.sleep(_pause_seconds(card))
            try:
                card = await self._client.casework.card(card.case_id, by)
            except Unavailable as err:
                _LOG.warning("A case could not be read yet: %s", err.message)
        return card


def _pause_seconds(card: Card) -> float:
    """When to look again: after a quarter of the time that is expected."""
    expected = None if card.waiting is None else card.waiting.expected_seconds
    if expected is None:
        return _USUAL_PAUSE_SECONDS
    return min(max(expected / 4, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
