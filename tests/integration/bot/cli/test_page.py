"""The invented town of ``antiphon run``: its posts, and posts of a person's own, over the real desk."""

import pytest

from adapters.sample import SAMPLE_FLAGS, SampleCommunity
from bot.cli.sample_town import SampleTown
from bot.compose.application import admit
from bot.compose.desk import build_casework, build_desk
from core.desk.database.connection import Database
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.sending.outbox import Outbox
from core.errors import BadInput
from core.models import Priority
from tests.fakes.desk.people import COMMUNITY, MODERATOR, PLATFORM

pytestmark = pytest.mark.parametrize("database_server", ["sqlite"], indirect=True)
"""What people read does not depend on the database."""
PASTED = "They are all the same.\n\nAnd they never pay."


class _Run:
    """One run over a database: the town is made anew each time."""

    def __init__(self, database: Database) -> None:
        self.community = SampleCommunity()
        self.casework = build_casework(build_desk(database), Outbox(database, {PLATFORM: self.community}))
        self.town = SampleTown(self.community, self.casework)

    async def open(self) -> list[str]:
        """The ids of all open cases."""
        found = await self.casework.open_cases(PLATFORM, COMMUNITY, MODERATOR)
        return [case.case_id for case in found.cases]


@pytest.fixture
async def run(database: Database) -> _Run:
    """A first run, by somebody who may decide."""
    await admit(database, PLATFORM, COMMUNITY, MODERATOR)
    made = _Run(database)
    await made.town.play(MODERATOR)
    return made


async def test_the_sample_posts_wait_and_are_not_flagged_twice(run: _Run, database: Database) -> None:
    """Another run finds the cases that wait, and asks again for none that was decided."""
    cases = await run.open()
    assert len(cases) == len(SAMPLE_FLAGS)
    card = await run.casework.card(cases[0], MODERATOR)
    await run.casework.close(card.case_id, card.version, MODERATOR, CloseReason.SILENCE)
    again = _Run(database)
    await again.town.play(MODERATOR)
    assert await again.open() == cases[1:]


async def test_a_post_of_ones_own_stands_in_the_town_until_it_is_decided(run: _Run, database: Database) -> None:
    """It comes before those of the town, holds its lines, and is there again in the next run."""
    case = await run.town.paste(PASTED, MODERATOR)
    card = await run.casework.card(case, MODERATOR)
    assert card.post.text == PASTED
    assert card.post.priority is Priority.ASKED
    assert card.post.thread == ()
    again = _Run(database)
    await again.town.play(MODERATOR)
    assert [post.text for post in again.community.thread() if post.id == card.post.ref.message] == [PASTED]
    await again.casework.close(case, card.version, MODERATOR, CloseReason.SILENCE)
    third = _Run(database)
    await third.town.play(MODERATOR)
    assert PASTED not in [post.text for post in third.community.thread()]


async def test_the_same_post_twice_is_two_cases(run: _Run) -> None:
    assert await run.town.paste(PASTED, MODERATOR) != await run.town.paste(PASTED, MODERATOR)


@pytest.mark.parametrize("pasted", ["", " \n ", "x" * 5001, "\ud800 they"])
async def test_a_post_that_cannot_be_read_is_refused_and_stands_nowhere(run: _Run, pasted: str) -> None:
    before = run.community.thread()
    with pytest.raises(BadInput):
        await run.town.paste(pasted, MODERATOR)
    assert run.community.thread() == before
    assert len(await run.open()) == len(SAMPLE_FLAGS)
    for case in await run.open():
        assert (await run.casework.card(case, MODERATOR)).state is CaseState.QUEUED
