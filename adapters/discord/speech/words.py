"""The words of a message on Discord, with their authors, and what of the message is not read.

Of files only short text is fetched. A thread's title goes with its first post: that of a forum, or what its owner wrote
within a minute after they began it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

import discord

from adapters.discord.connection.error_meanings import FAULTS
from adapters.discord.connection.refs import Readable, has_history, is_private, place_of
from core.models import MessageWords, Part, PartKind, Unread, joined_parts

_BEGUN: Final = timedelta(minutes=1)
MOST_BYTES: Final = 64 * 1024
"""A longer file is not read."""
_MOST_FILES: Final = 2
_FILE_SECONDS: Final = 10.0
_ENDINGS: Final = (".txt", ".md", ".log")
_Source: TypeAlias = discord.Message | discord.MessageSnapshot


def words_now(message: discord.Message, place: object = None) -> MessageWords:
    """All words of a message but those of its files.

    Args:
        place: where it stands; without it a thread's title is left out.
    """
    unread = [kind for source in _sources(message) for kind in _media(source)]
    return MessageWords.of(_parts(message, place), unread)


async def words_of(message: discord.Message, place: object) -> MessageWords:
    """All words of a message, its text files included; what cannot be fetched counts as not read."""
    words = words_now(message, place)
    attachments = [file for source in _sources(message) for file in source.attachments]
    texts = [await _text(file) for file in list(filter(_is_text, attachments))[:_MOST_FILES]]
    files = [Part(PartKind.FILE, text) for text in texts if text is not None]
    number = sum(_kind(file) is Unread.FILE for file in attachments)
    unread = {*words.unread} - {Unread.FILE, Unread.REST} | ({Unread.FILE} if number > len(files) else set())
    return MessageWords.of([*_parts(message, place), *files], unread)


async def with_origin(words: MessageWords, message: discord.Message, place: object, everybody: str) -> MessageWords:
    """The words with the author of a forwarded message, where everybody may read it in the same server."""
    reference = message.reference
    guild = place.guild if isinstance(place, Readable) else None
    if (
        not message.message_snapshots
        or reference is None
        or guild is None
        or reference.guild_id not in (None, guild.id)
    ):
        return words
    try:
        origin = await place_of(guild, reference.channel_id)
        if not isinstance(origin, Readable) or is_private(origin, everybody) or not has_history(origin):
            return words
        original = await origin.fetch_message(reference.message_id or 0)
    except FAULTS:
        return words
    who = original.author
    author = "" if who.bot or original.webhook_id is not None else str(who.id)
    parts = [
        Part(part.kind, part.text, author, who.display_name) if part.kind is PartKind.FORWARDED else part
        for part in words.parts
    ]
    return MessageWords(tuple(parts), words.unread)


def title_of(place: object) -> Part | None:
    """The title of a thread or forum post, with the id of the person who began it."""
    if not isinstance(place, discord.Thread) or not place.name.strip():
        return None
    return Part(PartKind.TITLE, place.name, str(place.owner_id or ""))


def _parts(message: discord.Message, place: object) -> Iterator[Part]:
    title = title_of(place)
    if title is not None and _is_first(message, title):
        yield Part(PartKind.TITLE, title.text)
    yield Part(PartKind.OWN, message.content)
    if message.poll is not None:
        yield Part(PartKind.POLL, "\n".join([message.poll.question, *(each.text for each in message.poll.answers)]))
    yield from (Part(PartKind.DESCRIPTION, file.description or "") for file in message.attachments)
    for snapshot in message.message_snapshots:
        descriptions = (Part(PartKind.DESCRIPTION, file.description or "") for file in snapshot.attachments)
        parts = [Part(PartKind.OWN, snapshot.content), *descriptions, *_quotes(snapshot.embeds)]
        yield Part(PartKind.FORWARDED, joined_parts(part for part in parts if part.text.strip()))
    yield from _quotes(message.embeds)


def _is_first(message: discord.Message, title: Part) -> bool:
    thread = message.channel.id
    begun = discord.utils.snowflake_time(thread)
    return message.id == thread or (title.author == str(message.author.id) and message.created_at - begun <= _BEGUN)


def _quotes(embeds: Sequence[discord.Embed]) -> Iterator[Part]:
    """The posts of other places that a link unfolds to; a preview without an author is none."""
    for embed in embeds:
        text = "\n".join(filter(None, (embed.title, embed.description)))
        if embed.author.name and text.strip():
            yield Part(PartKind.QUOTED, text, "", embed.author.name)


def _sources(message: discord.Message) -> tuple[_Source, ...]:
    return (message, *message.message_snapshots)


def _media(source: _Source) -> Iterator[Unread]:
    """What a message, or one that it forwards, holds beside words; a forward that shows nothing is itself not read."""
    yield from map(_kind, source.attachments)
    if source.stickers:
        yield Unread.STICKER
    if isinstance(source, discord.Message):
        reference = source.reference
        is_forward = reference is not None and reference.type is discord.MessageReferenceType.forward
        if is_forward and not source.message_snapshots:
            yield Unread.FORWARD


def _kind(file: discord.Attachment) -> Unread:
    kind = (file.content_type or "").partition("/")[0]
    return {"image": Unread.PICTURE, "video": Unread.VIDEO, "audio": Unread.VOICE}.get(kind, Unread.FILE)


def _is_text(file: discord.Attachment) -> bool:
    is_plain = (file.content_type or "").startswith("text/plain") or file.filename.lower().endswith(_ENDINGS)
    return is_plain and file.size <= MOST_BYTES


async def _text(file: discord.Attachment) -> str | None:
    """The words of a file; ``None`` where it cannot be fetched, or is no text."""
    try:
        async with asyncio.timeout(_FILE_SECONDS):
            return (await file.read()).decode("utf-8-sig")
    except (*FAULTS, UnicodeDecodeError):
        return None
