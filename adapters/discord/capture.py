"""Capture on one client: the message menu and ``/counter``, watched messages, and changes of flagged ones.

The words stay exactly as Discord has them: the post is compared with them again before a reply is sent.
"""

import asyncio
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import discord
from discord import app_commands
from discord.app_commands import Choice, locale_str

from adapters.common.capture import flagged_posts
from adapters.common.capture.known_posts import KnownPosts, PostChanges
from adapters.common.capture.requests import DraftRequests, Followers
from adapters.common.capture.watch import ChannelWatch
from adapters.common.desk_access import DeskAccess
from adapters.common.words.labels import wish_in_words
from adapters.common.words.markup import Reader
from adapters.common.words.messages import no_words, type_it
from adapters.discord import speech
from adapters.discord.connection import refs
from adapters.discord.connection.client import IN_SERVERS, INSTALLED_IN_SERVERS, AntiphonClient, listen
from core.desk.rules.policy import MAX_TONE, CommunityPolicy
from core.desk.rules.roles import OnCase, Person
from core.engine.ports import HateDetector
from core.errors import AntiphonError, BadInput, NotAllowed
from core.i18n.catalogs import gettext, translated
from core.i18n.sentences import Sentence, sentence
from core.models import FlaggedPost, Intent, MessageWords, PartKind, PostRef, Priority, Unread, Wish

_LINK: Final = re.compile(
    r"<?https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/channels/"
    r"(?P<guild>\d{1,20}|@me)/(?P<channel>\d{1,20})/(?P<message>\d{1,20})/?(?:\?\S*)?>?",
    re.ASCII | re.IGNORECASE,
)
_MAX_WORDS: Final = 4000
_FOLLOWED: Final = timedelta(minutes=14)
"""How long an answer can still be changed; Discord allows fifteen minutes."""
_FRESH: Final = timedelta(minutes=5)
"""How long ago an edit may be when its event arrives; a lost connection makes events late."""
_HATEFUL_RULES: Final = frozenset(
    {discord.AutoModRuleTriggerType.keyword, discord.AutoModRuleTriggerType.keyword_preset}
)
"""The rules of AutoMod that look at words; its rules against spam and floods say nothing of hate."""
_LOG = logging.getLogger(__name__)
_MOST_REMEMBERED: Final = 10_000
"""Half of what ``KnownPosts`` remembers, so that there is room for new posts."""
_FLAGGING_SECONDS: Final = 5.0
"""How long found posts may still be flagged when the work ends; that needs no connection."""


async def conversation_of(
    message: discord.Message, place: refs.Place, *, reads_messages: bool
) -> flagged_posts.Conversation:
    """The conversation of a message. What cannot be read is left out: a post is never refused for it.

    Args:
        reads_messages: whether Discord shows us others' words; without them only the root and the title are kept.
    """
    if not isinstance(place, refs.Readable):
        return flagged_posts.Conversation()
    is_open = refs.has_history(place)
    parents, first = await _parents(message, place, is_open=is_open)
    root = str(place.id) if isinstance(place, discord.Thread) else first
    if not reads_messages:
        return flagged_posts.Conversation(flagged_posts.arranged(message.id, _title(message, place), []), root)
    before = await _before(message, place) if is_open else []
    return flagged_posts.Conversation(
        flagged_posts.arranged(message.id, [*_remarks(parents), *_title(message, place)], _remarks(before)), root
    )


def _remarks(messages: Iterable[discord.Message]) -> list[flagged_posts.Remark]:
    return [
        flagged_posts.Remark(message.id, words.author_of(str(message.author.id), "")[0], words.text)
        for message in messages
        if (words := speech.words_now(message))
    ]


def _title(message: discord.Message, place: refs.Place) -> list[flagged_posts.Remark]:
    """The title of the thread, as its first remark; none for the first post, which has it among its own words."""
    title = speech.title_of(place)
    if title is None or any(part.kind is PartKind.TITLE for part in speech.words_now(message, place).parts):
        return []
    return [flagged_posts.Remark(place.id - 1, title.author, title.text)]


async def _parents(
    message: discord.Message, place: refs.Readable, *, is_open: bool
) -> tuple[list[discord.Message], str]:
    """The messages above one in its chain of replies, the nearest first, and the id of the topmost one, or ""."""
    parents: list[discord.Message] = []
    first = ""
    while len(parents) < flagged_posts.MAX_MESSAGES and (parent_id := _parent_id(message, place)) is not None:
        first = str(parent_id)
        parent = await _parent(message, parent_id, place, is_open=is_open)
        if parent is None:
            break
        parents.append(parent)
        message = parent
    return parents, first


