"""Which messages of Telegram may become cases, and which words one holds, by whom.

Everything is private but the groups that everybody can find by a public name, and those whose managers chose a place
for review. In such a group every member reads every post, as in a server of another platform. Posts are never taken
from private chats, channels and the private messages to a channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import telegram
from telegram import MessageOriginChannel, MessageOriginChat, MessageOriginHiddenUser, MessageOriginUser
from telegram.constants import ChatType

from adapters.common.words.messages import no_words, type_it
from adapters.telegram.connection.client import UNREADABLE
from core.desk.rules.policy import CommunityPolicy
from core.errors import NotAllowed
from core.i18n.catalogs import gettext
from core.models import MessageWords, Part, PartKind, Unread, joined_parts

AnyChat: TypeAlias = telegram.Chat | telegram.ChatFullInfo
"""A chat as messages name it, or as Telegram tells of it when it is asked."""


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


_Holder: TypeAlias = telegram.Message | telegram.ExternalReplyInfo
"""What a poll or a checklist may stand in."""


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
