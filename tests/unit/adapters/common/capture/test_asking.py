"""What somebody who asks about a post is told, at once and at last, without a platform."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from adapters.common.capture import requests
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.requests import DraftRequests, Followers
from adapters.common.desk_access import DeskAccess
from adapters.common.words.markup import Reader
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import Person
from core.errors import StoreUnavailable
from core.models import FlaggedPost, PostRef
from tests.fakes.ports.flag_desk import DRAFT, FlagDesk
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.ports.plain_markup import plain_reader

NOW = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
ANE = Person("plain", "5", "Ane")
POST = FlaggedPost(PostRef("plain", "town", "square", "1"), "they are vermin", "slate_roof", ANE.user, "by hand")


@dataclass
class OneAnswer:
    """Implements ``PrivateAnswer``; keeps what it said, in order."""

    until: datetime = NOW + timedelta(hours=1)
    reader: Reader = field(default_factory=plain_reader)
    limit: int = 1000
    promise: str = "Wait here."
    review_channel: str = "the room"
    said: list[str] = field(default_factory=list)

    async def give(self, text: str) -> None:
        self.said.append(text)

    async def change(self, text: str) -> None:
        self.said.append(text)


class AskedDesk:
    """A desk, and who waits for it."""

    def __init__(self) -> None:
        self.desk = FlagDesk()
        access = DeskAccess("plain", cast("Casework", self.desk), FakeGovernance())
        self.following = Followers(access, lambda: NOW)
        self.known = KnownPosts(NOW)
        self.asking = DraftRequests(access, self.known, self.following)

    async def ask(self, answer: OneAnswer, *, wants_drafts: bool = True) -> None:
        await self.asking.take_in(POST, NOW, ANE, answer, wants_drafts=wants_drafts)

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)


@pytest.fixture
async def town(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AskedDesk]:
    """Without the pauses between two looks at a case."""
    monkeypatch.setattr(requests, "_pause_seconds", lambda card: 0.0)
    made = AskedDesk()
    yield made
    await made.following.close()


async def test_the_drafts_come_into_the_answer_once(town: AskedDesk) -> None:
    """What is promised at first is kept when the engine is done."""
    answer = OneAnswer()
    await town.ask(answer)
    assert answer.said[0].startswith("Thank you. Case CASE1.")
    assert "Moderators review it in the room." in answer.said[0]
    assert answer.said[0].endswith("Wait here.")
    town.desk.give_drafts()
    await town.settle()
    assert len(answer.said) == 2
    assert f"[{DRAFT}]" in answer.said[1]
    assert town.known.is_known(POST.ref)


async def test_who_only_flags_is_promised_nothing(town: AskedDesk) -> None:
    """Nor followed."""
    answer = OneAnswer()
    await town.ask(answer, wants_drafts=False)
    town.desk.give_drafts()
    await town.settle()
    assert len(answer.said) == 1
    assert "Wait here." not in answer.said[0]


async def test_drafts_that_are_there_are_shown_at_once(town: AskedDesk) -> None:
    """Asked again for the same post."""
    await town.ask(OneAnswer(), wants_drafts=False)
    town.desk.give_drafts()
    again = OneAnswer()
    await town.ask(again)
    assert f"[{DRAFT}]" in again.said[0]


async def test_an_answer_is_never_changed_too_late(town: AskedDesk) -> None:
    answer = OneAnswer(until=NOW)
    await town.ask(answer)
    await town.settle()
    assert answer.said[1].startswith("Case CASE1 is still being worked on.")


async def test_a_case_that_ends_without_drafts_is_said_to(town: AskedDesk) -> None:
    """Nobody waits for what will not come; a database that is away for a moment ends no waiting."""
    answer = OneAnswer()
    await town.ask(answer)
    town.desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Wait."))
    town.desk.end(CaseState.NEEDS_PERSON)
    await town.settle()
    assert answer.said[1] == "Case CASE1. No draft could be made; a moderator looks at it."


async def test_where_nobody_more_can_be_followed_nothing_is_promised(
    town: AskedDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound holds however many ask."""
    monkeypatch.setattr(requests, "MOST_FOLLOWED", 0)
    answer = OneAnswer()
    await town.ask(answer)
    assert "Wait here." not in answer.said[0]


async def test_a_post_that_has_a_reply_is_not_answered_with_drafts(town: AskedDesk) -> None:
    """As if nothing had happened; the person reads that a reply stands already."""
    await town.ask(OneAnswer(), wants_drafts=False)
    town.desk.give_drafts(state=CaseState.POSTED)
    again = OneAnswer()
    await town.ask(again)
    assert "This post has a reply already." in again.said[0]
    assert DRAFT not in again.said[0]