def _parent_id(message: discord.Message, place: refs.Place) -> int | None:
    """The id of the message in the same channel that this one answers."""
    reference = message.reference
    if reference is None or reference.type is not discord.MessageReferenceType.reply:
        return None
    return reference.message_id if reference.channel_id == place.id else None


async def _parent(
    message: discord.Message, parent_id: int, place: refs.Readable, *, is_open: bool
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


async def _before(message: discord.Message, place: refs.Readable) -> list[discord.Message]:
    try:
        return [earlier async for earlier in place.history(limit=flagged_posts.MAX_MESSAGES, before=message)]
    except discord.HTTPException:
        return []


async def flagged_post(
    message: discord.Message,
    place: refs.Place,
    flag: flagged_posts.Flag,
    everybody: str,
    *,
    reads_messages: bool,
    words: MessageWords | None = None,
) -> FlaggedPost:
    """A message with the conversation around it; of a private place nothing but the message itself.

    Args:
        words: all its words, where they were read already.
    """
    ref = refs.ref_of(place.guild.id, place.id, message.id)
    words = words or await speech.words_of(message, place)
    is_hidden = refs.is_private(place, everybody)
    if not is_hidden:
        words = await speech.with_origin(words, message, place, everybody)
    sender = str(message.author.id)
    author, name = words.author_of(sender, message.author.display_name)
    words = words if author == sender else words.signed_by(sender)
    around = None if is_hidden else await conversation_of(message, place, reads_messages=reads_messages)
    return flagged_posts.flagged(ref, words, (author, name), flag, around, revision=refs.revision_of(message))


def private_place(everybody: str, guild: discord.Guild, locale: str) -> NotAllowed:
    """The refusal of a private place, with the setting that may be wrong."""
    if everybody:
        role = discord.utils.escape_markdown(refs.everybody_in(guild, everybody).name)
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
    message: discord.Message, guild: discord.Guild, place: refs.Place | None, everybody: str, own_id: int, locale: str
) -> refs.Place:
    """The place of a message, if it can be flagged there.

    Raises:
        NotAllowed: the place is private, we may not answer there, or the author is not a person who can be answered.
    """
    if place is None:
        raise _closed_to_us([sentence("View Channel")], locale)
    if refs.is_private(place, everybody):
        raise private_place(everybody, guild, locale)
    if lacking := refs.lacking_to_write(place):
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
    place: refs.Place
    everybody: str
    reads_messages: bool
    _read: list[MessageWords] = field(default_factory=list, compare=False)
    """Its words, once they were read: no file is fetched twice."""

    @property
    def ref(self) -> PostRef:
        return refs.ref_of(self.place.guild.id, self.place.id, self.message.id)

    @property
    def may_have_words(self) -> bool:
        """Whether it has any, or files that may hold some."""
        words = speech.words_now(self.message, self.place)
        return bool(words.parts) or Unread.FILE in words.unread

    async def words(self) -> MessageWords:
        if not self._read:
            self._read.append(await speech.words_of(self.message, self.place))
        return self._read[0]

    @property
    def written_at(self) -> datetime:
        return written_at(self.ref)

    @property
    def is_by_person(self) -> bool:
        """Whether neither a bot nor a webhook nor Discord itself wrote it."""
        message = self.message
        return not (message.author.bot or message.webhook_id is not None or message.is_system())

    @property
    def is_private(self) -> bool:
        """Whether not everybody in the server can read it."""
        return refs.is_private(self.place, self.everybody)

    async def post(self, flag: flagged_posts.Flag) -> FlaggedPost:
        words, reads = await self.words(), self.reads_messages
        return await flagged_post(self.message, self.place, flag, self.everybody, reads_messages=reads, words=words)


@dataclass(frozen=True, slots=True)
class MessageLink:
    """Where a link leads; ``guild`` is ``None`` for a direct message."""

    guild: int | None
    channel: int
    message: int


def message_link(text: str) -> MessageLink | None:
    """The link that a text consists of; ``None`` where it is anything else, such as words with a link in them."""
    match = _LINK.fullmatch(text.strip())
    if match is None:
        return None
    guild = None if match["guild"].lower() == "@me" else int(match["guild"])
    return MessageLink(guild, int(match["channel"]), int(match["message"]))


