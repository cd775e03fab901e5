"""What the application needs of a platform where people talk, as Protocols.

Owns the shapes of these ports. Knows no platform.
"""

from __future__ import annotations

from typing import Protocol

from core.models import Posted, PostRef
from core.moderation.approval import ApprovedReply
from core.moderation.cards import Card
from core.moderation.roles import Role


class ChatPlatform(Protocol):
    """A place where people talk. Every adapter passes the conformance suite of ``tests/conformance.py``.

    An adapter gives every flagged post to ``Casework.flag``, whether a person or a filter found it. Only when that has
    returned does it tell anybody that the post was taken in.
    """

    @property
    def name(self) -> str:
        """The ``PostRef.platform`` of its posts."""
        ...

    @property
    def max_characters(self) -> int:
        """The longest reply that it takes."""
        ...

    async def read(self, ref: PostRef) -> str | None:
        """The post's text as it stands now, or ``None`` if it is gone.

        Raises:
            TextHidden: it stands there, but its words are not for us; its ``revision`` tells whether it was edited.
            PlatformUnavailable: the platform cannot be asked.
        """
        ...

    @property
    def resend_seconds(self) -> float:
        """How long after its first send a reply may be sent again: in that time the same ``key`` posts once.

        0 where the platform knows no keys. Shorter than what the platform promises, since the clocks differ.
        """
        ...

    async def post(self, reply: ApprovedReply) -> Posted:
        """Post exactly ``reply.text`` as an answer, in the channel of the post that it answers.

        Within ``resend_seconds`` the same ``reply.key`` never posts twice. The adapter makes one request and lets no
        library repeat it, unless every repetition carries the key. Only ``bot.sending.gate`` may call this.

        Raises:
            PlatformBusy: it was certainly not posted, and may be tried again later: a rate limit, or a server error
                before the body was taken.
            PlatformUnavailable: it was certainly not posted, and will not be.
            AmbiguousSend: it may have been posted.
        """
        ...

    async def find_reply(self, reply: ApprovedReply) -> Posted | None:
        """Our reply, read back from the platform after an ambiguous send; ``None`` if it does not stand there.

        Raises:
            PlatformUnavailable: the platform cannot be asked, or has no history that a bot may read.
        """
        ...

    async def retract(self, ref: PostRef) -> None:
        """Take our own reply away; one that is gone already is no error. Only ``bot.sending.gate`` may call this.

        Raises:
            PlatformBusy: it certainly still stands; try again later.
            PlatformUnavailable: it certainly still stands, and cannot be taken away: it is not ours, or too old.
            AmbiguousSend: it may still stand.
        """
        ...

    async def close(self) -> None:
        """Give back what is held. Closing twice does no harm."""
        ...


class RoleSource(Protocol):
    """Who may do what in a community by the platform's own rights, such as who may delete messages there."""

    async def roles(self, community: str, user: str) -> frozenset[Role]:
        """The roles that somebody has now, none for who is not there any more.

        Args:
            community: the ``PostRef.community``.
            user: the platform's id of the person.

        Raises:
            PlatformUnavailable: the platform cannot be asked.
        """
        ...


class ReviewSurface(Protocol):
    """Where the people of a platform review cases: cards in a channel of theirs."""

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, or put its new form in place of the one that ``shown`` names; where it stands now.

        One that is gone is shown anew. Shown twice for one case without ``shown``, within ``resend_seconds`` of the
        platform, it stands once: a crash between showing and keeping the place leaves no second card.

        Raises:
            PlatformBusy: not now; ``retry_after_seconds`` says when.
            PlatformUnavailable: the channel is gone or closed to us; the remedy is for the community's manager.
        """
        ...
