"""How a post is flagged: by a person, by a machine, or as words that a person types."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.models import FlaggedPost, MessageWords, PostRef, Priority, Wish


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
