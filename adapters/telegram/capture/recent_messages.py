"""The latest messages of the groups where Antiphon may read them, in memory and for an hour.

Telegram lets no bot fetch a message. The post that a reaction or a forwarded message points at, and the conversation
around a post, can therefore only be found among the messages that were heard. They are never written anywhere.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

import telegram
from telegram import MessageOriginChat, MessageOriginHiddenUser, MessageOriginUser

from adapters.common.capture.flagged_posts import MAX_MESSAGES, Conversation, Remark, arranged
from adapters.telegram.capture.posts import author_of, said_in, words_of
from adapters.telegram.connection.refs import topic_of

KEPT_SECONDS: Final = 3600.0
MOST_KEPT: Final = 5000


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
