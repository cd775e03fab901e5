"""What makes a message a flagged post: who flags it, and the conversation around it.

The conversation has six messages at most, those that it answers and those just before it; those without words are left
out, and the flagged one is not repeated. Words that a person typed are a post of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from core.models import FlaggedPost, MessageWords, PostRef, Priority, ThreadMessage, Wish

MAX_MESSAGES: Final = 6


@dataclass(frozen=True, slots=True)
class Flag:
    """Who flags a post, by their id on the platform, how, how soon, and what they wish for."""

    by: str
    how: str
    priority: Priority
    wish: Wish = field(default_factory=Wish)


def post_from_elsewhere(ref: PostRef, text: str, flag: Flag, words: MessageWords | None = None) -> FlaggedPost:
    """Words that a person typed, as a post of its own that is not a message here (``is_from_elsewhere``).

    Its author is unknown, so the message's id is used again: two such posts are then not taken for one person's.

    Args:
        ref: where the words were typed, under an id that the platform never gives to a message.
        words: the same words by their parts, where they are those of a message elsewhere.
    """
    nobody = f"unknown {ref.message}"
    parts, wish = words or MessageWords(), flag.wish
    return FlaggedPost(
        ref, text, nobody, flag.by, flag.how, (), flag.priority, wish=wish, is_from_elsewhere=True, words=parts
    )


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


def flagged(
    ref: PostRef,
    words: MessageWords,
    author: tuple[str, str],
    flag: Flag,
    around: Conversation | None,
    *,
    revision: str,
    is_late: bool = False,
) -> FlaggedPost:
    """A message as a flagged post; of a private one (``around`` is ``None``) nothing but the message itself.

    Args:
        author: the id and the name of whoever wrote it (``MessageWords.author_of``).
    """
    id_, name = author
    if around is None:
        return FlaggedPost(ref, words.text, id_, flag.by, flag.how, (), flag.priority, is_private=True)
    return FlaggedPost(
        ref,
        words.text,
        id_,
        flag.by,
        flag.how,
        around.thread,
        flag.priority,
        root=around.root,
        wish=flag.wish,
        revision=revision,
        author_name=name,
        is_late=is_late,
        words=words,
    )


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
