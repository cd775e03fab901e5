"""Which of Discord's updates of a message are edits of its words.

Owns that question. Discord sends the same event when it unfolds a link or somebody pins a message. Pure.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import discord

from adapters.discord.speech.words import words_now

_FRESH: Final = timedelta(minutes=5)
"""How long ago an edit may be when its event arrives; a lost connection makes events late."""


def edited_at(event: discord.RawMessageUpdateEvent) -> datetime | None:
    """When the author last edited the message; ``None`` if they never did."""
    return discord.utils.parse_time(event.data.get("edited_timestamp"))


def has_new_words(event: discord.RawMessageUpdateEvent, now: datetime) -> bool:
    """Whether the author changed the words with this event.

    Where discord.py remembers the message, its words are compared. Of any other it is only known when it was edited
    last: that of an update long after it is something else.
    """
    moment = edited_at(event)
    said = words_now(event.message).compared
    if moment is None or not said:
        return False
    if event.cached_message is not None:
        return words_now(event.cached_message).compared != said
    return now - moment <= _FRESH
