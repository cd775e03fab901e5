"""What is let through of what people write, without a platform."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from adapters.common.capture import watch
from adapters.common.capture.flagged_posts import Flag
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.watch import ChannelWatch, LookedAt, Sighting, is_about
from adapters.common.desk_access import DeskAccess
from core.desk.review.casework import Casework
from core.desk.rules.careful_watch import FindLabel, WatchRecord
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Person, Role
from core.errors import NotAllowed, StoreUnavailable
from core.models import FlaggedPost, MessageWords, Part, PartKind, PostRef, Priority, TargetGroup
from tests.fakes.machine.clock import let_pass
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.machine.threads import Threads
from tests.fakes.ports.flag_desk import FlagDesk
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.ports.word_detector import FOREIGN, WordDetector

START = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
HATE = "they are vermin"
VOLUNTEER = Person("plain", "5", "Ane")


@dataclass(frozen=True)
class Remarked:
    """A ``Sighting``: somebody said something in the square."""

    text: str = HATE
    number: int = 1
    is_by_person: bool = True
    is_private: bool = False
    written_at: datetime = START + timedelta(minutes=1)

    @property
    def ref(self) -> PostRef:
        return PostRef("plain", "town", "square", str(self.number))

    @property
    def may_have_words(self) -> bool:
        return bool(self.text)

    async def words(self) -> MessageWords:
        return MessageWords.of([Part(PartKind.OWN, self.text)])

    async def post(self, flag: Flag) -> FlaggedPost:
        return FlaggedPost(self.ref, self.text, "slate_roof", flag.by, flag.how, (), flag.priority)


@dataclass(frozen=True)
class Aside(Remarked):
    """Somebody said something in a thread of the square."""

    @property
    def ref(self) -> PostRef:
        return PostRef("plain", "town", "thread", str(self.number))


class Square:
    """A watched square, and the desk that is given what is found."""

    def __init__(self) -> None:
        self.threads = Threads()
        self.governance = FakeGovernance()
        self.governance.policies["town"] = CommunityPolicy(watched_channels=("square",), review_channel="room")
        self.governance.grant(5, Role.VOLUNTEER)
        self.desk, self.detector, self.known = FlagDesk(), WordDetector(), KnownPosts(START)
        access = DeskAccess("plain", cast(Casework, self.desk), self.governance)
        self.watching = ChannelWatch(access, self.known, lambda: "us", self.detector, again_seconds=0)

    async def hear(self, *said: Remarked) -> list[tuple[str, str, Priority]]:
        """Let these be written; what was flagged: its words, how it was found, how soon it is drafted."""
        for one in said:
            await self.watching.written(one, "square")
        await self.settle()
        return [(post.text, post.flagged_how, post.priority) for post in self.desk.flagged]

    async def settle(self) -> None:
        """Let the lanes work, and what they leave to threads."""
        await self.threads.settle(20)


@pytest.fixture
async def square() -> AsyncIterator[Square]:
    """A new one; its lanes end with the test."""
    made = Square()
    yield made
    await made.watching.lanes.close()
    await made.watching.finds.close()
    await made.watching.looked_at.close()


async def test_what_the_filter_is_sure_of_is_flagged_as_found_by_us(square: Square) -> None:
    """And nothing else that was written there."""
    assert await square.hear(Remarked("good morning"), Remarked(number=2)) == [
        (HATE, "watched channel", Priority.DETECTED)
    ]
    assert square.desk.flagged[0].flagged_by == "us"


async def test_a_find_carries_its_score_and_what_a_person_flags_carries_none(square: Square) -> None:
    """So that what moderators say of it can be kept with it."""
    await square.hear(Remarked())

    async def find() -> Sighting | None:
        return Remarked(number=2)

    square.watching.reacted("town", "square", VOLUNTEER, find)
    await square.settle()
    assert [post.score for post in square.desk.flagged] == [0.99, None]


@pytest.mark.parametrize("compares", ["has_keyword", "is_about"])
async def test_while_a_text_is_compared_everything_else_goes_on(
    square: Square, monkeypatch: pytest.MonkeyPatch, compares: str
) -> None:
    """What a stranger writes is compared beside the event loop: a crafted text would hold up all that people do."""
    policy = CommunityPolicy(watched_channels=("square",), keywords=("scrubwort",), groups=(TargetGroup.MIGRANTS,))
    square.governance.policies["town"] = policy
    loop, compared = asyncio.get_running_loop(), list[bool]()

    def waiting(*_: object) -> bool:
        went_on = threading.Event()
        loop.call_soon_threadsafe(went_on.set)
        compared.append(went_on.wait(GUARD_SECONDS if threading.current_thread() is not main else 0))
        return True

    main = threading.current_thread()
    monkeypatch.setattr(watch, compares, waiting)
    await square.hear(Remarked())
    assert compared == [True]


async def test_in_a_language_that_the_filter_does_not_read_only_keywords_find(square: Square) -> None:
    """It stays silent, however hateful a text would look to it, and what it did not read is not counted."""
    square.governance.policies["town"] = CommunityPolicy(watched_channels=("square",), keywords=("scrubwort",))
    said = [Remarked(FOREIGN + HATE), Remarked(FOREIGN + "scrubwort", number=2), Remarked("good morning", number=3)]
    assert [how for _, how, _ in await square.hear(*said)] == ["keyword"]
    assert square.detector.read == ["good morning"]
    await square.watching.looked_at.tell()
    assert square.governance.counted == {"town": 1}


async def test_finds_that_moderators_called_not_hateful_make_the_filter_more_careful(square: Square) -> None:
    """A text like one of them is not found any more, a surer one still is; other communities ask for their own."""
    assert len(await square.hear(Remarked("they are rats"))) == 1
    square.governance.watched = WatchRecord((FindLabel(0.98, is_hateful=False),))
    assert len(await square.hear(Remarked("they are rats", number=2))) == 2, "it is remembered for half a minute"
    square.watching._desk.labels.forget("town")
    assert len(await square.hear(Remarked("they are rats", number=3), Remarked(number=4))) == 3
    assert square.desk.flagged[-1].text == HATE


async def test_an_ordinary_message_asks_the_desk_nothing_but_the_policy(square: Square) -> None:
    """And that once for all of them; the counts come in one call."""
    asked = list[str]()

    async def find_labels(platform: str, community: str) -> tuple[FindLabel, ...]:
        asked.append(community)
        return ()

    square.governance.find_labels = find_labels  # type: ignore[method-assign]
    await square.hear(*(Remarked(f"good morning {number}", number=number) for number in range(50)))
    assert (square.governance.asked, asked, square.governance.counted) == (1, [], {})
    await square.watching.looked_at.close()
    assert square.governance.counted == {"town": 50}


async def test_counts_wait_for_a_database_that_is_away(square: Square, caplog: pytest.LogCaptureFixture) -> None:
    """None is lost or counted twice."""
    await square.hear(Remarked("good morning"))
    square.governance.is_down = True
    await square.watching.looked_at.tell()
    square.governance.is_down = False
    await square.hear(Remarked("good evening", number=2))
    await square.watching.looked_at.tell()
    await square.watching.looked_at.close()
    assert square.governance.counted == {"town": 2}
    assert "wait for the database" in caplog.text


async def test_counts_are_told_now_and_then(square: Square) -> None:
    """Not one by one, and again after a time without any."""
    looked_at = LookedAt(square.watching._desk, every_seconds=0.0)
    for _ in range(2):
        looked_at.add("town")
        looked_at.add("town")
        await square.settle()
    assert square.governance.counted == {"town": 4}
    await looked_at.close()


async def test_a_keyword_needs_no_filter(square: Square) -> None:
    """It is looked for first."""
    square.governance.policies["town"] = CommunityPolicy(watched_channels=("square",), keywords=("vermin",))
    assert [how for _, how, _ in await square.hear(Remarked())] == ["keyword"]
    assert square.detector.read == []


@pytest.mark.parametrize("said", [Remarked(is_by_person=False), Remarked(""), Remarked(is_private=True)])
async def test_what_no_person_wrote_or_not_everybody_can_read_is_let_alone(square: Square, said: Remarked) -> None:
    """The filter never reads it."""
    assert await square.hear(said) == []
    assert square.detector.read == []


async def test_a_post_with_a_case_is_not_found_again(square: Square) -> None:
    """However often its event comes."""
    assert len(await square.hear(Remarked(), Remarked())) == 1


async def test_a_broken_filter_is_counted_and_ends_nothing(square: Square) -> None:
    """The next post is looked at again."""
    square.detector.is_broken = True
    assert await square.hear(Remarked()) == []
    square.detector.is_broken = False
    assert len(await square.hear(Remarked(number=2))) == 1
    assert square.watching.lanes.failed == 1


async def test_a_reaction_flags_for_who_may_flag_and_for_nobody_else(square: Square) -> None:
    """Their right is asked for before anything is read."""
    read = list[int]()

    async def find() -> Sighting | None:
        read.append(1)
        return Remarked()

    square.watching.reacted("town", "square", replace(VOLUNTEER, user="6"), find)
    await square.settle()
    assert read == []
    square.watching.reacted("town", "square", VOLUNTEER, find)
    await square.settle()
    (post,) = square.desk.flagged
    assert (post.flagged_by, post.flagged_how, post.priority) == ("5", "reaction", Priority.FLAGGED)


async def test_an_alert_counts_only_where_there_are_moderators(square: Square) -> None:
    """Without a review channel nobody would see the case; what has no words is no post."""
    looked = list[str]()

    async def find() -> Sighting | None:
        looked.append("once")
        return Remarked(" ")

    await square.watching.alerted("elsewhere", "square", "the platform's filter", find)
    await square.settle()
    assert looked == []
    await square.watching.alerted("town", "square", "the platform's filter", find)
    await square.settle()
    assert (looked, square.desk.flagged) == (["once"], [])


async def test_a_found_post_that_is_refused_ends_no_other(square: Square, caplog: pytest.LogCaptureFixture) -> None:
    """The reason is logged, without the words."""
    square.desk.errors.append(NotAllowed("Not this one."))
    assert len(await square.hear(Remarked(), Remarked(number=2))) == 1
    assert "Not this one." in caplog.text
    assert HATE not in caplog.text


async def test_what_was_found_is_flagged_although_the_work_ends(square: Square) -> None:
    """A stop lets it reach the desk."""
    square.desk.slow_seconds = 3600
    assert await square.hear(Remarked()) == []
    let_pass(3601)
    await square.watching.finds.close(within_seconds=GUARD_SECONDS)
    assert len(square.desk.flagged) == 1


async def test_a_look_can_be_waited_for(square: Square) -> None:
    """It ends once the message was read and a find's flag is committed; what is not looked at has no end."""
    policy = square.governance.policies["town"]
    square.desk.errors.append(StoreUnavailable("The database is away.", remedy="Wait."))
    look = square.watching.take_written(Remarked(), policy, "square")
    assert look is not None and not look.done()
    async with asyncio.timeout(GUARD_SECONDS):
        await look
    assert [post.text for post in square.desk.flagged] == [HATE]
    harmless = square.watching.take_written(Remarked("good morning", number=2), policy, "square")
    assert harmless is not None
    await harmless
    assert square.detector.read == [HATE, "good morning"]
    for said, channel in ((Remarked(), "square"), (Remarked(number=3), "another"), (Remarked("", number=4), "square")):
        assert square.watching.take_written(said, policy, channel) is None


