"""A case that one moderator looks at is closed to the others, for a while."""

import asyncio

import pytest

from bot.compose.desk import Desk
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person
from core.desk.store.cases import Case
from core.errors import Conflict, NotAllowed
from core.models import FlaggedPost
from tests.fakes.desk.decisions import approve, take
from tests.fakes.desk.people import MODERATOR, OTHER_MODERATOR, PLATFORM
from tests.fakes.machine.clock import FakeClock

TAKEN = "moderator_one holds the case; minutes left: 5"


async def test_others_are_told_who_has_a_case_and_until_when(desk: Desk, in_review: Case) -> None:
    """Every decision of somebody else is refused meanwhile, and who holds the case decides."""
    held = await desk.decisions.hold(in_review.id, MODERATOR)
    assert (held.version, held.state) == (in_review.version, CaseState.IN_REVIEW)
    case, other = in_review, OTHER_MODERATOR
    flagger = Person(PLATFORM, "mill_pond")
    for decision in (
        desk.decisions.hold(case.id, other),
        approve(desk, case, other),
        desk.decisions.redraft(case.id, case.version, "Newcomers work.", other),
        desk.decisions.close(case.id, case.version, other, CloseReason.PREACHY),
        desk.decisions.close(case.id, case.version, other, CloseReason.SILENCE, "no use"),
        desk.decisions.close(case.id, case.version, other, CloseReason.MISTAKE, "no use"),
    ):
        with pytest.raises(Conflict, match=TAKEN) as caught:
            await decision
        assert caught.value.remedy
    with pytest.raises(Conflict, match=r"^somebody holds the case") as caught:  # who only flagged learns of no name
        await desk.decisions.close(case.id, case.version, flagger, CloseReason.MISTAKE, "my mistake")
    with pytest.raises(Conflict, match=r"changed since you saw it|^somebody was faster") as caught:
        await desk.decisions.close(case.id, case.version - 1, flagger, CloseReason.MISTAKE, "my mistake")
    assert "moderator_one" not in str(caught.value)
    assert await desk.queries.case(case.id) == held
    await approve(desk, case, MODERATOR)
    assert (await desk.queries.case(case.id)).held_by is None


async def test_a_forgotten_case_is_free_again(desk: Desk, in_review: Case, clock: FakeClock) -> None:
    """A hold ends by itself; taken again, it is held longer; let go, it is free at once."""
    await desk.decisions.hold(in_review.id, MODERATOR)
    clock.advance(240)
    await desk.decisions.hold(in_review.id, MODERATOR)
    clock.advance(240)
    with pytest.raises(Conflict, match="minutes left: 1"):
        await desk.decisions.hold(in_review.id, OTHER_MODERATOR)
    with pytest.raises(Conflict, match="moderator_one holds the case"):  # and is told so, not "no longer"
        await desk.decisions.release(in_review.id, OTHER_MODERATOR)
    clock.advance(60)
    await desk.decisions.hold(in_review.id, OTHER_MODERATOR)
    released = await desk.decisions.release(in_review.id, OTHER_MODERATOR)
    assert released.held_by is None
    await approve(desk, in_review, MODERATOR)


@pytest.mark.both_databases
async def test_of_many_who_take_a_case_at_once_one_has_it(desk: Desk, in_review: Case) -> None:
    """All others are told by whom it was taken."""
    people = [MODERATOR, OTHER_MODERATOR] * 5
    results = await asyncio.gather(*(desk.decisions.hold(in_review.id, by) for by in people), return_exceptions=True)
    taken = [result for result in results if isinstance(result, Case)]
    assert len({case.held_by for case in taken}) == 1
    assert len(taken) == 5
    assert sum(isinstance(result, Conflict) for result in results) == 5


async def test_only_a_case_that_waits_for_a_person_is_taken(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> None:
    """Not one that is drafted, nor one that is decided."""
    case = await desk.intake.flag(post)
    with pytest.raises(NotAllowed, match="queued"):
        await desk.decisions.hold(case.id, MODERATOR)
    taken = await take(queue)
    reviewed = await queue.give_up(taken, "No model.")
    assert (await desk.decisions.hold(reviewed.id, MODERATOR)).held_by is not None
    await desk.decisions.close(reviewed.id, reviewed.version, MODERATOR, CloseReason.OTHER, "spam")
    with pytest.raises(NotAllowed, match="declined"):
        await desk.decisions.hold(case.id, MODERATOR)


async def test_other_drafts_that_were_asked_for_are_for_everybody(desk: Desk, in_review: Case) -> None:
    """Who asked for them may have gone home."""
    await desk.decisions.hold(in_review.id, MODERATOR)
    queued = await desk.decisions.redraft(in_review.id, in_review.version, "Newcomers work.", MODERATOR)
    assert queued.held_by is None
