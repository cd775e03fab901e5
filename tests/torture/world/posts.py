"""The posts of the world, their copies in a raid, and what an engine says of them."""

from hashlib import sha256

from core.models import FlaggedPost, PostRef, Suggestion, ThreadMessage
from tests.fakes.desk.people import COMMUNITY, PLATFORM
from tests.fakes.engine.suggestions import suggestion_for


def author_of(number: int, copy: int = 0) -> str:
    return f"author-{number}-{copy}" if copy else f"author-{number}"


def said_in_thread(author: str) -> str:
    """What somebody said around another one's post; nobody else says it."""
    return f"So says {author} and nobody else."


def numbered_post(number: int, copy: int = 0, *, quotes: str | None = None) -> FlaggedPost:
    """One of the posts of the world; each has an author and a conversation of its own.

    Args:
        copy: from 1 on, a near-identical post of somebody else: what was copied, with one mark more for each.
        quotes: somebody who said something in the thread before.
    """
    name = f"post-{number}-{copy}" if copy else f"post-{number}"
    street = sha256(str(number).encode()).hexdigest()[:16]  # of two numbers, the posts are never near-identical
    text = f"Newcomers of street {street} should go." + "!" * copy
    thread = () if quotes is None else (ThreadMessage(quotes, said_in_thread(quotes)),)
    ref = PostRef(PLATFORM, COMMUNITY, "town-square", name)
    return FlaggedPost(ref, text, author_of(number, copy), "mill_pond", "by hand", thread)


def text_at(ref: PostRef) -> str | None:
    """The text of the numbered post that is there; ``None`` for any other message."""
    kind, number, *copy = ref.message.split("-")
    return numbered_post(int(number), *map(int, copy)).text if kind == "post" else None


def drafted(post: FlaggedPost, drafts: int) -> Suggestion:
    """What an engine says, with some drafts or none."""
    texts = ("Most newcomers work and pay taxes.", "Who told you that nobody pays in?")[:drafts]
    return suggestion_for(post, texts)
