"""How somebody flags a post: by hand, by a machine, or with words of their own.

Owns the terms; what travels with a post of a platform is the adapter's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.models import FlaggedPost, PostRef, Priority, Wish


@dataclass(frozen=True, slots=True)
class Flag:
    """Who flags a post, by their id on the platform, how, how soon, and what they wish for."""

    by: str
    how: str
    priority: Priority
    wish: Wish = field(default_factory=Wish)


def post_from_elsewhere(ref: PostRef, text: str, flag: Flag) -> FlaggedPost:
    """Words that somebody typed, as a post of its own, which stands in no message (``is_from_elsewhere``).

    Its author is nobody known: the message's id again, so that two such posts are not taken for one person's.

    Args:
        ref: where the words were typed, under an id that the platform never gives to a message.
    """
    nobody = f"unknown {ref.message}"
    return FlaggedPost(ref, text, nobody, flag.by, flag.how, (), flag.priority, wish=flag.wish, is_from_elsewhere=True)
