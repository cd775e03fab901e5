"""A community inside this process, for the first run, for shadow mode and for tests: posts, and the replies under them.

It behaves as a real chat platform does, and passes the same conformance suite.

Its thread is an ordinary afternoon on a town's server, with three hateful posts in it. All texts are invented. The
hateful ones are mild in wording, name no person and hold no slur, and make a claim that evidence can answer. Only under
the last one does a prepared reply surely fit: it says one plain thing of one people. Most posts are not like that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from adapters.common.words.errors import check_length
from core.desk.rules.approval import ApprovedReply
from core.desk.rules.case_cards import InPublic
from core.desk.rules.policy import CommunityPolicy
from core.errors import BadInput, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import FlaggedPost, PostRef, SentReply, ThreadMessage

SAMPLE_FLAGS: Final[tuple[str, str, str]] = ("103", "105", "107")
_ACCOUNT: Final = "antiphon"
_CHANNEL: Final = "town-square"
_THREAD_LENGTH: Final = 6
_KEYS_KEPT: Final = timedelta(seconds=600)
_RETRACTABLE: Final = timedelta(hours=48)


@dataclass(frozen=True, slots=True)
class SamplePost:
    """A message of the sample community; ``in_reply_to`` is the id of the one that it answers."""

    id: str
    author: str
    text: str
    in_reply_to: str | None = None


SAMPLE_THREAD: Final[tuple[SamplePost, ...]] = (
    SamplePost(
        "101",
        "ferry_rower",
        "Reminder: on Saturday the market stands on the old quay, because the square is being repaved.",
    ),
    SamplePost("102", "tinkers_lane", "Thanks! Does anybody know whether the cheese stall will be there?", "101"),
    SamplePost(
        "103",
        "north_gate_74",
        "Enjoy the market while it lasts. The harbour hostel is full of migrants again, and they only come here to "
        "live off our welfare. They take and take and never pay a cent into the pot.",
    ),
    SamplePost(
        "104",
        "mill_pond",
        "The cheese stall opens at eight. The library also needs two more people for Thursday's reading hour, "
        "if anyone has time!",
        "102",
    ),
    SamplePost(
        "105",
        "grey_heron",
        "So the bakery has hired somebody in a wheelchair. Good luck with that. Disabled people cannot do a proper "
        "day's work, they only cost an employer money and everybody else has to carry them.",
    ),
    SamplePost("106", "rye_and_salt", "I can do the reading hour. Should I bring my own books?", "104"),
    SamplePost(
        "107",
        "slate_roof",
        "If you go to the market, lock your bikes: the Roma are back behind the mill. Roma people are thieves, all of "
        "them.",
    ),
    SamplePost(
        "108",
        "ferry_rower",
        "Bring one that you like, the shelves have the rest. And it will rain on Saturday, so bring boots too.",
        "106",
    ),
)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SampleCommunity:
    """One channel of an invented town's server; implements ``core.desk.rules.platforms.ChatPlatform``.

    Args:
        posts: the messages that are there at the beginning.
        name: the ``PostRef.platform`` of its posts.
        community: the ``PostRef.community`` of its posts.
        clock: gives the time of a new reply, aware.
        max_characters: the longest reply that it takes, in Unicode code points.
    """

    def __init__(
        self,
        posts: Sequence[SamplePost] = SAMPLE_THREAD,
        *,
        name: str = "sample",
        community: str = "brenmoor",
        clock: Callable[[], datetime] = _utc_now,
        max_characters: int = 500,
    ) -> None:
        self._name, self._community = name, community
        self._posts = {post.id: post for post in posts}
        self._clock = clock
        self._max_characters = max_characters
        self._sent: dict[str, SentReply] = {}
        self._slow_until: datetime | None = None
        self._next_id = 1 + max((int(post.id) for post in posts if post.id.isdecimal()), default=100)
        self._is_closed = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def community(self) -> str:
        """The ``PostRef.community`` of its posts."""
        return self._community

    @property
    def max_characters(self) -> int:
        """The longest reply that it takes, in Unicode code points."""
        return self._max_characters

    @property
    def resend_seconds(self) -> float:
        """Half of the time that keys are kept."""
        return _KEYS_KEPT.total_seconds() / 2

    def ref(self, message_id: str) -> PostRef:
        return PostRef(self._name, self._community, _CHANNEL, message_id)

    def thread(self) -> tuple[SamplePost, ...]:
        """All messages that are there now, oldest first."""
        return tuple(self._posts.values())

    def add(
        self, author: str, text: str, in_reply_to: str | None = None, *, message_id: str | None = None
    ) -> SamplePost:
        """Add a message as if a person had written it, under the next number or an id of the caller's own.

        Raises:
            BadInput: there is a message of this id.
        """
        if message_id in self._posts:
            raise BadInput(f"There is a message {message_id} already.", remedy="Give it another id.")
        post = SamplePost(message_id or str(self._next_id), author, text, in_reply_to)
        self._next_id += message_id is None
        self._posts[post.id] = post
        return post

    def edit(self, message_id: str, text: str) -> None:
        """Change a message as its author; ``BadInput`` if it is not there."""
        self._posts[message_id] = replace(self._standing(message_id), text=text)

    def delete(self, message_id: str) -> None:
        """Take a message away; ``BadInput`` if it is not there."""
        del self._posts[self._standing(message_id).id]

    def slow_down(self, seconds: float) -> None:
        """Refuse every reply and every removal for a while."""
        self._slow_until = self._clock() + timedelta(seconds=seconds)

    def flag(self, message_id: str, by: str) -> FlaggedPost:
        """A message in the form in which a person flags it, for ``Intake.take_flag``.

        Raises:
            BadInput: there is no such message.
            PlatformUnavailable: the community is closed.
        """
        self._check_open()
        post = self._standing(message_id)
        before, root = self._before(post.id), self._root(post)
        return FlaggedPost(self.ref(post.id), post.text, post.author, by, "by hand", before, root=root)

    async def read(self, ref: PostRef) -> str | None:
        """The message's text as it reads now, or ``None`` if it is gone."""
        self._check_open()
        post = self._find(ref)
        return None if post is None else post.text

    def check(self, ref: PostRef, text: str, quote: str, policy: CommunityPolicy) -> None:
        """Refuse a text that is too long, with ``TextRefused``; everybody reads every message."""
        check_length(len(text), self._max_characters)

    async def in_public(self, ref: PostRef, text: str) -> InPublic:
        """The approved text and nothing else."""
        audience = sentence("Nobody but the people at this dashboard can read it: the community is invented.")
        return InPublic(text, account=_ACCOUNT, audience=audience)

    async def post(self, reply: ApprovedReply) -> SentReply:
        """Post exactly ``reply.text``; a key of the last ten minutes gives the reply that it made.

        Raises:
            PlatformBusy: the community was slowed down.
            PlatformUnavailable: the text is too long, or the post that it answers is gone.
        """
        self._check_open()
        self._check_speed()
        check_length(len(reply.text), self._max_characters)
        earlier = self._sent.get(reply.key)
        if earlier is not None and self._clock() - earlier.posted_at < _KEYS_KEPT:
            return earlier
        if self._find(reply.in_reply_to) is None:
            raise PlatformUnavailable("The post that the reply answers is gone.", remedy="Close the case.")
        message = self.add(_ACCOUNT, reply.text, reply.in_reply_to.message)
        self._sent[reply.key] = SentReply(self.ref(message.id), self._clock())
        return self._sent[reply.key]

    async def find_reply(self, reply: ApprovedReply) -> SentReply | None:
        self._check_open()
        posted = self._sent.get(reply.key)
        return posted if posted is not None and self._find(posted.ref) is not None else None

    async def retract(self, ref: PostRef) -> None:
        """Take one of Antiphon's replies away.

        Raises:
            PlatformBusy: the community was slowed down.
            PlatformUnavailable: the message is not Antiphon's, or is older than 48 hours.
        """
        self._check_open()
        self._check_speed()
        if self._find(ref) is None:
            return
        posted = next((posted for posted in self._sent.values() if posted.ref == ref), None)
        if posted is None:
            raise PlatformUnavailable("This message is not Antiphon's.", remedy="Ask its author.")
        if self._clock() - posted.posted_at > _RETRACTABLE:
            raise PlatformUnavailable("The reply is older than 48 hours.", remedy="Delete it as a moderator.")
        del self._posts[ref.message]

    async def close(self) -> None:
        """Refuse everything from now on. Closing twice does no harm."""
        self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise PlatformUnavailable("The sample community is closed.", remedy="Start Antiphon again.")

    def _check_speed(self) -> None:
        left = 0.0 if self._slow_until is None else (self._slow_until - self._clock()).total_seconds()
        if left > 0:
            raise PlatformBusy("The sample community is slowed down.", remedy="Wait.", retry_after_seconds=left)

    def _find(self, ref: PostRef) -> SamplePost | None:
        return self._posts.get(ref.message) if ref == self.ref(ref.message) else None

    def _standing(self, message_id: str) -> SamplePost:
        if message_id not in self._posts:
            ids = ", ".join(self._posts)
            raise BadInput(f"There is no message {message_id}.", remedy=f"Take one of {ids}.")
        return self._posts[message_id]

    def _before(self, message_id: str) -> tuple[ThreadMessage, ...]:
        """The messages just before this one, oldest first."""
        ids = list(self._posts)
        earlier = ids[: ids.index(message_id)][-_THREAD_LENGTH:]
        return tuple(ThreadMessage(self._posts[other].author, self._posts[other].text) for other in earlier)

    def _root(self, post: SamplePost) -> str:
        """The id of the earliest message of the conversation that is still there."""
        while post.in_reply_to in self._posts:
            post = self._posts[post.in_reply_to]
        return post.id
