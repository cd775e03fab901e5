"""How Telegram's messages, and their edits, are named in Antiphon: ``PostRef`` and Telegram's numbers."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

import telegram
from telegram.constants import MessageEntityType

from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef

NAME: Final = "telegram"
"""``PostRef.platform`` of Telegram's posts."""

HOST: Final = "t.me"
_UNEDITED: Final = "unedited"
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class MessageNumbers:
    """A message as Telegram numbers it: in a chat, and a topic of it (``None`` outside topics)."""

    chat: int
    topic: int | None
    message: int


def numbers_of(ref: PostRef) -> MessageNumbers:
    """Where a post is.

    Raises:
        PlatformUnavailable: it is not a message on Telegram. Ephemeral messages all have the number 0, so that number
            names none.
    """
    chat, _, topic = ref.channel.partition("/")
    is_named = ref.platform == NAME and _is_number(chat.removeprefix("-")) and _is_number(ref.message)
    if not is_named or (topic and not _is_number(topic)) or int(ref.message) <= 0:
        raise PlatformUnavailable(
            sentence("This is not a message on Telegram."), remedy=sentence("Flag the post again.")
        )
    return MessageNumbers(int(chat), int(topic) if topic else None, int(ref.message))


def channel_of(chat_id: int, topic: int | None = None) -> str:
    return f"{chat_id}/{topic}" if topic else str(chat_id)


def ref_of(chat_id: int, message_id: int, topic: int | None = None) -> PostRef:
    """How a message is named: its community is the chat, its channel the chat or the topic.

    Raises:
        ValueError: the number is not positive; that of an ephemeral message is 0 and names nothing.
    """
    if message_id <= 0:
        raise ValueError("A message without a number of its own cannot be named.")
    return PostRef(NAME, str(chat_id), channel_of(chat_id, topic), str(message_id))


def topic_of(message: telegram.Message) -> int | None:
    """The topic that a message is in; ``None`` outside topics."""
    return message.message_thread_id if message.is_topic_message else None


def carried_to(message: telegram.Message, own_id: int) -> str:
    """What the link at the beginning of our own message carries that this one answers; "" where it answers no such."""
    asked = message.reply_to_message
    if asked is None or asked.from_user is None or asked.from_user.id != own_id or not asked.entities:
        return ""
    first = asked.entities[0]
    if first.type != MessageEntityType.TEXT_LINK or first.offset != 0 or not first.url:
        return ""
    address = urlsplit(first.url)
    return parse_qs(address.query).get("start", [""])[0] if address.netloc == HOST else ""


def revision_of(message: telegram.Message) -> str:
    """The ``FlaggedPost.revision`` of a message: when its author last edited it."""
    return _UNEDITED if message.edit_date is None else message.edit_date.isoformat()


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def base36(number: int) -> str:
    """A number that is not negative, in as few characters as ``int(text, 36)`` reads."""
    digits = ""
    while number:
        number, last = divmod(number, 36)
        digits = _DIGITS[last] + digits
    return digits or "0"
