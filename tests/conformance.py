"""What every chat platform must do, as one reusable suite.

An adapter's tests subclass ``PlatformConformance`` and give a ``harness``: the platform under test, and hands on the
other side of the wire, to write, flag, edit and delete posts as people do, to lose the answer of a call, to refuse
calls for a while, and to let time pass.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from core.desk.rules.approval import ApprovedReply, approve, text_hash
from core.desk.rules.platforms import ChatPlatform
from core.engine.wording.final_text import check_sendable
from core.errors import AmbiguousSend, BadInput, PlatformBusy, PlatformUnavailable
from core.models import Evidence, FlaggedPost, PostRef, Source
from tests.fakes.machine.patience import SEED

EXACT_TEXTS = {
    "mention": "@everyone and @here, please read this twice.",
    "markdown": "**Not** _true_: see `here` and [there](https://example.org/a?b=1&c=2) <b>now</b> ~~no~~",
    "bidi": "Read \u202ethis\u202c from \u2066left\u2069 \u05e9\u05dc\u05d5\u05dd \u0633\u0644\u0627\u0645",
    "unicode": "e\u0301 is not \u00e9; \U0001f469\u200d\U0001f680 \ufb01 \u00a0end",
    "lines": "first line\n\n  second line",
}

CITED: Final = "https://fra.europa.eu/en/publication/2023/being-black-eu"
PASSAGE: Final = Evidence("1", "Text.", "Text.", Source("FRA", "A survey", 2023, None, CITED))
_Sent = TypeVar("_Sent")


def drafts_of(plain: st.SearchStrategy[str], strange: st.SearchStrategy[str], most: int = 6) -> st.SearchStrategy[str]:
    """Drafts of up to nine plain pieces, or of one and up to ``most`` strange ones."""
    return st.one_of(plain, strange).flatmap(
        lambda first: st.builds(
            lambda glue, rest: glue.join([first, *rest]),
            st.sampled_from((" ", "", "\n")),
            st.one_of(st.lists(plain, max_size=8), st.lists(strange, max_size=most)),
        )
    )


def generated(most: int) -> Callable[[Any], Any]:
    """A test over examples that are the same in each run."""
    how = settings(
        max_examples=most,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    return lambda test: seed(SEED)(how(test))


def hold_for_drafts(
    drafts: st.SearchStrategy[str],
    most: int,
    post: Callable[[str], _Sent | None],
    check: Callable[[str, _Sent, bool], None],
) -> None:
    """Post each draft, and check what was sent, knowing whether it may be approved where ``CITED`` is a source.

    ``post`` gives ``None`` where nothing was sent. Of each of the three ends there are enough to tell something.
    """
    ends = Counter[str]()

    @generated(most)
    @given(drafts)
    def holds(draft: str) -> None:
        try:
            check_sendable(draft, (PASSAGE,))
        except BadInput:
            is_allowed = False
        else:
            is_allowed = True
        sent = post(draft) if draft.strip() else None
        ends["unsent" if sent is None else "allowed" if is_allowed else "refused"] += 1
        if sent is not None:
            check(draft, sent, is_allowed)

    holds()
    assert sum(ends.values()) >= most
    assert min(ends["allowed"], ends["refused"]) > most * 0.05, ends
    assert 0 < ends["unsent"] < most * 0.7, ends


class PlatformHarness(ABC):
    """The platform under test, and the hands of the people on it."""

    platform: ChatPlatform
    changed_by_the_platform: frozenset[str] = frozenset()
    """The keys of those ``EXACT_TEXTS`` that the platform's servers change, so that the adapter must refuse them."""

    async def text_of(self, ref: PostRef) -> str | None:
        """What stands there; as other people see it, where the platform shows no bot a post a second time."""
        return await self.platform.read(ref)

    async def found(self, reply: ApprovedReply) -> PostRef | None:
        """Where our reply stands; as other people see it, where the platform has no history for a bot."""
        posted = await self.platform.find_reply(reply)
        return None if posted is None else posted.ref

    @abstractmethod
    async def create_post(self, author: str, text: str) -> PostRef:
        """Somebody writes a post."""

    @abstractmethod
    async def flag(self, ref: PostRef, by: str) -> FlaggedPost:
        """Somebody flags a post: what the adapter gives to ``Casework.flag``."""

    def id_of(self, name: str) -> str:
        """The platform's id of somebody who has a name in a test."""
        return name

    @abstractmethod
    async def edit(self, ref: PostRef, text: str) -> None:
        """Its author changes a post."""

    @abstractmethod
    async def delete(self, ref: PostRef) -> None:
        """Somebody deletes a post."""

    @abstractmethod
    async def replies_to(self, ref: PostRef) -> list[str]:
        """The texts that stand as replies to a post, as other people see them."""

    @abstractmethod
    async def lose_next_answer(self, *, arrives: bool) -> None:
        """Lose the answer of the next send; the send itself arrives, or is lost as well."""

    @abstractmethod
    async def lose_next_removal(self, *, arrives: bool) -> None:
        """Lose the answer of the next retraction; the retraction itself arrives, or is lost as well."""

    @abstractmethod
    async def be_busy(self, seconds: float) -> None:
        """Refuse sends and retractions for so long, and say how long."""

    @abstractmethod
    async def pass_time(self, seconds: float) -> None:
        """Let time pass on the platform."""