@dataclass(frozen=True, slots=True)
class Asker:
    """The person who asks, where they are, and the language in which to speak to them."""

    guild: discord.Guild
    person: Person
    locale: str
    policy: CommunityPolicy


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """Implements ``adapters.common.capture.requests.PrivateAnswer``."""

    interaction: speech.Interaction
    reader: Reader
    review_channel: str
    limit: int = speech.MAX_CHARACTERS

    @property
    def until(self) -> datetime:
        """A minute before the time after which Discord does not allow a change."""
        return self.interaction.created_at + _FOLLOWED

    @property
    def promise(self) -> str:
        """The drafts appear here, for as long as Discord lets the answer be changed."""
        return gettext(
            "The drafts appear here when they are ready, within 14 minutes. Only you see this.", self.reader.locale
        )

    async def give(self, text: str) -> None:
        await speech.answer(self.interaction, text)

    async def change(self, text: str) -> None:
        await speech.change_answer(self.interaction, text)


class CaptureCommands:
    def __init__(self, client: AntiphonClient, asking: DraftRequests) -> None:
        self._client = client
        self._asking = asking

    async def about_message(
        self, interaction: speech.Interaction, message: discord.Message, *, wants_drafts: bool
    ) -> None:
        await speech.defer(interaction)
        asker = await self._asker(interaction, wants_drafts=wants_drafts)
        how, priority = (
            ("message menu: draft", Priority.ASKED) if wants_drafts else ("message menu: flag", Priority.FLAGGED)
        )
        post = await self._post_of(message, asker, flagged_posts.Flag(asker.person.user, how, priority))
        await self._take_in(interaction, asker, post, wants_drafts=wants_drafts)

    async def about_words(self, interaction: speech.Interaction, text: str, wish: Wish) -> None:
        """Flag the message that a link leads to, or the words themselves."""
        await speech.defer(interaction)
        asker = await self._asker(interaction)
        link = message_link(text)
        if link is None:
            flag = flagged_posts.Flag(asker.person.user, "words from elsewhere", Priority.ASKED, wish)
            post = flagged_posts.post_from_elsewhere(
                refs.ref_of(asker.guild.id, interaction.channel_id or 0, interaction.id), text, flag
            )
        else:
            message = await self._linked_message(link, interaction, asker)
            post = await self._post_of(
                message, asker, flagged_posts.Flag(asker.person.user, "/counter", Priority.ASKED, wish)
            )
        await self._take_in(interaction, asker, post, wants_drafts=True)

    async def _asker(self, interaction: speech.Interaction, *, wants_drafts: bool = True) -> Asker:
        """The person who asks, if they may; where members may flag, the desk says so when they do.

        Raises:
            NotAllowed: they have no role that may flag, or the bot is not in this server.
        """
        guild = None if interaction.guild_id is None else self._client.get_guild(interaction.guild_id)
        if guild is None:
            locale = speech.reader_language(interaction.locale.value, None)
            raise NotAllowed(
                gettext("Antiphon takes nothing from direct messages.", locale),
                remedy=gettext("Use the command in a server that Antiphon was added to.", locale),
            )
        person = Person(refs.NAME, str(interaction.user.id), interaction.user.display_name)
        policy = await self._client.desk.policies.of(str(guild.id))
        locale = speech.reader_language(interaction.locale.value, policy.language)
        speech.speak(interaction, locale)
        if wants_drafts or not policy.members_flag:
            await self._client.desk.governance.require(refs.NAME, str(guild.id), person, OnCase.FLAG)
        return Asker(guild, person, locale, policy)

    async def _post_of(self, message: discord.Message, asker: Asker, flag: flagged_posts.Flag) -> FlaggedPost:
        channel = await refs.place_of(asker.guild, message.channel.id)
        own_id = self._client.user.id if self._client.user is not None else 0
        everybody = asker.policy.everybody_role
        place = check_capturable(message, asker.guild, channel, everybody, own_id, asker.locale)
        post = await flagged_post(message, place, flag, everybody, reads_messages=self._client.reads_messages)
        if not post.text.strip():
            raise no_words(post.words, asker.locale, type_it(asker.locale))
        return post

    async def _linked_message(
        self, link: MessageLink, interaction: speech.Interaction, asker: Asker
    ) -> discord.Message:
        """The message that a link leads to; a private place is refused before anything is read there."""
        if link.guild != asker.guild.id:
            raise BadInput(
                gettext("This link leads to another server or to a direct message.", asker.locale),
                remedy=gettext("Type the words instead of the link to get a draft for them.", asker.locale),
            )
        if not self._client.reads_messages:
            raise BadInput(
                gettext("Antiphon may not read messages by their link here.", asker.locale),
                remedy=gettext("Use the message's own menu: Apps, then “Draft a reply”.", asker.locale),
            )
        place = await refs.place_of(asker.guild, link.channel)
        missing = BadInput(
            gettext("There is no such message, or Antiphon cannot see its channel.", asker.locale),
            remedy=gettext(
                "Copy the link from the message's own menu, or use Apps, “Draft a reply” there.", asker.locale
            ),
        )
        user = interaction.user
        if not isinstance(place, refs.Readable) or not isinstance(user, discord.Member):
            raise missing
        everybody = asker.policy.everybody_role
        if refs.is_private(place, everybody) or not place.permissions_for(user).view_channel:
            raise private_place(everybody, asker.guild, asker.locale)
        try:
            return await place.fetch_message(link.message)
        except (discord.NotFound, discord.Forbidden) as err:
            raise missing from err

    async def _take_in(
        self, interaction: speech.Interaction, asker: Asker, post: FlaggedPost, *, wants_drafts: bool
    ) -> None:
        private = CommandAnswer(interaction, speech.reader_of(asker.locale), _review_channel(interaction, asker))
        is_member = not wants_drafts and asker.policy.members_flag
        await self._asking.take_in(
            post, written_at(post.ref), asker.person, private, wants_drafts=wants_drafts, is_member=is_member
        )