async def test_a_look_that_is_given_up_ends_as_cancelled(square: Square) -> None:
    """As does that of a find whose flag was not committed: both are to be looked at again."""
    policy = square.governance.policies["town"]
    square.desk.slow_seconds = square.detector.slow_seconds = 3600.0
    looks = [square.watching.take_written(Remarked(number=number), policy, "square") for number in range(2)]
    keyword = replace(policy, keywords=("vermin",))
    looks.append(square.watching.take_written(Aside(number=3), keyword, "square"))
    await square.settle()
    await square.watching.lanes.close()
    await square.watching.finds.close()
    ended = await asyncio.gather(*filter(None, looks), return_exceptions=True)
    assert [type(end) for end in ended] == [asyncio.CancelledError] * 3


async def test_no_more_looks_wait_than_there_is_room_for(square: Square) -> None:
    """What is over it is counted, and has no end to wait for."""
    square.watching = ChannelWatch(square.watching._desk, square.known, lambda: "us", square.detector, most_waiting=2)
    policy = square.governance.policies["town"]
    said = [Remarked("good morning", number=number) for number in range(3)]
    looks = [square.watching.take_written(one, policy, "square") for one in said]
    assert [look is not None for look in looks] == [True, True, False]
    assert square.watching.lanes.left_out == 1


