"""Messages of Telegram as capture looks at them: which may become cases, which words they hold, and the latest of them.

Everything is private but the groups that everybody can find by a public name, and those whose managers chose a place
for review. In such a group every member reads every post, as in a server of another platform. Posts are never taken
from private chats, channels and the private messages to a channel.

Telegram lets no bot fetch a message. The post that a reaction or a forwarded message points at, and the conversation
around a post, can therefore only be found among the messages that were heard where Antiphon may read them. They are
kept in memory for an hour, and never written anywhere.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import telegram
from telegram import MessageOriginChannel, MessageOriginChat, MessageOriginHiddenUser, MessageOriginUser
from telegram.constants import ChatType

from adapters.common.capture.flagged_posts import MAX_MESSAGES, Conversation, Flag, Remark, arranged, flagged
from adapters.common.words.messages import no_words, type_it
from adapters.telegram.connection.client import UNREADABLE
from adapters.telegram.connection.refs import ref_of, revision_of, topic_of
from core.desk.rules.policy import CommunityPolicy
from core.errors import NotAllowed
from core.i18n.catalogs import gettext
from core.models import FlaggedPost, MessageWords, Part, PartKind, PostRef, Unread, joined_parts

AnyChat: TypeAlias = telegram.Chat | telegram.ChatFullInfo
"""A chat as messages name it, or as Telegram tells of it when it is asked."""
_Holder: TypeAlias = telegram.Message | telegram.ExternalReplyInfo
"""What a poll or a checklist may stand in."""
KEPT_SECONDS: Final = 3600.0
MOST_KEPT: Final = 5000


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a message: a person, or a channel in whose name a person wrote; as Telegram knows and shows them."""

    id: str
    name: str


def words_of(message: telegram.Message) -> MessageWords:
    """All words of a message; those of a forward are the origin's, whoever sent it on."""
    own = _own(message)
    if message.forward_origin is not None:
        author, name = origin_of(message.forward_origin)
        own = [Part(PartKind.FORWARDED, joined_parts(own), author, name)]
        if not own[0].text.strip() and not _media(message):
            return MessageWords.of((), (Unread.FORWARD,))
    quoted, unread = _quoted(message)
    return MessageWords.of([*own, *quoted], [*_media(message), *unread])


def said_in(message: telegram.Message) -> str:
    """What a message itself says, whoever wrote it: its text or caption, its poll, checklist or place."""
    return joined_parts(_own(message))


def origin_of(origin: telegram.MessageOrigin) -> tuple[str, str]:
    """Whom something was forwarded or quoted from: the id of a person, "" for all others, and the name that is shown.

    Who writes in the name of a channel or a group, or hides, is nobody who could be told from others.
    """
    if isinstance(origin, MessageOriginUser):
        user = origin.sender_user
        return "" if user.is_bot else str(user.id), user.full_name
    if isinstance(origin, MessageOriginHiddenUser):
        return "", origin.sender_user_name
    if isinstance(origin, MessageOriginChat):
        return "", origin.sender_chat.title or ""
    return "", (origin.chat.title or "") if isinstance(origin, MessageOriginChannel) else ""


def _own(message: telegram.Message) -> list[Part]:
    parts = [Part(PartKind.OWN, message.text or message.caption or ""), *_listed(message)]
    return [part for part in parts if part.text.strip()]


def _listed(holder: _Holder) -> Iterator[Part]:
    """A poll, a checklist or a place, each line of it."""
    if poll := holder.poll:
        options = [option.text for option in poll.options]
        yield Part(PartKind.POLL, _lines(poll.question, poll.description or "", *options, poll.explanation or ""))
    if checklist := holder.checklist:
        yield Part(PartKind.CHECKLIST, _lines(checklist.title, *(task.text for task in checklist.tasks)))
    added = holder.checklist_tasks_added if isinstance(holder, telegram.Message) else None
    if added:
        yield Part(PartKind.CHECKLIST, _lines(*(task.text for task in added.tasks)))
    if venue := holder.venue:
        yield Part(PartKind.PLACE, _lines(venue.title, venue.address))


def _lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)


def _quoted(message: telegram.Message) -> tuple[list[Part], list[Unread]]:
    """What a message quotes.

    The whole message that it answers stands in its conversation, where a person of the group wrote it: a quote of that
    one is not repeated.
    """
    elsewhere, parent = message.external_reply, message.reply_to_message
    if elsewhere is None and (message.quote is None or (parent is not None and author_of(parent) is not None)):
        return [], []
    author, name = ("", "") if elsewhere is None else origin_of(elsewhere.origin)
    texts = [message.quote.text] if message.quote is not None else []
    texts += [] if elsewhere is None else [part.text for part in _listed(elsewhere)]
    text = "\n\n".join(texts)
    return ([Part(PartKind.QUOTED, text, author, name)], []) if text.strip() else ([], [Unread.QUOTE])


