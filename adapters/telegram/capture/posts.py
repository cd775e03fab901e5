"""Which messages of Telegram may become cases, and what is kept of one.

Owns what is private: everything but the groups that everybody can find by a public name, and those whose managers chose
a place for review. In such a group every member reads every post, as in a server of another platform. Private chats,
channels and the private messages to a channel are never taken from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import telegram
from telegram.constants import ChatType

from core.errors import BadInput, NotAllowed
from core.i18n.catalogs import gettext
from core.moderation.community.policy import CommunityPolicy

AnyChat: TypeAlias = telegram.Chat | telegram.ChatFullInfo
"""A chat as messages name it, or as Telegram tells of it when it is asked."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a message: a person, or a channel in whose name a person wrote; as Telegram knows and shows them."""

    id: str
    name: str


def words_of(message: telegram.Message) -> str:
    """What a message says: its text, or the caption of its picture or video."""
    return message.text or message.caption or ""


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
                "A group without a public name is private until its managers have set Antiphon up with /setup. Report "
                "the message to the moderators, and stand by the person it was sent to.",
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
    if message.message_id <= 0 or not words_of(message).strip():
        raise BadInput(
            gettext("This message has no words that Antiphon can read.", locale),
            remedy=gettext("Pictures, videos and voices are not read: type what they say behind /counter.", locale),
        )
    return author


def _why_nobody(message: telegram.Message, own_id: str, locale: str) -> str:
    user, channel = message.from_user, message.sender_chat
    if user is not None and str(user.id) == own_id:
        return gettext("This message is Antiphon's own.", locale)
    if message.is_automatic_forward:
        return gettext("This is a post of the group's own channel.", locale)
    if channel is not None:
        return gettext("An administrator wrote this message in the group's name: nobody can tell which person.", locale)
    return gettext("No person wrote this message: bots and system messages are not answered.", locale)
