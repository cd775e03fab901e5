"""The platform's own roles are asked for when somebody approves, and end when they end there."""

import pytest

from bot.compose.desk import build_desk
from core.desk.database.connection import Database
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import Role
from core.desk.store.cases import Case
from core.errors import NotAllowed, PlatformUnavailable
from tests.fakes.desk.decisions import BOLD, approve, approve_first, one_row
from tests.fakes.desk.people import COMMUNITY, MODERATOR, OTHER_MODERATOR, PLATFORM, STRANGER, pseudonym_of
from tests.fakes.ports.roles import FakeRoles


async def test_a_role_on_the_platform_counts_from_the_moment_it_is_given_to_the_moment_it_is_taken(
    database: Database, in_review: Case
) -> None:
    """Nobody has to tell Antiphon (invariant I7)."""
    source = FakeRoles()
    desk = build_desk(database, role_sources={PLATFORM: source})
    with pytest.raises(NotAllowed, match="can approve replies here"):
        await approve(desk, in_review, STRANGER)
    source.now["stranger_one"] = frozenset({Role.MODERATOR})
    reply = await approve(desk, in_review, STRANGER)
    assert reply.moderator == await pseudonym_of(database, STRANGER)
    assert source.asked[-1] == (COMMUNITY, "stranger_one")
    kept = "SELECT role, granted_by FROM memberships WHERE is_native = true"
    assert await one_row(database, kept) == ("moderator", "platform")
    case = await desk.decisions.undo(in_review.id, in_review.version + 1, STRANGER)
    source.now.clear()
    with pytest.raises(NotAllowed, match="can approve replies here"):
        await approve(desk, case, STRANGER)
    assert await one_row(database, "SELECT count(*) FROM memberships WHERE is_native = true") == (0,)


async def test_a_role_that_was_granted_here_does_not_end_with_the_platforms(
    database: Database, in_review: Case
) -> None:
    """The two are kept apart, also where they are the same role."""
    source = FakeRoles(moderator_one=Role.MODERATOR)
    desk = build_desk(database, role_sources={PLATFORM: source})
    await approve(desk, in_review, MODERATOR)
    case = await desk.decisions.undo(in_review.id, in_review.version + 1, MODERATOR)
    source.now.clear()
    await approve(desk, case, MODERATOR)
    assert (await desk.queries.case(case.id)).state is CaseState.APPROVED


async def test_while_the_platform_cannot_tell_nobody_approves(database: Database, in_review: Case) -> None:
    """A right that cannot be checked is none; nothing has changed, and it can be tried again."""
    source = FakeRoles(stranger_one=Role.MODERATOR)
    desk = build_desk(database, role_sources={PLATFORM: source})
    source.is_down = True
    with pytest.raises(PlatformUnavailable):
        await approve(desk, in_review, STRANGER)
    assert await desk.queries.case(in_review.id) == in_review
    source.is_down = False
    await approve(desk, in_review, STRANGER)


async def test_a_native_role_of_a_platform_that_is_not_connected_counts_for_nothing(
    database: Database, in_review: Case
) -> None:
    """Nobody could say whether it still holds."""
    connected = build_desk(database, role_sources={PLATFORM: FakeRoles(stranger_one=Role.MODERATOR)})
    await approve(connected, in_review, STRANGER)
    case = await connected.decisions.undo(in_review.id, in_review.version + 1, STRANGER)
    with pytest.raises(NotAllowed, match="can approve replies here"):
        await approve(build_desk(database), case, STRANGER)


async def test_the_first_of_two_is_asked_for_again_when_the_second_approves(
    database: Database, in_review: Case
) -> None:
    """Who was a moderator this morning may be none at noon."""
    source = FakeRoles(stranger_one=Role.MODERATOR)
    desk = build_desk(database, role_sources={PLATFORM: source})
    await approve_first(desk, in_review, STRANGER)
    source.now.clear()
    await approve_first(desk, in_review, MODERATOR)
    source.now["stranger_one"] = frozenset({Role.MODERATOR})
    await approve(desk, in_review, OTHER_MODERATOR, BOLD)
