"""Reading the conversation around a flagged message on Discord.

Owns the requests: no more than there are messages to keep. Messages whose words Discord does not show to us are left
out. Which are kept, ``adapters.common.capture.conversations`` says.
"""

from __future__ import annotations

from collections.abc import Iterable

import discord

from adapters.common.capture.conversations import MAX_MESSAGES, Conversation, Remark, arranged
from adapters.discord.connection.places import Place, Readable, has_history
from adapters.discord.speech.words import title_of, words_now
from core.models import PartKind


async def conversation_of(message: discord.Message, place: Place, *, reads_messages: bool) -> Conversation:
    """The conversation of a message. What cannot be read is left out: a post is never refused for it.

    Args:
        reads_messages: whether Discord shows us others' words; without them only the root and the thread's title are.
    """
    if not isinstance(place, Readable):
        return Conversation()
    is_open = has_history(place)
    parents, first = await _parents(message, place, is_open=is_open)
    root = str(place.id) if isinstance(place, discord.Thread) else first
    if not reads_messages:
        return Conversation(arranged(message.id, _title(message, place), []), root)
    before = await _before(message, place) if is_open else []
    return Conversation(arranged(message.id, [*_remarks(parents), *_title(message, place)], _remarks(before)), root)


def _remarks(messages: Iterable[discord.Message]) -> list[Remark]:
    return [
        Remark(message.id, words.author_of(str(message.author.id), "")[0], words.text)
        for message in messages
        if (words := words_now(message))
    ]


def _title(message: discord.Message, place: Place) -> list[Remark]:
    """The title of the thread, which stands before all in it; the first post has it among its own words."""
    title = title_of(place)
    if title is None or any(part.kind is PartKind.TITLE for part in words_now(message, place).parts):
        return []
    return [Remark(place.id - 1, title.author, title.text)]


async def _parents(message: discord.Message, place: Readable, *, is_open: bool) -> tuple[list[discord.Message], str]:
    """What a message answers, and what that answers, the nearest first; and the id of the first, "" for no answer."""
    found: list[discord.Message] = []
    first = ""
    while len(found) < MAX_MESSAGES and (parent_id := _answered(message, place)) is not None:
        first = str(parent_id)
        parent = await _parent(message, parent_id, place, is_open=is_open)
        if parent is None:
            break
        found.append(parent)
        message = parent
    return found, first


def _answered(message: discord.Message, place: Place) -> int | None:
    """The id of the message in the same channel that this one answers."""
    reference = message.reference
    if reference is None or reference.type is not discord.MessageReferenceType.reply:
        return None
    return reference.message_id if reference.channel_id == place.id else None


async def _parent(
    message: discord.Message, parent_id: int, place: Readable, *, is_open: bool
) -> discord.Message | None:
    known = message.reference.resolved if message.reference is not None else None
    if isinstance(known, discord.Message):
        return known
    if isinstance(known, discord.DeletedReferencedMessage) or not is_open:
        return None
    try:
        return await place.fetch_message(parent_id)
    except discord.HTTPException:
        return None


async def _before(message: discord.Message, place: Readable) -> list[discord.Message]:
    try:
        return [earlier async for earlier in place.history(limit=MAX_MESSAGES, before=message)]
    except discord.HTTPException:
        return []
