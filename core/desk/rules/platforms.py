"""What the application needs of a platform where people talk, as Protocols, and the values that pass between them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from core.desk.rules.approval import ApprovedReply, CaseState
from core.desk.rules.case_cards import Card, InPublic
from core.desk.rules.policy import CallKind, CommunityPolicy
from core.desk.rules.roles import Role
from core.models import PostRef, SentReply


class ChatPlatform(Protocol):
    """A place where people talk. Every adapter passes the conformance suite of ``tests/conformance.py``.

    An adapter gives every flagged post to ``Casework.intake``, whether a person or a filter found it. It tells people
    that the post was taken in only after that call has returned.
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
        """The post's text now, or ``None`` if it is gone.

        Raises:
            TextHidden: the post exists, but we may not see its words; ``revision`` tells whether it was edited.
            NeverShownAgain: the platform has no way to ask, ever. Such an adapter must give every edit and deletion
                that it hears of to ``Casework.original_changed``, and its ``post`` must fail where the post is gone.
            PlaceClosed: the place is closed to us, and stays so until somebody changes that.
            PlatformUnavailable: the platform cannot be asked.
        """
        ...

    @property
    def resend_seconds(self) -> float:
        """How long after its first send a reply may be sent again: within that time the same ``key`` posts once.

        0 where the platform knows no keys. Shorter than what the platform promises, since the clocks differ.
        """
        ...

    def check(self, ref: PostRef, text: str, quote: str, policy: CommunityPolicy) -> None:
        """Refuse what would certainly not be posted under a post, by what is known without asking the platform.

        The desk asks when a text is proposed, when it is approved, and before it is sent; ``post`` looks at the text
        once more.

        Args:
            text: the whole text, the sentence that discloses Antiphon included.
            quote: the words of the post above it; "" for none.
            policy: what the community set.

        Raises:
            TextRefused: the platform never takes this text, or would not show exactly these bytes.
            PlaceClosed: nothing can be posted there now, or not everybody can read it there.
        """
        ...

    async def in_public(self, ref: PostRef, text: str) -> InPublic:
        """All that everybody would see of an approved text under a post, by the function that makes what is posted.

        Raises:
            TextRefused: it is too long with what would stand around it.
            PlatformUnavailable: nobody can say it now; the text must not be offered to be approved.
        """
        ...

    async def post(self, reply: ApprovedReply) -> SentReply:
        """Post exactly ``reply.text`` as an answer, in the channel of the post that it answers.

        Within ``resend_seconds`` the same ``reply.key`` never posts twice. The adapter makes one request and lets no
        library repeat it, unless every repetition carries the key. Only the gate may call this.

        Raises:
            PlatformBusy: it was certainly not posted, and may be tried again later: a rate limit, or a server error
                before the body was taken.
            PlatformUnavailable: it was certainly not posted, and will not be.
            AmbiguousSend: it may have been posted.
        """
        ...

    async def find_reply(self, reply: ApprovedReply) -> SentReply | None:
        """Our reply, read back from the platform after an ambiguous send; ``None`` if it is not there.

        Raises:
            PlatformUnavailable: the platform cannot be asked, or has no history that a bot may read.
        """
        ...

    async def retract(self, ref: PostRef) -> None:
        """Remove a reply of Antiphon; it is not an error if it is already gone. Only the gate may call this.

        Raises:
            PlatformBusy: it is certainly still there; try again later.
            PlatformUnavailable: it is certainly still there and cannot be removed: it is not Antiphon's, or too old.
            AmbiguousSend: it may still be there.
        """
        ...

    async def close(self) -> None:
        """Release connections and other resources. Closing twice does no harm."""
        ...


class RoleSource(Protocol):
    """Who may do what in a community by the platform's own rights, such as people who may delete messages there."""

    async def roles(self, community: str, user: str) -> frozenset[Role]:
        """The roles that somebody has now; none for a person who has left.

        Args:
            community: the ``PostRef.community``.
            user: the platform's id of the person.

        Raises:
            PlatformUnavailable: the platform cannot be asked.
        """
        ...


@dataclass(frozen=True, slots=True)
class MessageLook:
    """What one look told of some messages; the others are looked for again."""

    standing: frozenset[PostRef]
    gone: frozenset[PostRef]