def _review_channel(interaction: speech.Interaction, asker: Asker) -> str:
    """A mention of the review channel for those who may see it, "" for others."""
    number = asker.policy.review_channel
    channel = asker.guild.get_channel(int(number)) if number.isdecimal() else None
    user = interaction.user
    if channel is None or not isinstance(user, discord.Member) or not channel.permissions_for(user).view_channel:
        return ""
    return channel.mention


def add_commands(tree: app_commands.CommandTree[AntiphonClient], commands: CaptureCommands) -> None:
    """Put the menu entries and ``/counter`` into the tree."""

    async def draft_a_reply(interaction: discord.Interaction[AntiphonClient], message: discord.Message) -> None:
        await commands.about_message(interaction, message, wants_drafts=True)

    async def flag_for_moderators(interaction: discord.Interaction[AntiphonClient], message: discord.Message) -> None:
        await commands.about_message(interaction, message, wants_drafts=False)

    for name, callback in (
        (locale_str("Draft a reply"), draft_a_reply),
        (locale_str("Flag for moderators"), flag_for_moderators),
    ):
        tree.add_command(
            app_commands.ContextMenu(
                name=name,
                callback=callback,
                allowed_contexts=IN_SERVERS,
                allowed_installs=INSTALLED_IN_SERVERS,
            )
        )
    tree.add_command(_counter(commands))


def _counter(commands: CaptureCommands) -> app_commands.Command[Any, ..., None]:
    @app_commands.command(
        name=locale_str("counter"), description=locale_str("Get drafts of a reply to a message or to words.")
    )
    @app_commands.describe(
        text=locale_str("The words to answer, or a link to a message in this server"),
        intent=locale_str("How the reply should go about it"),
        language=locale_str("The language of the reply"),
        tone=locale_str("How it should sound, in a few words"),
    )
    @app_commands.rename(
        text=locale_str("text"), intent=locale_str("intent"), language=locale_str("language"), tone=locale_str("tone")
    )
    @app_commands.choices(intent=_intents(), language=_languages())
    async def counter(
        interaction: discord.Interaction[AntiphonClient],
        text: app_commands.Range[str, 1, _MAX_WORDS],
        intent: Choice[str] | None = None,
        language: Choice[str] | None = None,
        tone: app_commands.Range[str, 1, MAX_TONE] | None = None,
    ) -> None:
        wish = Wish(
            Intent(intent.value) if intent is not None else None,
            language.value if language is not None else None,
            (tone or "").strip(),
        )
        await commands.about_words(interaction, text, wish)

    counter.allowed_contexts = IN_SERVERS
    counter.allowed_installs = INSTALLED_IN_SERVERS
    return counter