@pytest.mark.parametrize(
    ("text", "groups", "is_looked_at"),
    [
        ("Muslims lie", (), True),
        ("Muslims lie", (TargetGroup.MUSLIMS,), True),
        ("Muslims lie", (TargetGroup.WOMEN,), False),
        ("Muslims lie", (TargetGroup.OTHER,), False),
        ("my neighbours lie", (TargetGroup.OTHER,), True),
        ("my neighbours lie", (TargetGroup.WOMEN,), False),
    ],
)
def test_the_groups_that_are_looked_out_for_decide_what_the_filter_reads(
    text: str, groups: tuple[TargetGroup, ...], is_looked_at: bool
) -> None:
    """None for all; others are those that no word names."""
    assert is_about(text, groups) is is_looked_at


async def test_a_reaction_can_be_waited_for(square: Square) -> None:
    """The flag is committed when the call returns; what cannot be flagged is counted."""
    told: list[MessageWords] = []

    async def tell(words: MessageWords) -> None:
        told.append(words)

    async def find() -> Sighting | None:
        return Remarked()

    async def find_nothing() -> Sighting | None:
        return None

    async def find_a_picture() -> Sighting | None:
        return Remarked(text=" ")

    assert await square.watching.take_reaction("town", VOLUNTEER, find, "reaction", tell)
    assert [(post.text, post.flagged_how) for post in square.desk.flagged] == [(HATE, "reaction")]
    for other in (find_nothing, find_a_picture):
        assert not await square.watching.take_reaction("town", VOLUNTEER, other, "reaction", tell)
    assert not await square.watching.take_reaction("town", Person("plain", "6", "Bo"), find, "reaction", tell)
    assert told == [MessageWords()], "only who may flag, and only of a message that is there"
    square.desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Wait."))
    with pytest.raises(StoreUnavailable):
        await square.watching.take_reaction("town", VOLUNTEER, find, "reaction", tell)


async def test_a_members_reaction_counts_where_members_may_flag(square: Square) -> None:
    """As with a command: each of them counts, and the post is a case once enough did."""

    async def tell(words: MessageWords) -> None:
        raise AssertionError(words)

    async def find() -> Sighting | None:
        return Remarked()

    mia, bo = Person("plain", "6", "Mia"), Person("plain", "7", "Bo")
    assert not await square.watching.take_reaction("town", mia, find, "reaction", tell)
    assert square.desk.members == []
    square.governance.policies["town"] = replace(square.governance.policies["town"], members_flag=True)
    square.watching._desk.policies.forget("town")
    for person in (mia, bo):
        assert await square.watching.take_reaction("town", person, find, "reaction", tell)
    assert square.desk.members == ["6", "7"]
    assert [post.flagged_by for post in square.desk.flagged] == ["7"], "two had to flag it"