class ReviewSurface(Protocol):
    """Where the people of a platform review cases: cards in a channel of theirs."""

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, or replace the one that ``shown`` names; returns where the card is now.

        The card of an open case that stands in another channel is put up in ``channel``, and taken away there as far as
        that can be. It is shown again if it is gone, as is one that the platform lets nobody change any more;
        that of a closed case stays gone. Two calls for one case without ``shown``, within ``resend_seconds`` of the
        platform, show one card: a crash between showing a card and storing its place leaves no second card.

        Raises:
            CardCanWait: not this card now, which only tells of progress, since more urgent ones need the room.
            PlatformBusy: nothing in this community now; ``retry_after_seconds`` says when.
            CardRefused: not this card now.
            PlatformUnavailable: the channel is gone, closed to us, or open to everybody; the remedy is for the
                community's manager.
        """
        ...

    async def take_away(self, place: PostRef) -> None:
        """Delete a card that is shown somewhere else by now; one that cannot be deleted stays as it is."""
        ...

    def changed(self) -> Collection[str]:
        """The communities in which channels or rights changed since the last call, by ``PostRef.community``."""
        ...

    def unheard(self) -> Collection[str]:
        """The communities in which messages may have been deleted without a word to us since the last call.

        Those of a platform that was connected anew, without hearing what happened meanwhile.
        """
        ...

    async def look(self, cards: Sequence[PostRef]) -> MessageLook:
        """Look in one request which of our messages in one channel still stand; it tells of one of them at least.

        Raises:
            PlatformBusy: not now; ``retry_after_seconds`` says when.
            PlatformUnavailable: the channel is gone, or we may not read it.
        """
        ...

    async def check(self, community: str, channel: str) -> None:
        """Look whether cards may be shown in a channel, by what is known of it without asking the platform.

        The platform may be asked about a channel for a community of another platform.

        Raises:
            PlatformUnavailable: as ``show``.
        """
        ...

    def community_of(self, channel: str) -> str:
        """The ``PostRef.community`` that a channel belongs to; "" where we are in no such channel."""
        ...


@dataclass(frozen=True, slots=True)
class Notice:
    """One message about a case, as plain values. A notice holds no word of a post.

    Attributes:
        key: the same for the same notice, however often it is tried.
        kind: why a role is called; ``None`` tells one person: who approved, that their reply was not sent, or who
            flagged, the ``outcome``.
        card: where the card of the case is; for a flagger, who cannot see it, the post that they flagged.
        outcome: how the case ended, for a person who flagged the post.
        reason: why the reply was not sent; a sentence of Antiphon.
        language: the language that the community chose, as ISO 639-1; ``None`` for none.
    """

    key: str
    case_id: str
    community: str
    card: PostRef
    kind: CallKind | None = None
    outcome: CaseState | None = None
    reason: str = ""
    language: str | None = None


class Notifier(Protocol):
    """Short messages to the people who review, beside the cards. A platform that has none brings no notifier.

    Two calls for one ``Notice.key`` within a minute are one message.
    """

    async def call(self, notice: Notice, role: str) -> None:
        """Call the people with one role of the platform to a case, below its card. Nobody else is mentioned.

        Raises:
            PlatformUnavailable: certainly nobody was called.
            AmbiguousSend: they may have been called.
        """
        ...

    async def tell(self, notice: Notice, user: str) -> None:
        """Tell one person privately; where that cannot be, below the card, mentioning nobody else.

        An ``outcome`` is for a person who flagged: it is said privately or not at all.

        Raises:
            PlatformUnavailable: they were certainly not told.
            AmbiguousSend: they may have been told.
        """
        ...


@dataclass(frozen=True, slots=True)
class ArrivedUpdate:
    """An update as a platform sent it.

    Attributes:
        number: the platform's own number of it.
        payload: as it was sent; it may hold words of posts.
        lane: updates of one lane are handled in their order.
        is_urgent: it is handled before those that are not; somebody waits for an answer.
    """

    number: int
    payload: dict[str, Any]
    lane: str = ""
    is_urgent: bool = False


@dataclass(frozen=True, slots=True)
class WaitingUpdate:
    """An update that waits to be handled; it was committed at ``received_at``, and handed out at ``handed_out_at``."""

    update: ArrivedUpdate
    received_at: datetime
    handed_out_at: datetime


class UpdateInbox(Protocol):
    """The updates of one account on one platform, kept until they are dealt with.

    A platform may be told that it need not send an update again once ``keep`` has returned. A number that was kept in
    the last six days is not kept twice. Every call raises ``StoreUnavailable`` while the database does not answer.
    """

    async def keep(self, updates: Sequence[ArrivedUpdate], cursor: str | None = None) -> None:
        """Commit updates and where to go on asking, all or nothing.

        Args:
            cursor: what to ask for next, in the platform's own words; ``None`` leaves it, where the platform sends by
                itself.
        """
        ...

    async def cursor(self, within: timedelta | None = None) -> str | None:
        """What ``keep`` was last given to ask for next; ``None`` where it never was, or more than ``within`` ago."""
        ...

    async def waiting(self) -> Sequence[WaitingUpdate]:
        """The updates to handle now: urgent ones first, else in the order in which they came, and not all at once.

        Empty while another process hands them out.
        """
        ...

    async def done(self, number: int) -> None:
        """Record that an update was dealt with: its words are erased, its number is kept."""
        ...

    async def put_aside(self, number: int, *, is_known: bool) -> None:
        """Keep an update that nobody could deal with, for six days at most, and hand it out no more.

        Args:
            is_known: whether its kind is known, and handling it failed.
        """
        ...

    async def release(self) -> None:
        """Let another process hand out what waits."""
        ...
