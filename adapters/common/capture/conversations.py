"""The conversation around a flagged post: the messages that it answers, and those just before it.

Six messages at most; those without words are left out, and the flagged one is not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.models import ThreadMessage

MAX_MESSAGES: Final = 6


@dataclass(frozen=True, slots=True)
class Remark:
    """One message of a conversation; ids grow with time."""

    id: int
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is kept with a flagged post: the messages around it, oldest first, and the id of the first message."""

    thread: tuple[ThreadMessage, ...] = ()
    root: str = ""


def arranged(flagged: int, parents: Sequence[Remark], before: Sequence[Remark]) -> tuple[ThreadMessage, ...]:
    """The messages to keep, oldest first; messages that are answered have precedence over those merely nearby.

    Args:
        flagged: the id of the flagged message.
        parents: the messages that it answers, the nearest first.
        before: the messages before it in the channel, the latest first.
    """
    kept: dict[int, Remark] = {}
    for remark in (*parents, *before):
        if len(kept) < MAX_MESSAGES and remark.id != flagged and remark.text.strip():
            kept.setdefault(remark.id, remark)
    return tuple(ThreadMessage(remark.author, remark.text) for _, remark in sorted(kept.items()))
