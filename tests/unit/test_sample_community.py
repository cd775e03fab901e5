"""The sample community behaves as a platform does, and its thread is what the first run needs."""

from __future__ import annotations

import asyncio

import pytest

from adapters.sample.community import SampleCommunity
from adapters.sample.posts import SAMPLE_FLAGS, SAMPLE_THREAD
from core.errors import AmbiguousSend, BadInput, PlatformUnavailable
from core.models import Posted, PostRef
from core.ports import ChatPlatform
from core.review import ApprovedReply
from tests.conformance import PlatformConformance, PlatformHarness, reply_to


class _LossyCommunity(SampleCommunity):
    """Loses one answer: ``next_arrives`` says whether the send itself arrives; ``None`` for a good line."""

    next_arrives: bool | None = None

    async def post(self, reply: ApprovedReply) -> Posted:
        arrives, self.next_arrives = self.next_arrives, None
        if arrives is None:
            return await super().post(reply)
        if arrives:
            await super().post(reply)
        raise AmbiguousSend("The answer was lost.")


class _SampleHarness(PlatformHarness):
    def __init__(self) -> None:
        self.community = _LossyCommunity(posts=())
        self.platform: ChatPlatform = self.community

    async def create_post(self, author: str, text: str) -> PostRef:
        return self.community.ref(self.community.add(author, text).id)

    async def flag(self, ref: PostRef, by: str) -> None:
        self.community.flag(ref.message, by)

    async def edit(self, ref: PostRef, text: str) -> None:
        self.community.edit(ref.message, text)

    async def delete(self, ref: PostRef) -> None:
        self.community.delete(ref.message)

    async def replies_to(self, ref: PostRef) -> list[str]:
        return [post.text for post in self.community.thread() if post.in_reply_to == ref.message]

    async def lose_next_answer(self, *, arrives: bool) -> None:
        self.community.next_arrives = arrives


class TestSampleCommunity(PlatformConformance):
    @pytest.fixture
    async def harness(self) -> PlatformHarness:
        return _SampleHarness()


async def test_a_waiting_reader_is_ended_by_close() -> None:
    """The reader of flags waits when the stop comes; it must still come to its end."""
    community = SampleCommunity()
    reader = asyncio.create_task(_read_all(community))
    await asyncio.sleep(0)
    community.flag("103", "mill_pond")
    await community.close()
    assert await reader == ["103"]


async def _read_all(community: SampleCommunity) -> list[str]:
    return [post.ref.message async for post in community.flags()]


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