def _media(message: telegram.Message) -> list[Unread]:
    """What a message holds beside words."""
    held = {
        Unread.PICTURE: message.photo,
        Unread.VIDEO: message.video or message.animation or message.video_note,
        Unread.VOICE: message.voice or message.audio,
        Unread.STICKER: message.sticker,
        Unread.FILE: message.document if message.animation is None else None,
        Unread.OTHER: message.story
        or message.contact
        or message.dice
        or message.game
        or message.invoice
        or message.paid_media
        or (message.location if message.venue is None else None)
        or message.api_kwargs.get(UNREADABLE),
    }
    return [kind for kind, medium in held.items() if medium]


def author_of(message: telegram.Message) -> Author | None:
    """Who wrote a message, if that is somebody who can be told from others.

    ``None`` for bots, Telegram itself, administrators who hide behind the group's name, and the posts that Telegram
    copies from a group's channel. A person who writes in a channel's name is known by the channel, always the same.
    """
    channel, user = message.sender_chat, message.from_user
    if message.is_automatic_forward or message.sender_business_bot is not None:
        return None
    if channel is not None:
        is_persona = channel.type == ChatType.CHANNEL and channel.id != message.chat.id
        return Author(str(channel.id), channel.title or "") if is_persona else None
    if user is None or user.is_bot:
        return None
    return Author(str(user.id), user.full_name)


def is_group(chat: AnyChat) -> bool:
    """Whether a chat is a group in which people talk with one another."""
    return chat.type in (ChatType.GROUP, ChatType.SUPERGROUP) and not chat.is_direct_messages


def is_private(chat: AnyChat, policy: CommunityPolicy) -> bool:
    """Whether nothing may be taken from a chat."""
    return not is_group(chat) or not (chat.username or policy.review_channel)


def check_group(chat: AnyChat, policy: CommunityPolicy, locale: str) -> None:
    """Refuse a place from which nothing is taken.

    Raises:
        NotAllowed: it is private.
    """
    if is_private(chat, policy):
        raise NotAllowed(
            gettext("Antiphon takes nothing from private chats, channels, and groups where it was not set up.", locale),
            remedy=gettext(
                "A group without a public name is private until its managers have set Antiphon up with /setup. Tell "
                "the moderators about the message.",
                locale,
            ),
        )


def check_capturable(message: telegram.Message, policy: CommunityPolicy, own_id: str, locale: str) -> Author:
    """Who wrote a message, if it can be flagged where it is.

    Raises:
        NotAllowed: the place is private, or the author is nobody who can be answered.
        BadInput: it has no words, or no number by which it could be answered.
    """
    check_group(message.chat, policy, locale)
    author = author_of(message)
    if author is None:
        raise NotAllowed(
            _why_nobody(message, own_id, locale),
            remedy=gettext("Ask a moderator to remove it, or use /counter with its words to get a draft.", locale),
        )
    words = words_of(message)
    if message.message_id <= 0 or not words.text.strip():
        raise no_words(words, locale, _remedy(message, locale))
    return author


def _remedy(message: telegram.Message, locale: str) -> str:
    """What helps where a message has no words."""
    if message.media_group_id is None:
        return type_it(locale)
    album = gettext("It belongs to an album: answer the picture that has the words.", locale)
    return f"{album} {type_it(locale)}"


def _why_nobody(message: telegram.Message, own_id: str, locale: str) -> str:
    user, channel = message.from_user, message.sender_chat
    if user is not None and str(user.id) == own_id:
        return gettext("This message is Antiphon's own.", locale)
    if message.is_automatic_forward:
        return gettext("This is a post of the group's own channel.", locale)
    if channel is not None:
        return gettext("An administrator wrote this message in the group's name: nobody can tell which person.", locale)
    return gettext("No person wrote this message: bots and system messages are not answered.", locale)


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """Implements ``adapters.common.capture.watch.Sighting``; ``policy`` is that of the message's group.

    With ``is_late`` Antiphon was away when somebody flagged it.

    Raises:
        ValueError: ``ref`` and ``post`` of an ephemeral message, which has no number to be named by.
    """

    message: telegram.Message
    policy: CommunityPolicy
    recent: RecentMessages
    is_late: bool = False

    @property
    def ref(self) -> PostRef:
        return ref_of(self.message.chat.id, self.message.message_id, topic_of(self.message))

    @property
    def may_have_words(self) -> bool:
        return bool(words_of(self.message).parts)

    async def words(self) -> MessageWords:
        return words_of(self.message)

    @property
    def written_at(self) -> datetime:
        return self.message.date

    @property
    def is_by_person(self) -> bool:
        """Whether somebody wrote it who can be told from others."""
        return author_of(self.message) is not None

    @property
    def is_private(self) -> bool:
        """Whether nothing may be taken from where it is."""
        return is_private(self.message.chat, self.policy)

    async def post(self, flag: Flag) -> FlaggedPost:
        """The message with the conversation around it; of a private place nothing but the message itself."""
        sender, words = author_of(self.message) or Author("", ""), words_of(self.message)
        author = words.author_of(sender.id, sender.name)
        around = None if self.is_private else conversation_of(self.message, self.recent)
        revision = revision_of(self.message)
        return flagged(self.ref, words, author, flag, around, revision=revision, is_late=self.is_late)