def reply_to(ref: PostRef, text: str, approval_id: str = "approval-1", quote: str = "") -> ApprovedReply:
    """A reply that a moderator approved, below some words of the post or none."""
    return approve(
        approval_id=approval_id,
        in_reply_to=ref,
        text=text,
        shown_sha256=text_hash(text, quote),
        moderator="moderator_one",
        at=datetime(2026, 3, 2, tzinfo=UTC),
        quote=quote,
    )


def _window(harness: PlatformHarness) -> float:
    """How long the platform promises to know a key."""
    window = harness.platform.resend_seconds
    assert window >= 0
    if window == 0:
        pytest.skip("the platform knows no keys, and the outbox sends nothing twice there")
    return window


class PlatformConformance:
    """The suite. A subclass, or the file that holds it, brings a fixture ``harness``: the platform under test."""

    async def test_flags_come_through_whole(self, harness: PlatformHarness) -> None:
        """A moderator must see what was flagged, where, by whom, and what was said before it."""
        earlier = await harness.create_post("ferry_rower", "Good morning!")
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        flagged, by = await harness.flag(ref, "mill_pond"), harness.id_of("slate_roof")
        assert (flagged.ref, flagged.text, flagged.author) == (ref, "They do not belong here.", by)
        assert flagged.flagged_by == "mill_pond"
        assert flagged.flagged_how
        assert "Good morning!" in [message.text for message in flagged.thread]
        assert flagged.text not in [message.text for message in flagged.thread]
        assert ref.platform == earlier.platform == harness.platform.name
        assert ref != earlier

    @pytest.mark.parametrize("text", EXACT_TEXTS.values(), ids=EXACT_TEXTS.keys())
    async def test_read_gives_what_was_flagged(self, harness: PlatformHarness, text: str) -> None:
        """The outbox compares both by hash: a difference in form would block every reply."""
        ref = await harness.create_post("slate_roof", text)
        flagged = await harness.flag(ref, "mill_pond")
        assert await harness.text_of(ref) == flagged.text

    async def test_read_follows_edits(self, harness: PlatformHarness) -> None:
        """A reply to words that are no longer there must not be sent."""
        ref = await harness.create_post("slate_roof", "before")
        await harness.edit(ref, "after")
        assert await harness.text_of(ref) == "after"

    async def test_read_follows_deletions(self, harness: PlatformHarness) -> None:
        """A reply to nothing must not be sent."""
        ref = await harness.create_post("slate_roof", "before")
        await harness.delete(ref)
        assert await harness.text_of(ref) is None

    @pytest.mark.parametrize("name", EXACT_TEXTS)
    async def test_posts_exactly_the_approved_bytes(self, harness: PlatformHarness, name: str) -> None:
        """What stands on the platform is what the moderator approved, byte for byte, under the right post."""
        text = EXACT_TEXTS[name]
        other = await harness.create_post("ferry_rower", "Good morning!")
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        if name in harness.changed_by_the_platform:
            with pytest.raises(PlatformUnavailable):
                await harness.platform.post(reply_to(ref, text))
            assert await harness.replies_to(ref) == []
            return
        posted = await harness.platform.post(reply_to(ref, text))
        assert [shown.encode() for shown in await harness.replies_to(ref)] == [text.encode()]
        assert await harness.replies_to(other) == []
        assert await harness.text_of(posted.ref) == text
        assert posted.ref == replace(ref, message=posted.ref.message)
        assert posted.posted_at.tzinfo is not None

    async def test_says_whose_post_a_reply_would_be_and_who_could_read_it(self, harness: PlatformHarness) -> None:
        """Who approves it is shown both, beside the exact text."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        shown = await harness.platform.in_public(ref, "We all belong here.")
        assert shown.account.strip()
        assert "read it" in shown.audience

    @pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
    async def test_the_same_key_posts_once_in_the_whole_window(self, harness: PlatformHarness, share: float) -> None:
        """``resend_seconds`` is a promise: until it is over, whoever tries again makes no second post (I2)."""
        window = _window(harness)
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        first = await harness.platform.post(reply_to(ref, "We all live here."))
        await harness.pass_time(window * share)
        second = await harness.platform.post(reply_to(ref, "We all live here."))
        assert first.ref == second.ref
        assert await harness.replies_to(ref) == ["We all live here."]

    @pytest.mark.parametrize("arrives", [True, False])
    async def test_a_repetition_after_a_lost_answer_posts_once(self, harness: PlatformHarness, arrives: bool) -> None:
        """What the window is for: whether the first send arrived or not, one reply stands."""
        window = _window(harness)
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        await harness.lose_next_answer(arrives=arrives)
        with pytest.raises(AmbiguousSend):
            await harness.platform.post(reply_to(ref, "We all live here."))
        await harness.pass_time(window * 0.9)
        await harness.platform.post(reply_to(ref, "We all live here."))
        assert await harness.replies_to(ref) == ["We all live here."]

    async def test_a_busy_platform_posts_nothing_and_says_so(self, harness: PlatformHarness) -> None:
        """A rate limit is a certain no for now: the reply may be tried again after the pause, and stands once."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        await harness.be_busy(7.0)
        with pytest.raises(PlatformBusy) as caught:
            await harness.platform.post(reply_to(ref, "We all live here."))
        assert 0 < caught.value.retry_after_seconds <= 7
        assert await harness.replies_to(ref) == []
        await harness.pass_time(7.0)
        await harness.platform.post(reply_to(ref, "We all live here."))
        assert await harness.replies_to(ref) == ["We all live here."]

    async def test_our_reply_can_be_retracted(self, harness: PlatformHarness) -> None:
        """It is gone for everybody; what is gone already is no error, and nothing else is touched."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        kept = await harness.platform.post(reply_to(ref, "We all live here.", "approval-1"))
        posted = await harness.platform.post(reply_to(ref, "Most of us came from somewhere.", "approval-2"))
        await harness.platform.retract(posted.ref)
        await harness.platform.retract(posted.ref)
        assert await harness.replies_to(ref) == ["We all live here."]
        assert await harness.text_of(posted.ref) is None
        assert await harness.found(reply_to(ref, "Most of us came from somewhere.", "approval-2")) is None
        assert await harness.text_of(kept.ref) == "We all live here."

    async def test_what_others_wrote_is_not_retracted(self, harness: PlatformHarness) -> None:
        """Antiphon takes back its own words only, whatever a wrong id says."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        with pytest.raises(PlatformUnavailable):
            await harness.platform.retract(ref)
        assert await harness.text_of(ref) == "They do not belong here."

    async def test_a_busy_platform_retracts_nothing_and_says_so(self, harness: PlatformHarness) -> None:
        """The reply certainly stands, until the retraction is tried again."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        posted = await harness.platform.post(reply_to(ref, "We all live here."))
        await harness.be_busy(7.0)
        with pytest.raises(PlatformBusy):
            await harness.platform.retract(posted.ref)
        assert await harness.text_of(posted.ref) == "We all live here."
        await harness.pass_time(7.0)
        await harness.platform.retract(posted.ref)
        assert await harness.replies_to(ref) == []

    @pytest.mark.parametrize("arrives", [True, False])
    async def test_a_retraction_without_an_answer_is_said_to_be_one(
        self, harness: PlatformHarness, arrives: bool
    ) -> None:
        """Reading tells what became of it, and the repetition does no harm."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        posted = await harness.platform.post(reply_to(ref, "We all live here."))
        await harness.lose_next_removal(arrives=arrives)
        with pytest.raises(AmbiguousSend):
            await harness.platform.retract(posted.ref)
        assert await harness.text_of(posted.ref) == (None if arrives else "We all live here.")
        await harness.platform.retract(posted.ref)
        assert await harness.replies_to(ref) == []

    async def test_two_approvals_post_twice(self, harness: PlatformHarness) -> None:
        """The key is the approval's, not the text's: two approvals of one text are two replies."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        await harness.platform.post(reply_to(ref, "We all live here.", "approval-1"))
        await harness.platform.post(reply_to(ref, "We all live here.", "approval-2"))
        assert await harness.replies_to(ref) == ["We all live here."] * 2

    async def test_the_longest_reply_is_posted(self, harness: PlatformHarness) -> None:
        """The limit that the engine writes to is the limit that holds."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        text = "x" * harness.platform.max_characters
        await harness.platform.post(reply_to(ref, text))
        assert await harness.replies_to(ref) == [text]

    async def test_too_long_is_refused(self, harness: PlatformHarness) -> None:
        """A reply is never cut: half of an approved text is not an approved text."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        with pytest.raises(PlatformUnavailable) as caught:
            await harness.platform.post(reply_to(ref, "x" * (harness.platform.max_characters + 1)))
        assert caught.value.remedy
        assert await harness.replies_to(ref) == []

    async def test_a_vanished_post_is_not_answered(self, harness: PlatformHarness) -> None:
        """A reply without its post would stand alone in the channel."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        await harness.delete(ref)
        reply = reply_to(ref, "We all live here.")
        with pytest.raises(PlatformUnavailable):
            await harness.platform.post(reply)
        assert await harness.found(reply) is None

    async def test_finds_ours_after_a_lost_answer(self, harness: PlatformHarness) -> None:
        """An ambiguous send that arrived is known as posted, and is not posted again."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        reply = reply_to(ref, "We all live here.")
        await harness.lose_next_answer(arrives=True)
        with pytest.raises(AmbiguousSend):
            await harness.platform.post(reply)
        found = await harness.found(reply)
        assert found is not None
        assert await harness.text_of(found) == reply.text
        assert await harness.replies_to(ref) == [reply.text]

    async def test_finds_nothing_that_was_not_posted(self, harness: PlatformHarness) -> None:
        """An ambiguous send that never arrived must not pass for posted, nor somebody else's words for ours."""
        ref = await harness.create_post("slate_roof", "They do not belong here.")
        reply = reply_to(ref, "We all live here.")
        await harness.create_post("mill_pond", reply.text)
        await harness.lose_next_answer(arrives=False)
        with pytest.raises(AmbiguousSend):
            await harness.platform.post(reply)
        assert await harness.found(reply) is None
        assert await harness.replies_to(ref) == []

    async def test_closing_twice_does_no_harm(self, harness: PlatformHarness) -> None:
        """A stop may come while one is under way."""
        await harness.platform.close()
        await harness.platform.close()
