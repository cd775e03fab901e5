"""Every decision, for every role, in one's own community and in another one: a matrix over the real desks.

Who may do something is told that the case is another by now, since every call names a version that is long past; who
may not is refused before anything of the case is looked at. So nothing changes, and the whole matrix runs on one case.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import OnCase, OnCommunity, Person, Role, may_grant, may_on_case, may_on_community
from core.desk.store import communities, people
from core.desk.store.cases import Case
from core.errors import BadInput, Conflict, NotAllowed
from tests.fakes.desk.decisions import shown
from tests.fakes.desk.people import (
    ADMIN,
    AUDITOR,
    COMMUNITY_ID,
    FLAGGER,
    KEEPER,
    MANAGER,
    MODERATOR,
    PLATFORM,
    STRANGER,
    VOLUNTEER,
)

PAST: Final = 0
NOBODY: Final = Person(PLATFORM, "newcomer", "newcomer")
BY_ROLE: Final = {
    Role.VOLUNTEER: VOLUNTEER,
    Role.MODERATOR: MODERATOR,
    Role.MANAGER: MANAGER,
    Role.AUDITOR: AUDITOR,
    Role.ADMIN: ADMIN,
    None: STRANGER,
}
ON_CASES: Final[dict[str, tuple[OnCase, Callable[[Desk, str, Person], Awaitable[object]]]]] = {
    "take": (OnCase.REVIEW, lambda desk, case, by: desk.decisions.hold(case, by)),
    "release": (OnCase.REVIEW, lambda desk, case, by: desk.decisions.release(case, by)),
    "redraft": (OnCase.REVIEW, lambda desk, case, by: desk.decisions.redraft(case, PAST, "Newcomers work.", by)),
    "approve": (OnCase.APPROVE, lambda desk, case, by: desk.proposals.propose(case, PAST, by, text="Hello.")),
    "undo": (OnCase.APPROVE, lambda desk, case, by: desk.decisions.undo(case, PAST, by)),
    "decline": (OnCase.REVIEW, lambda desk, case, by: desk.decisions.close(case, PAST, by, CloseReason.UNSAFE)),
    "stay silent": (
        OnCase.REVIEW,
        lambda desk, case, by: desk.decisions.close(case, PAST, by, CloseReason.SILENCE, "no use"),
    ),
    "withdraw": (
        OnCase.WITHDRAW,
        lambda desk, case, by: desk.decisions.close(case, PAST, by, CloseReason.MISTAKE, "no use"),
    ),
    "reopen": (OnCase.REVIEW, lambda desk, case, by: desk.decisions.reopen(case, PAST, by)),
}
ON_COMMUNITIES: Final[dict[str, tuple[OnCommunity, Callable[[CommunityDesk, str, Person], Awaitable[object]]]]] = {
    "view": (OnCommunity.READ_STATISTICS, lambda desk, place, by: desk.view(place, by)),
    "history": (OnCommunity.READ_AUDIT, lambda desk, place, by: desk.history(place, by)),
    "pause": (OnCommunity.PAUSE, lambda desk, place, by: desk.pause(place, by)),
    "resume": (OnCommunity.RESUME, lambda desk, place, by: desk.resume(place, by)),
    "posting": (OnCommunity.CONFIGURE, lambda desk, place, by: desk.set_posting(place, True, by)),
    "disclosure": (OnCommunity.CONFIGURE, lambda desk, place, by: desk.set_disclosure(place, True, by)),
}


@pytest.fixture
async def elsewhere(database: Database) -> dict[Role | None, Person]:
    """Somebody with each role in another community of the platform."""
    found = {role: Person(PLATFORM, f"harbour_{person.user}", "stranger") for role, person in BY_ROLE.items()}

    async def work(session: Session) -> None:
        harbour = await communities.ensure(session, PLATFORM, "harbour")
        for role, person in found.items():
            await people.grant(session, harbour.id, person, {role} if role else set(), by="test")

    await database.run("settle the harbour", work)
    return found


async def is_allowed(call: Awaitable[object]) -> bool:
    """Whether the call was refused for who made it, or went on to look at the version that it named."""
    try:
        await call
    except NotAllowed as err:
        assert err.message.startswith("Only ")
        return False
    except Conflict as err:
        assert "changed since you saw it" in err.message or "was faster" in err.message
    return True


async def test_roles_decide_about_cases_of_their_own_community_alone(
    desk: Desk, in_review: Case, elsewhere: dict[Role | None, Person]
) -> None:
    """A moderator of one community can do nothing in another, nor can its admin (reliability, T12)."""
    found, expected = {}, {}
    for name, (action, call) in ON_CASES.items():
        for role, person in BY_ROLE.items():
            found[name, role, "here"] = await is_allowed(call(desk, in_review.id, person))
            expected[name, role, "here"] = role is not None and may_on_case({role}, action)
            found[name, role, "elsewhere"] = await is_allowed(call(desk, in_review.id, elsewhere[role]))
            expected[name, role, "elsewhere"] = False
            if name == "take" and expected[name, role, "here"]:
                await desk.decisions.release(in_review.id, person)
    assert found == expected
    assert await desk.queries.case(in_review.id) == in_review


async def test_roles_decide_about_their_own_community_alone(
    database: Database, elsewhere: dict[Role | None, Person]
) -> None:
    """The same for posting, disclosure, the kill switch and what is on record."""
    desk, found, expected = CommunityDesk(database), {}, {}
    for name, (action, call) in ON_COMMUNITIES.items():
        for role, person in BY_ROLE.items():
            found[name, role, "here"] = await is_allowed(call(desk, COMMUNITY_ID, person))
            expected[name, role, "here"] = role is not None and may_on_community({role}, action)
            found[name, role, "elsewhere"] = await is_allowed(call(desk, COMMUNITY_ID, elsewhere[role]))
            expected[name, role, "elsewhere"] = False
    assert found == expected


async def test_roles_are_given_in_ones_own_community_alone(
    database: Database, elsewhere: dict[Role | None, Person]
) -> None:
    """Nobody gives themselves a role elsewhere, and only an admin makes an admin."""
    desk = CommunityDesk(database)
    for granted in Role:
        for role, person in BY_ROLE.items():
            if role is None or not may_grant({role}, granted):
                with pytest.raises(NotAllowed):
                    await desk.grant(COMMUNITY_ID, NOBODY, granted, person)
            with pytest.raises(NotAllowed):
                await desk.grant(COMMUNITY_ID, elsewhere[role], granted, elsewhere[role])
        for role, person in BY_ROLE.items():
            if role is not None and may_grant({role}, granted):
                await desk.grant(COMMUNITY_ID, NOBODY, granted, person)
                await desk.revoke(COMMUNITY_ID, NOBODY, granted, person)
    assert NOBODY.user not in {member.person.user for member in (await desk.view(COMMUNITY_ID, MANAGER)).members}


async def test_the_kill_switch_for_all_is_for_admins_of_the_installation(database: Database) -> None:
    """An admin of one community stops that one; who was made one for all stops all, and does nothing else there."""
    desk = CommunityDesk(database)
    for person in BY_ROLE.values():
        with pytest.raises(NotAllowed):
            await desk.pause(communities.EVERYWHERE, person)
        with pytest.raises(NotAllowed):
            await desk.grant(communities.EVERYWHERE, person, Role.ADMIN, person)
    with pytest.raises(BadInput, match="admins only"):
        await desk.grant(communities.EVERYWHERE, NOBODY, Role.MANAGER, KEEPER)
    await desk.grant(communities.EVERYWHERE, NOBODY, Role.ADMIN, KEEPER)
    assert await desk.pause(communities.EVERYWHERE, NOBODY)
    assert (await desk.view(COMMUNITY_ID, MANAGER)).paused == (communities.EVERYWHERE,)
    with pytest.raises(NotAllowed):
        await desk.set_posting(COMMUNITY_ID, False, NOBODY)
    assert await desk.resume(communities.EVERYWHERE, NOBODY)
    assert [entry.reason for entry in await desk.history(communities.EVERYWHERE, NOBODY)][2:] == [
        "posting stopped",
        "posting allowed again",
    ]
    assert [view.community.id for view in await desk.listed(KEEPER)] == [COMMUNITY_ID]


@pytest.mark.both_databases
async def test_lists_show_what_one_may_see(database: Database, elsewhere: dict[Role | None, Person]) -> None:
    """No communities of others."""
    seen = await CommunityDesk(database).listed(elsewhere[Role.MODERATOR])
    assert [view.community.id for view in seen] == ["sample/harbour"]
    assert await CommunityDesk(database).listed(STRANGER) == []


async def test_who_flagged_a_post_takes_the_flag_back(desk: Desk, in_review: Case) -> None:
    """Without any role, also once more, and nothing else; as the same id on another platform, nothing at all."""
    with pytest.raises(NotAllowed):
        await desk.decisions.hold(in_review.id, FLAGGER)
    with pytest.raises(NotAllowed):
        await shown(desk, in_review, Person("elsewhere", MODERATOR.user))
    text = await shown(desk, in_review)
    with pytest.raises(NotAllowed):
        await desk.approvals.approve(text.id, Person("elsewhere", MODERATOR.user))
    with pytest.raises(NotAllowed, match="can decide about cases here"):
        await desk.decisions.close(in_review.id, in_review.version, FLAGGER, CloseReason.NOT_HATEFUL)
    closed = await desk.decisions.close(in_review.id, in_review.version, FLAGGER, CloseReason.MISTAKE, "my mistake")
    assert (await desk.decisions.undo(closed.id, closed.version, FLAGGER)).state is CaseState.IN_REVIEW