def _intents() -> list[Choice[str]]:
    """The kinds of reply; ``CommandTranslator`` finds their English words in the catalogs."""
    return [Choice(name=locale_str(wish_in_words(intent, "en")), value=intent.value) for intent in Intent]


def _languages() -> list[Choice[str]]:
    return [
        Choice(name=locale_str("English"), value="en"),
        Choice(name=locale_str("Spanish"), value="es"),
        Choice(name=locale_str("Italian"), value="it"),
        Choice(name=locale_str("Basque"), value="eu"),
    ]


def edited_at(event: discord.RawMessageUpdateEvent) -> datetime | None:
    """The time of the author's last edit; ``None`` if there is none."""
    return discord.utils.parse_time(event.data.get("edited_timestamp"))


def has_new_words(event: discord.RawMessageUpdateEvent, now: datetime) -> bool:
    """Whether the author changed the words with this event.

    Where discord.py remembers the message, its words are compared. Of any other message only the time of its last edit
    is known: an update long after that edit is something else.
    """
    moment = edited_at(event)
    text = speech.words_now(event.message).compared
    if moment is None or not text:
        return False
    if event.cached_message is not None:
        return speech.words_now(event.cached_message).compared != text
    return now - moment <= _FRESH


class WatchedEvents:
    """Passes messages, their edits, reactions and AutoMod's actions on to ``ChannelWatch``."""

    def __init__(self, client: AntiphonClient, watching: ChannelWatch, known: KnownPosts) -> None:
        self._client = client
        self._watching = watching
        self._known = known

    def listen(self) -> None:
        """Begin to listen, where Discord shows us the words of others."""
        if self._client.reads_messages:
            listen(self._client, "message", self._written)
            listen(self._client, "raw_message_edit", self._edited)
            listen(self._client, "raw_reaction_add", self._reacted)
            listen(self._client, "automod_action", self._stopped)

    async def _written(self, message: discord.Message) -> None:
        if message.guild is not None and isinstance(message.channel, refs.Place):
            everybody = await self._everybody_in(message.guild.id)
            await self._watching.written(
                self._sighting(message, message.channel, everybody), refs.watched_id(message.channel)
            )

    async def _edited(self, event: discord.RawMessageUpdateEvent) -> None:
        """Look at new words as at a new message; the edit of a post with a case goes to the desk instead."""
        if event.guild_id is None or self._known.is_known(
            refs.ref_of(event.guild_id, event.channel_id, event.message_id)
        ):
            return
        if has_new_words(event, discord.utils.utcnow()):
            await self._written(event.message)

    async def _reacted(self, event: discord.RawReactionActionEvent) -> None:
        own_id = self._client.user.id if self._client.user is not None else None
        if event.guild_id is None or event.user_id == own_id or (event.member is not None and event.member.bot):
            return
        policy = await self._client.desk.policies.of(str(event.guild_id))
        if speech.is_same(event.emoji, policy.reaction):
            by = Person(refs.NAME, str(event.user_id), event.member.display_name if event.member is not None else "")
            find = partial(self._find, event.guild_id, event.channel_id, event.message_id)
            self._watching.reacted(str(event.guild_id), str(event.channel_id), by, find)

    async def _stopped(self, action: discord.AutoModAction) -> None:
        is_hateful = action.rule_trigger_type in _HATEFUL_RULES
        if not is_hateful or action.channel_id is None or action.message_id is None:
            return
        find = partial(self._find, action.guild_id, action.channel_id, action.message_id)
        await self._watching.alerted(str(action.guild_id), str(action.channel_id), "AutoMod", find)

    async def _find(self, guild_id: int, channel_id: int, message_id: int) -> SeenMessage | None:
        """The message that a reaction or an alert points at; nothing in a private place is read."""
        guild = self._client.get_guild(guild_id)
        place = None if guild is None else await refs.place_of(guild, channel_id)
        everybody = await self._everybody_in(guild_id)
        if not isinstance(place, refs.Readable) or refs.is_private(place, everybody):
            return None
        try:
            return self._sighting(await place.fetch_message(message_id), place, everybody)
        except discord.HTTPException:
            return None

    async def _everybody_in(self, guild_id: int) -> str:
        return (await self._client.desk.policies.of(str(guild_id))).everybody_role

    def _sighting(self, message: discord.Message, place: refs.Place, everybody: str) -> SeenMessage:
        return SeenMessage(message, place, everybody, self._client.reads_messages)