class RecentMessages:
    """Messages by chat and number, the latest ``most`` of them.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(
        self,
        *,
        most: int = MOST_KEPT,
        seconds_now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._seconds_now = seconds_now
        self._messages: OrderedDict[tuple[int, int], tuple[float, telegram.Message]] = OrderedDict()

    def add(self, message: telegram.Message) -> None:
        """Remember a message, or how it reads now; one without a number of its own is none that could be found."""
        if message.message_id <= 0:
            return
        key = (message.chat.id, message.message_id)
        since, _ = self._messages.get(key, (self._seconds_now(), None))
        self._messages[key] = (since, message)
        self._forget_old()

    def find(self, chat: int, message: int) -> telegram.Message | None:
        self._forget_old()
        _, remembered = self._messages.get((chat, message), (0.0, None))
        return remembered

    def with_words(self, message: telegram.Message) -> telegram.Message:
        """The message that holds the words which apps show below a picture: of an album, the one with the caption."""
        if message.media_group_id is None or said_in(message).strip():
            return message
        self._forget_old()
        album = (
            other
            for _, other in self._messages.values()
            if other.chat.id == message.chat.id
            and other.media_group_id == message.media_group_id
            and said_in(other).strip()
        )
        return min(album, key=lambda other: other.message_id, default=message)

    def before(self, message: telegram.Message, most: int) -> list[telegram.Message]:
        """What was written before a message in its chat and topic, the latest first."""
        self._forget_old()
        messages = [
            earlier
            for _, earlier in self._messages.values()
            if earlier.chat.id == message.chat.id
            and topic_of(earlier) == topic_of(message)
            and earlier.message_id < message.message_id
        ]
        return sorted(messages, key=lambda earlier: earlier.message_id, reverse=True)[:most]

    def forwarded(self, message: telegram.Message) -> list[telegram.Message]:
        self._forget_old()
        origin = message.forward_origin
        if origin is None:
            return []
        return [
            earlier
            for _, earlier in self._messages.values()
            if earlier.date == origin.date
            and said_in(earlier) == said_in(message)
            and earlier.forward_origin is None
            and _is_by(earlier, origin)
        ]

    def _forget_old(self) -> None:
        now = self._seconds_now()
        while self._messages:
            since, _ = next(iter(self._messages.values()))
            if len(self._messages) <= self._most and now - since <= KEPT_SECONDS:
                return
            self._messages.popitem(last=False)


def _is_by(message: telegram.Message, origin: telegram.MessageOrigin) -> bool:
    author = author_of(message)
    if author is None:
        return False
    if isinstance(origin, MessageOriginUser):
        return author.id == str(origin.sender_user.id)
    if isinstance(origin, MessageOriginHiddenUser):
        return author.name == origin.sender_user_name
    return isinstance(origin, MessageOriginChat) and author.id == str(origin.sender_chat.id)


def answered_by(message: telegram.Message) -> telegram.Message | None:
    """The message that this one answers.

    In a topic every message that answers nothing is shown as an answer to the note that the topic was made. What an
    ephemeral message says is nobody's post.
    """
    answered = message.reply_to_message
    if answered is None or answered.forum_topic_created is not None or answered.message_id <= 0:
        return None
    return answered if answered.chat.id == message.chat.id else None


def conversation_of(message: telegram.Message, recent: RecentMessages) -> Conversation:
    """The conversation of a message; what was not heard is left out."""
    parents, is_comment = _parents(message, recent)
    before = recent.before(message, MAX_MESSAGES)
    thread = arranged(message.message_id, [*_remarks(parents), *_title(message)], _remarks(before))
    if not parents:
        return Conversation(thread)
    holds_many = is_comment or message.is_topic_message
    root = None if holds_many else message.message_thread_id
    return Conversation(thread, str(root or parents[-1].message_id))


def _parents(message: telegram.Message, recent: RecentMessages) -> tuple[list[telegram.Message], bool]:
    """What a message answers, and what that answers, the nearest first; and whether all are below a channel's post."""
    parents: list[telegram.Message] = []
    parent = answered_by(recent.find(message.chat.id, message.message_id) or message) or answered_by(message)
    while parent is not None and len(parents) < MAX_MESSAGES:
        if parent.is_automatic_forward:
            return parents, True
        parents.append(parent)
        heard = recent.find(parent.chat.id, parent.message_id)
        parent = None if heard is None else answered_by(heard)
    return parents, False


def _title(message: telegram.Message) -> list[Remark]:
    """The title of the topic in which a message answers nothing, by who made the topic."""
    made = message.reply_to_message
    author = author_of(made) if made is not None and made.forum_topic_created is not None else None
    if made is None or made.forum_topic_created is None or author is None:
        return []
    return [Remark(made.message_id, author.id, made.forum_topic_created.name)]


def _remarks(messages: Iterable[telegram.Message]) -> list[Remark]:
    """What people said; bots belong to no conversation."""
    return [
        Remark(message.message_id, words.author_of(author.id, author.name)[0], words.text)
        for message in messages
        if (author := author_of(message)) is not None and (words := words_of(message))
    ]
