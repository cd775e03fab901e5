"""Messages of Discord as capture looks at them, and as flagged posts with their conversations.

The words stay exactly as Discord has them: the post is compared with them again before a reply is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import discord

from adapters.common.capture.conversations import MAX_MESSAGES, Conversation, Remark, arranged
from adapters.common.capture.flags import Flag
from adapters.discord.connection.places import Place, Readable, everybody_in, has_history, is_private, lacking_to_write
from adapters.discord.connection.refs import ref_of, revision_of
from adapters.discord.speech.words import title_of, with_origin, words_now, words_of
from core.errors import NotAllowed
from core.i18n.catalogs import gettext, translated
from core.i18n.sentences import Sentence, sentence
from core.models import FlaggedPost, MessageWords, PartKind, PostRef, Unread


async def conversation_of(message: discord.Message, place: Place, *, reads_messages: bool) -> Conversation:
    """The conversation of a message. What cannot be read is left out: a post is never refused for it.

    Args:
        reads_messages: whether Discord shows us others' words; without them only the root and the title are kept.
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
    """The title of the thread, as its first remark; none for the first post, which has it among its own words."""
    title = title_of(place)
    if title is None or any(part.kind is PartKind.TITLE for part in words_now(message, place).parts):
        return []
    return [Remark(place.id - 1, title.author, title.text)]


async def _parents(message: discord.Message, place: Readable, *, is_open: bool) -> tuple[list[discord.Message], str]:
    """The messages above one in its chain of replies, the nearest first, and the id of the topmost one, or ""."""
    parents: list[discord.Message] = []
    first = ""
    while len(parents) < MAX_MESSAGES and (parent_id := _parent_id(message, place)) is not None:
        first = str(parent_id)
        parent = await _parent(message, parent_id, place, is_open=is_open)
        if parent is None:
            break
        parents.append(parent)
        message = parent
    return parents, first


def _parent_id(message: discord.Message, place: Place) -> int | None:
    """The id of the message in the same channel that this one answers."""
    reference = message.reference
    if reference is None or reference.type is not discord.MessageReferenceType.reply:
        return None
    return reference.message_id if reference.channel_id == place.id else None


async def _parent(
    message: discord.Message, parent_id: int, place: Readable, *, is_open: bool
) -> discord.Message | None:
    parent = message.reference.resolved if message.reference is not None else None
    if isinstance(parent, discord.Message):
        return parent
    if isinstance(parent, discord.DeletedReferencedMessage) or not is_open:
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


async def flagged_post(
    message: discord.Message,
    place: Place,
    flag: Flag,
    everybody: str,
    *,
    reads_messages: bool,
    words: MessageWords | None = None,
) -> FlaggedPost:
    """A message with the conversation around it; of a private place nothing but the message itself.

    Args:
        words: all its words, where they were read already.
    """
    ref = ref_of(place.guild.id, place.id, message.id)
    words = words or await words_of(message, place)
    is_hidden = is_private(place, everybody)
    if not is_hidden:
        words = await with_origin(words, message, place, everybody)
    sender = str(message.author.id)
    author, name = words.author_of(sender, message.author.display_name)
    words = words if author == sender else words.signed_by(sender)
    if is_hidden:
        return FlaggedPost(ref, words.text, author, flag.by, flag.how, (), flag.priority, is_private=True)
    around = await conversation_of(message, place, reads_messages=reads_messages)
    return FlaggedPost(
        ref,
        words.text,
        author,
        flag.by,
        flag.how,
        around.thread,
        flag.priority,
        root=around.root,
        wish=flag.wish,
        revision=revision_of(message),
        author_name=name,
        words=words,
    )


def private_place(everybody: str, guild: discord.Guild, locale: str) -> NotAllowed:
    """The refusal of a private place, with the setting that may be wrong."""
    if everybody:
        role = discord.utils.escape_markdown(everybody_in(guild, everybody).name)
        reason = gettext(
            "Antiphon takes nothing from channels and threads that the role {role} cannot see.", locale, role=role
        )
        setting = gettext(
            "If all members have another role, a manager chooses it as everybody's role in /antiphon setup.", locale
        )
    else:
        reason = gettext("Antiphon takes nothing from channels and threads that not everybody can see.", locale)
        setting = gettext(
            "If all members see this one, a manager chooses their role as everybody's role in /antiphon setup.", locale
        )
    return NotAllowed(reason, remedy=" ".join((gettext("Tell the moderators about the message.", locale), setting)))