async def remember_posts(desk: DeskAccess, known: KnownPosts) -> None:
    """Remember the posts that have a case already, so that their changes do not wait among those of old messages."""
    try:
        posts = await desk.casework.posts(refs.NAME, _MOST_REMEMBERED)
    except AntiphonError as err:
        _LOG.warning("Which posts have a case could not be read; the desk is asked at each change: %s", err.message)
        return
    for ref in posts:
        if ref.message.isdecimal():
            known.add(ref, written_at(ref))


class ChangeEvents:
    """Passes edits and deletions on to ``PostChanges``."""

    def __init__(self, changes: PostChanges) -> None:
        self._changes = changes

    def listen(self, client: discord.Client) -> None:
        """Begin to listen to edits, to deletions, and to the ends of channels with all their messages."""
        listen(client, "raw_message_edit", self._edited)
        listen(client, "raw_message_delete", self._deleted)
        listen(client, "raw_bulk_message_delete", self._many_deleted)
        listen(client, "guild_channel_delete", self._channel_deleted)
        listen(client, "raw_thread_delete", self._thread_deleted)

    async def _edited(self, event: discord.RawMessageUpdateEvent) -> None:
        """An edit by its author; a preview that Discord adds to a link, or a pin, changes no word.

        The text is "" without the message-content intent, where the message has no text of its own, and in a thread
        that is not known, whose title Discord does not say.
        """
        moment = edited_at(event)
        if event.guild_id is None or moment is None:
            return
        ref, place = refs.ref_of(event.guild_id, event.channel_id, event.message_id), event.message.channel
        is_shown = bool(event.message.content) and isinstance(place, refs.Place)
        text = speech.words_now(event.message, place).compared if is_shown else ""
        self._changes.edited(ref, written_at(ref), text, refs.revision_at(moment))

    async def _deleted(self, event: discord.RawMessageDeleteEvent) -> None:
        self._gone(event.guild_id, event.channel_id, event.message_id)

    async def _many_deleted(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        for message_id in sorted(event.message_ids):
            self._gone(event.guild_id, event.channel_id, message_id)

    def _gone(self, guild_id: int | None, channel_id: int, message_id: int) -> None:
        if guild_id is not None:
            ref = refs.ref_of(guild_id, channel_id, message_id)
            self._changes.deleted(ref, written_at(ref))

    async def _channel_deleted(self, channel: discord.abc.GuildChannel) -> None:
        self._changes.channel_deleted(str(channel.guild.id), str(channel.id))

    async def _thread_deleted(self, event: discord.RawThreadDeleteEvent) -> None:
        self._changes.channel_deleted(str(event.guild_id), str(event.thread_id))


class Capture:
    """All that takes posts in from one client, which is about to connect; ``close`` ends its work.

    Args:
        detector: how likely a text is hateful; ``None`` leaves watched channels with their keywords.
    """

    def __init__(self, client: AntiphonClient, detector: HateDetector | None = None) -> None:
        known = KnownPosts(now())
        self.following = Followers(client.desk, discord.utils.utcnow)
        self.watching = ChannelWatch(client.desk, known, client.own_id, detector)
        self.changes = PostChanges(client.desk, known)
        add_commands(client.tree, CaptureCommands(client, DraftRequests(client.desk, known, self.following)))
        speech.answer_command_errors(client.tree)
        WatchedEvents(client, self.watching, known).listen()
        ChangeEvents(self.changes).listen(client)
        listen(client, "ready", partial(remember_posts, client.desk, known))

    @property
    def left_out(self) -> int:
        """How many posts and changes were not looked at, because too much came at once."""
        lanes = (self.watching.lanes, self.watching.finds, self.changes.lanes, self.changes.old_lanes)
        return sum(lane.left_out for lane in lanes)

    async def close(self) -> None:
        """Stop waiting and looking; what was found is flagged, and what was counted is kept."""
        others = (self.following, self.watching.lanes, self.changes.lanes, self.changes.old_lanes)
        await asyncio.gather(*(part.close() for part in others))
        await self.watching.finds.close(_FLAGGING_SECONDS)
        await self.watching.looked_at.close()
