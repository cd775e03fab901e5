"""The sample community behaves as a platform does, and its thread is what the first run needs."""

import pytest

from adapters.sample import SAMPLE_FLAGS, SAMPLE_THREAD, SampleCommunity
from core.desk.rules.approval import ApprovedReply
from core.desk.rules.platforms import ChatPlatform
from core.errors import AmbiguousSend, BadInput, PlatformUnavailable
from core.models import FlaggedPost, PostRef, SentReply
from tests.conformance import PlatformConformance, PlatformHarness, reply_to
from tests.fakes.machine.clock import FakeClock


class _LossyCommunity(SampleCommunity):
    """Loses one answer: ``next_arrives`` says whether the call itself arrives; ``None`` for a good line."""

    next_arrives: bool | None = None
    next_removal_arrives: bool | None = None

    async def retract(self, ref: PostRef) -> None:
        arrives, self.next_removal_arrives = self.next_removal_arrives, None
        if arrives is not False:
            await super().retract(ref)
        if arrives is not None:
            raise AmbiguousSend("The answer was lost.")

    async def post(self, reply: ApprovedReply) -> SentReply:
        arrives, self.next_arrives = self.next_arrives, None
        if arrives is None:
            return await super().post(reply)
        if arrives:
            await super().post(reply)
        raise AmbiguousSend("The answer was lost.")


class _SampleHarness(PlatformHarness):
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.community = _LossyCommunity(posts=(), clock=self.clock)
        self.platform: ChatPlatform = self.community

    async def create_post(self, author: str, text: str) -> PostRef:
        return self.community.ref(self.community.add(author, text).id)

    async def flag(self, ref: PostRef, by: str) -> FlaggedPost:
        return self.community.flag(ref.message, by)

    async def edit(self, ref: PostRef, text: str) -> None:
        self.community.edit(ref.message, text)

    async def delete(self, ref: PostRef) -> None:
        self.community.delete(ref.message)

    async def replies_to(self, ref: PostRef) -> list[str]:
        return [post.text for post in self.community.thread() if post.in_reply_to == ref.message]

    async def lose_next_answer(self, *, arrives: bool) -> None:
        self.community.next_arrives = arrives

    async def lose_next_removal(self, *, arrives: bool) -> None:
        self.community.next_removal_arrives = arrives

    async def be_busy(self, seconds: float) -> None:
        self.community.slow_down(seconds)

    async def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)


class TestSampleCommunity(PlatformConformance):
    @pytest.fixture
    async def harness(self) -> PlatformHarness:
        return _SampleHarness()


async def test_a_closed_community_refuses() -> None:
    """After the stop nothing can be posted any more."""
    community = SampleCommunity()
    await community.close()
    with pytest.raises(PlatformUnavailable):
        await community.post(reply_to(community.ref("103"), "We all live here."))
    with pytest.raises(PlatformUnavailable):
        community.flag("103", "mill_pond")


async def test_a_post_of_another_place_is_not_ours() -> None:
    """Message ids are unique in one channel only (invariant I4)."""
    community = SampleCommunity()
    assert await community.read(PostRef("sample", "brenmoor", "another-channel", "103")) is None


async def test_a_deleted_reply_is_not_found() -> None:
    """What a moderator removed from the platform must not count as standing there."""
    community = SampleCommunity()
    reply = reply_to(community.ref("103"), "We all live here.")
    posted = await community.post(reply)
    community.delete(posted.ref.message)
    assert await community.find_reply(reply) is None


def test_an_unknown_message_is_refused_with_the_known_ones() -> None:
    """Who mistypes an id is told which ids there are."""
    with pytest.raises(BadInput) as caught:
        SampleCommunity().flag("999", "mill_pond")
    assert "103" in caught.value.remedy


def test_the_flagged_samples_stand_in_the_thread() -> None:
    """The first run flags these three; each must be there, and carry the thread before it."""
    community = SampleCommunity()
    assert len(SAMPLE_THREAD) == 8
    assert len(set(SAMPLE_FLAGS)) == 3
    for place, message_id in enumerate(SAMPLE_FLAGS, start=1):
        flagged = community.flag(message_id, "mill_pond")
        assert len(flagged.thread) == min(place * 2, 6)


def test_a_message_may_have_an_id_of_its_own() -> None:
    """One that no other message has; the numbers go on beside it."""
    community = SampleCommunity()
    assert community.add("mill_pond", "One.", message_id="own-1").id == "own-1"
    assert community.add("mill_pond", "Two.").id == "109"
    with pytest.raises(BadInput, match="own-1"):
        community.add("mill_pond", "Three.", message_id="own-1")
    assert community.flag("own-1", "mill_pond").text == "One."


async def test_a_key_is_forgotten_after_its_time() -> None:
    """As on a real platform: who sends again too late posts twice, so that a test of the outbox would show it."""
    clock = FakeClock()
    community = SampleCommunity(clock=clock)
    reply = reply_to(community.ref("103"), "We all live here.")
    first = await community.post(reply)
    clock.advance(2 * community.resend_seconds)
    assert (await community.post(reply)).ref != first.ref


async def test_an_old_reply_cannot_be_retracted() -> None:
    """As on a platform that lets nobody delete what is older than two days."""
    clock = FakeClock()
    community = SampleCommunity(clock=clock)
    posted = await community.post(reply_to(community.ref("103"), "We all live here."))
    clock.advance(48 * 3600 + 1)
    with pytest.raises(PlatformUnavailable, match="48 hours"):
        await community.retract(posted.ref)


def test_a_flag_names_the_message_that_began_the_conversation() -> None:
    """One conversation gets one reply: the id is that of the topmost message, the post's own where it began one."""
    community = SampleCommunity()
    answer = community.add("slate_roof", "So what?", "108")
    assert community.flag(answer.id, "mill_pond").root == "101"
    assert community.flag("103", "mill_pond").root == "103"