def check_capturable(
    message: discord.Message, guild: discord.Guild, place: Place | None, everybody: str, own_id: int, locale: str
) -> Place:
    """The place of a message, if it can be flagged there.

    Raises:
        NotAllowed: the place is private, we may not answer there, or the author is not a person who can be answered.
    """
    if place is None:
        raise _closed_to_us([sentence("View Channel")], locale)
    if is_private(place, everybody):
        raise private_place(everybody, guild, locale)
    if lacking := lacking_to_write(place):
        raise _closed_to_us(lacking, locale)
    check_author(message, own_id, locale)
    return place


def _closed_to_us(lacking: Sequence[Sentence], locale: str) -> NotAllowed:
    rights = ", ".join(translated(right, locale) for right in lacking)
    return NotAllowed(
        gettext("Antiphon cannot answer in this channel. Its role lacks: {rights}.", locale, rights=rights),
        remedy=gettext(
            "A manager of the server gives Antiphon's role these rights in the channel; then flag the post again.",
            locale,
        ),
    )


def check_author(message: discord.Message, own_id: int, locale: str) -> None:
    """Refuse a message whose author is no person, or is not known.

    A webhook speaks for many people under one id, so neither could its author be erased on request, nor would the
    limit of one reply for each person hold.

    Raises:
        NotAllowed: it is ours, a bot's, a webhook's or Discord's own.
    """
    if message.author.id == own_id:
        reason = gettext("This message is Antiphon's own.", locale)
    elif message.webhook_id is not None:
        reason = gettext("This message came through a webhook: nobody can tell which person wrote it.", locale)
    elif message.author.bot or message.is_system():
        reason = gettext("No person wrote this message: bots and system messages are not answered.", locale)
    else:
        return
    raise NotAllowed(
        reason,
        remedy=gettext("Ask a moderator to remove it, or use /counter with its words to get a draft.", locale),
    )


def now() -> datetime:
    """The time in milliseconds, as exact as ``written_at``."""
    return discord.utils.snowflake_time(discord.utils.time_snowflake(discord.utils.utcnow()))


def written_at(ref: PostRef) -> datetime:
    """When a message was written, which its number says."""
    return discord.utils.snowflake_time(int(ref.message))


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """Implements ``adapters.common.capture.watch.Sighting``.

    ``everybody`` is the community's ``CommunityPolicy.everybody_role``; ``reads_messages`` says whether Discord shows
    us the words of others, so that a conversation can be read.
    """

    message: discord.Message
    place: Place
    everybody: str
    reads_messages: bool
    _read: list[MessageWords] = field(default_factory=list, compare=False)
    """Its words, once they were read: no file is fetched twice."""

    @property
    def ref(self) -> PostRef:
        """Where it is."""
        return ref_of(self.place.guild.id, self.place.id, self.message.id)

    @property
    def may_have_words(self) -> bool:
        """Whether it has any, or files that may hold some."""
        words = words_now(self.message, self.place)
        return bool(words.parts) or Unread.FILE in words.unread

    async def words(self) -> MessageWords:
        """All its words."""
        if not self._read:
            self._read.append(await words_of(self.message, self.place))
        return self._read[0]

    @property
    def written_at(self) -> datetime:
        """When it was written."""
        return written_at(self.ref)

    @property
    def is_by_person(self) -> bool:
        """Whether neither a bot nor a webhook nor Discord itself wrote it."""
        message = self.message
        return not (message.author.bot or message.webhook_id is not None or message.is_system())

    @property
    def is_private(self) -> bool:
        """Whether not everybody in the server can read it."""
        return is_private(self.place, self.everybody)

    async def post(self, flag: Flag) -> FlaggedPost:
        """The message with the conversation around it."""
        words, reads = await self.words(), self.reads_messages
        return await flagged_post(self.message, self.place, flag, self.everybody, reads_messages=reads, words=words)
