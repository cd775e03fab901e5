"""What a decision of a person costs: transactions at the database, and questions to the platform who the person is."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from bot.compose.desk import build_casework, build_desk
from core.desk.database.connection import Database
from core.desk.review.casework import Casework
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person, Role
from core.desk.runtime.faults import installed
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from tests.fakes.desk.decisions import BOLD, OWN_TEXT
from tests.fakes.desk.people import COMMUNITY, PLATFORM
from tests.fakes.ports.roles import FakeRoles

MOST_TRANSACTIONS = 4
NATIVE = Person(PLATFORM, "native_one", "Nadia")
OTHER_NATIVE = Person(PLATFORM, "native_two", "Nora")

Decision = Callable[[Casework, Case], Awaitable[object]]
T = TypeVar("T")


@pytest.fixture
def roles() -> FakeRoles:
    return FakeRoles(native_one=Role.MODERATOR, native_two=Role.MODERATOR)


@pytest.fixture
def front(database: Database, outbox: Outbox, roles: FakeRoles) -> Casework:
    return build_casework(build_desk(database, role_sources={PLATFORM: roles}), outbox)


async def cheap(roles: FakeRoles, decision: Awaitable[T], *asked: Person) -> T:
    """What a decision gives that takes no more transactions than allowed, and one question about each of these."""
    commits = []

    async def count(point: str) -> None:
        if point.endswith(": after the commit"):
            commits.append(point)

    roles.asked.clear()
    with installed(count):
        made = await decision
    assert len(commits) <= MOST_TRANSACTIONS, commits
    assert sorted(roles.asked) == [(COMMUNITY, person.user) for person in asked]
    return made


async def test_an_approval_asks_the_platform_once_and_takes_four_transactions(
    front: Casework, in_review: Case, roles: FakeRoles
) -> None:
    """Each of its steps is a decision: to have a text shown, to confirm it, and to take it back in a hurry."""
    text = front.propose(in_review.id, in_review.version, NATIVE, text=OWN_TEXT)
    card = (await cheap(roles, front.approve((await cheap(roles, text, NATIVE)).id, NATIVE), NATIVE)).card
    assert card.send_at is not None
    await cheap(roles, front.undo(card.case_id, card.version, NATIVE), NATIVE)


async def test_a_second_approval_asks_once_for_each_of_the_two(
    front: Casework, in_review: Case, roles: FakeRoles
) -> None:
    """Whose approval counts must be a moderator now; who approved first and presses again is one person."""
    proposals = [await front.propose(in_review.id, in_review.version, by, text=BOLD) for by in (NATIVE, OTHER_NATIVE)]
    first = await front.approve(proposals[0].id, NATIVE)
    assert first.waits_for_second is not None
    await cheap(roles, front.approve(proposals[0].id, NATIVE), NATIVE)
    done = await cheap(roles, front.approve(proposals[1].id, OTHER_NATIVE), NATIVE, OTHER_NATIVE)
    assert done.card.send_at is not None


DECISIONS: dict[str, Decision] = {
    "look": lambda front, case: front.card(case.id, NATIVE),
    "hold": lambda front, case: front.hold(case.id, NATIVE),
    "release": lambda front, case: front.release(case.id, NATIVE),
    "redraft": lambda front, case: front.redraft(case.id, case.version, NATIVE),
    "decline": lambda front, case: front.close(case.id, case.version, NATIVE, CloseReason.OFF_TONE),
    "stay silent": lambda front, case: front.close(case.id, case.version, NATIVE, CloseReason.SILENCE, "not worth it"),
    "withdraw": lambda front, case: front.close(case.id, case.version, NATIVE, CloseReason.MISTAKE, "a mistake"),
}


@pytest.mark.parametrize("name", DECISIONS)
async def test_every_other_decision_asks_the_platform_once_and_takes_four_transactions(
    front: Casework, in_review: Case, roles: FakeRoles, name: str
) -> None:
    """A desk is pressed all day, and a platform counts what it is asked."""
    await cheap(roles, DECISIONS[name](front, in_review), NATIVE)
