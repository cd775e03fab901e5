"""What a decision of a person costs: transactions at the database, and questions to the platform who the person is."""

from collections.abc import Awaitable, Callable

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


class Counted:
    """Keeps the names of the transactions that were committed."""

    def __init__(self) -> None:
        self.commits: list[str] = []

    async def __call__(self, point: str) -> None:
        name, _, where = point.partition(": ")
        if where == "after the commit":
            self.commits.append(name)


@pytest.fixture
def roles() -> FakeRoles:
    return FakeRoles(native_one=Role.MODERATOR, native_two=Role.MODERATOR)


@pytest.fixture
def front(database: Database, outbox: Outbox, roles: FakeRoles) -> Casework:
    return build_casework(build_desk(database, role_sources={PLATFORM: roles}), outbox)


async def test_an_approval_asks_the_platform_once_and_takes_four_transactions(
    front: Casework, in_review: Case, roles: FakeRoles
) -> None:
    """Each of its two steps is a decision: to have a text shown, and to confirm it."""
    shown = Counted()
    with installed(shown):
        proposed = await front.propose(in_review.id, in_review.version, NATIVE, text=OWN_TEXT)
    assert len(shown.commits) <= MOST_TRANSACTIONS, shown.commits
    assert roles.asked == [(COMMUNITY, NATIVE.user)]
    roles.asked.clear()
    confirmed = Counted()
    with installed(confirmed):
        approval = await front.approve(proposed.id, NATIVE)
    assert approval.card.send_at is not None
    assert len(confirmed.commits) <= MOST_TRANSACTIONS, confirmed.commits
    assert roles.asked == [(COMMUNITY, NATIVE.user)]


async def test_a_second_approval_asks_once_for_each_of_the_two(
    front: Casework, in_review: Case, roles: FakeRoles
) -> None:
    """Whose approval counts must be a moderator now; in no more transactions, and with no more questions."""
    proposals = [await front.propose(in_review.id, in_review.version, by, text=BOLD) for by in (NATIVE, OTHER_NATIVE)]
    first = await front.approve(proposals[0].id, NATIVE)
    assert first.waits_for_second is not None
    roles.asked.clear()
    counted = Counted()
    with installed(counted):
        assert (await front.approve(proposals[1].id, OTHER_NATIVE)).card.send_at is not None
    assert len(counted.commits) <= MOST_TRANSACTIONS, counted.commits
    assert sorted(roles.asked) == [(COMMUNITY, NATIVE.user), (COMMUNITY, OTHER_NATIVE.user)]


async def test_the_same_persons_second_press_asks_once(front: Casework, in_review: Case, roles: FakeRoles) -> None:
    """Who approved first and presses again is one person."""
    proposed = await front.propose(in_review.id, in_review.version, NATIVE, text=BOLD)
    await front.approve(proposed.id, NATIVE)
    roles.asked.clear()
    await front.approve(proposed.id, NATIVE)
    assert roles.asked == [(COMMUNITY, NATIVE.user)]


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
    counted = Counted()
    with installed(counted):
        await DECISIONS[name](front, in_review)
    assert len(counted.commits) <= MOST_TRANSACTIONS, counted.commits
    assert roles.asked == [(COMMUNITY, NATIVE.user)]


async def test_taking_an_approval_back_costs_no_more(front: Casework, in_review: Case, roles: FakeRoles) -> None:
    """Undo is pressed in a hurry."""
    proposed = await front.propose(in_review.id, in_review.version, NATIVE, text=OWN_TEXT)
    card = (await front.approve(proposed.id, NATIVE)).card
    roles.asked.clear()
    counted = Counted()
    with installed(counted):
        await front.undo(card.case_id, card.version, NATIVE)
    assert len(counted.commits) <= MOST_TRANSACTIONS, counted.commits
    assert roles.asked == [(COMMUNITY, NATIVE.user)]
