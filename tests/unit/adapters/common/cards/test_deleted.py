"""Which deletions the desk hears of: those in the review channel, and not without end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.common.desk_access import DeskAccess
from adapters.discord.review.presses import DeletedCards
from core.desk.rules.policy import CommunityPolicy
from core.errors import StoreUnavailable
from core.models import PostRef
from tests.fakes.desk.review_desk import RecordedDesk, review_desk
from tests.fakes.ports.governance import FakeGovernance


@pytest.fixture
async def casework(desk_file: Path) -> AsyncIterator[RecordedDesk]:
    async with review_desk(desk_file, "plain") as made:
        yield made.casework


@pytest.fixture
def governance() -> FakeGovernance:
    """A community with a review channel."""
    made = FakeGovernance()
    made.policies["town"] = CommunityPolicy(review_channel="review")
    return made


@pytest.fixture
def desk(casework: RecordedDesk, governance: FakeGovernance) -> DeskAccess:
    """The application, as the platform sees it."""
    return DeskAccess("plain", casework, governance)


def _in(channel: str, count: int = 1, community: str = "town") -> list[PostRef]:
    return [PostRef("plain", community, channel, str(number)) for number in range(count)]


async def test_only_deletions_in_a_review_channel_are_told(desk: DeskAccess, casework: RecordedDesk) -> None:
    """A large community deletes thousands of messages elsewhere."""
    await DeletedCards(desk).gone([*_in("square", 3), *_in("review"), *_in("review", 1, "unset")])
    assert casework.gone == _in("review")


async def test_cards_do_not_come_back_for_ever(desk: DeskAccess, casework: RecordedDesk) -> None:
    """Another bot may empty the channel again and again; after an hour it is tried again."""
    moment = 0.0
    deleted = DeletedCards(desk, seconds_now=lambda: moment)
    await deleted.gone(_in("review", 100))
    assert len(casework.gone) == 60
    moment = 3601.0
    await deleted.gone(_in("review"))
    assert len(casework.gone) == 61


async def test_a_desk_that_does_not_answer_is_no_error_of_the_listener(
    desk: DeskAccess, casework: RecordedDesk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:

    async def fail(_: PostRef) -> None:
        raise StoreUnavailable("The database does not answer.", remedy="Wait.")

    monkeypatch.setattr(casework, "card_gone", fail)
    await DeletedCards(desk).gone(_in("review"))
    assert "could not be told" in caplog.text
