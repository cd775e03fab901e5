"""Ephemeral commands: what one person in a group wrote for Antiphon alone. Their number in the chat is always 0."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import telegram

from adapters.telegram.connection.refs import topic_of


@dataclass(frozen=True, slots=True)
class Whispered:
    """An ephemeral command: its number among the ephemeral messages of a chat, which Telegram gives again later.

    Such a message has the number 0 among the chat's messages, so nothing can be named by that.
    """

    chat: int
    number: int
    topic: int | None
    written_at: datetime


def whispered(message: telegram.Message, raw: dict[str, Any]) -> Whispered | None:
    """What an ephemeral command is to be answered by; ``None`` for a message that others see.

    Args:
        raw: the message as Telegram sent it; the library does not know ephemeral messages.
    """
    number = raw.get("ephemeral_message_id")
    if not isinstance(number, int) or number <= 0:
        return None
    return Whispered(message.chat.id, number, topic_of(message), message.date)


def is_ephemeral(message: telegram.Message) -> bool:
    """Whether a message has no number of its own, so that it cannot be named, answered or deleted like others."""
    return message.message_id <= 0 or "ephemeral_message_id" in message.api_kwargs
