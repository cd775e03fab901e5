"""The conversation around a flagged message on Telegram, as far as it was heard.

Owns which message began it. A topic, and the comments below a channel's post, hold many conversations: there it is the
first message that is answered; elsewhere Telegram names it.
"""

from __future__ import annotations

from collections.abc import Iterable

import telegram

from adapters.common.capture.conversations import MAX_MESSAGES, Conversation, Remark, arranged
from adapters.telegram.capture.posts import author_of, words_of
from adapters.telegram.capture.recent_messages import RecentMessages


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
    found: list[telegram.Message] = []
    parent = answered_by(recent.find(message.chat.id, message.message_id) or message) or answered_by(message)
    while parent is not None and len(found) < MAX_MESSAGES:
        if parent.is_automatic_forward:
            return found, True
        found.append(parent)
        known = recent.find(parent.chat.id, parent.message_id)
        parent = None if known is None else answered_by(known)
    return found, False


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
