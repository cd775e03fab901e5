"""What managers decide about a community: each change is on record, and ends the approvals in flight."""

import asyncio
from dataclasses import replace

import pytest

from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.rules.roles import Person, Role
from core.desk.store.cases import Case
from core.desk.store.communities import EVERYWHERE
from core.errors import BadInput, Conflict, NotAllowed
from core.models import FlaggedPost
from tests.fakes.desk.decisions import OWN_TEXT, approve, one_row, shown
from tests.fakes.desk.people import (
    COMMUNITY_ID,
    KEEPER,
    MANAGER,
    MODERATOR,
    PLATFORM,
    STRANGER,
    pseudonym_of,
)


@pytest.fixture
def managing(database: Database) -> CommunityDesk:
    return CommunityDesk(database)


async def test_every_change_is_on_record_and_makes_a_new_version(managing: CommunityDesk, database: Database) -> None:
    """Who did it and why; what changes nothing writes nothing."""
    before = (await managing.view(COMMUNITY_ID, MANAGER)).community.version
    for _ in range(2):
        await managing.set_posting(COMMUNITY_ID, False, MANAGER, "we are not ready")
        await managing.set_disclosure(COMMUNITY_ID, False, MANAGER, "our rules say it in the channel")
        await managing.grant(COMMUNITY_ID, STRANGER, Role.AUDITOR, MANAGER)
        await managing.pause(COMMUNITY_ID, MODERATOR, "a raid")
    await managing.revoke(COMMUNITY_ID, STRANGER, Role.AUDITOR, KEEPER)
    await managing.resume(COMMUNITY_ID, MANAGER)
    who, moderator, stranger = [await pseudonym_of(database, one) for one in (MANAGER, MODERATOR, STRANGER)]
    lines = (await managing.history(COMMUNITY_ID, MANAGER))[before:]
    assert [(line.actor, line.reason, line.note) for line in lines] == [
        (who, "posting off: shadow mode", "we are not ready"),
        (who, "disclosure off", "our rules say it in the channel"),
        (who, f"auditor granted to {stranger}", ""),
        (moderator, "posting stopped", "a raid"),
        ("terminal:keeper", f"auditor taken from {stranger}", ""),
        (who, "posting allowed again", ""),
    ]
    assert [line.version for line in lines] == list(range(before + 1, before + 7))
    view = await managing.view(COMMUNITY_ID, MANAGER)
    assert (view.community.version, view.community.is_posting, view.paused) == (before + 6, False, ())


async def test_an_approval_remembers_the_rules_it_was_given_under(
    managing: CommunityDesk, desk: Desk, in_review: Case, database: Database
) -> None:
    """The outbox compares the two before it sends (invariant I8); neither a new role nor the kill switch is a rule."""
    await approve(desk, in_review)
    columns = "policy_version, rules_version FROM approvals, communities"
    query = f"SELECT {columns} WHERE communities.id = 'sample/brenmoor'"
    kept, now = await one_row(database, query)
    assert kept == now
    await managing.grant(COMMUNITY_ID, STRANGER, Role.MODERATOR, MANAGER)
    assert await one_row(database, query) == (kept, kept)
    await managing.pause(COMMUNITY_ID, MODERATOR)
    await managing.resume(COMMUNITY_ID, MANAGER)
    assert await one_row(database, query) == (kept, kept)
    await managing.set_disclosure(COMMUNITY_ID, False, MANAGER, "our rules say it in the channel")
    kept_after, now_after = await one_row(database, query)
    assert kept_after == kept
    assert now_after != kept


async def test_disclosure_goes_only_with_a_reason_and_then_from_the_replies(
    managing: CommunityDesk, desk: Desk, in_review: Case
) -> None:
    """A text that was shown under the other rule is not approved any more (reliability, T25)."""
    with pytest.raises(BadInput, match="reason is missing"):
        await managing.set_disclosure(COMMUNITY_ID, False, MANAGER, " ")
    assert (await shown(desk, in_review)).text.startswith(f"{OWN_TEXT}\n")
    await managing.set_disclosure(COMMUNITY_ID, False, MANAGER, "our rules say it")
    bare = await shown(desk, in_review)
    assert bare.text == OWN_TEXT
    await managing.set_disclosure(COMMUNITY_ID, True, MANAGER)
    with pytest.raises(Conflict, match="What is added to replies here changed"):
        await desk.approvals.approve(bare.id, MODERATOR)


async def test_a_role_ends_at_once(managing: CommunityDesk, desk: Desk, in_review: Case) -> None:
    """Between the page and the click (invariant I7)."""
    text = await shown(desk, in_review, MODERATOR)
    await managing.revoke(COMMUNITY_ID, MODERATOR, Role.MODERATOR, MANAGER)
    with pytest.raises(NotAllowed, match="can approve replies here"):
        await desk.approvals.approve(text.id, MODERATOR)
    with pytest.raises(NotAllowed, match="was not granted"):
        await managing.revoke(COMMUNITY_ID, MODERATOR, Role.MODERATOR, MANAGER)


async def test_two_roles_are_kept_apart(managing: CommunityDesk) -> None:
    """To take one away leaves the other, and a new name is kept for both."""
    await managing.grant(COMMUNITY_ID, MODERATOR, Role.AUDITOR, MANAGER)
    renamed = Person(PLATFORM, MODERATOR.user, "Moderator the First")
    await managing.grant(COMMUNITY_ID, renamed, Role.VOLUNTEER, MANAGER)
    view = await managing.revoke(COMMUNITY_ID, Person(PLATFORM, MODERATOR.user), Role.AUDITOR, MANAGER)
    (found,) = [member for member in view.members if member.person.user == MODERATOR.user]
    assert found.roles == {Role.MODERATOR, Role.VOLUNTEER}
    assert found.person.name == "Moderator the First"


async def test_the_same_role_is_given_in_two_communities(
    managing: CommunityDesk, desk: Desk, post: FlaggedPost
) -> None:
    """And taken in one of them alone."""
    await desk.intake.flag(replace(post, ref=replace(post.ref, community="harbour")))
    for place in (COMMUNITY_ID, "sample/harbour"):
        view = await managing.grant(place, STRANGER, Role.AUDITOR, KEEPER)
        assert STRANGER in [member.person for member in view.members]
    await managing.revoke("sample/harbour", STRANGER, Role.AUDITOR, KEEPER)
    assert (await managing.view("sample/harbour", KEEPER)).members == ()
    assert await managing.history(COMMUNITY_ID, STRANGER)


async def test_wrong_calls_name_the_remedy(managing: CommunityDesk) -> None:
    """A community that is not there, a person of another platform, nobody, and settings for all at once."""
    wrong = [
        managing.view("sample/nowhere", KEEPER),
        managing.set_posting(EVERYWHERE, True, KEEPER),
        managing.grant(COMMUNITY_ID, Person("elsewhere", "somebody"), Role.MODERATOR, KEEPER),
        managing.grant(COMMUNITY_ID, Person(PLATFORM, " "), Role.MODERATOR, KEEPER),
    ]
    for call in wrong:
        with pytest.raises(BadInput) as caught:
            await call
        assert caught.value.remedy


async def test_people_of_the_platform_where_cases_are_reviewed_get_roles(
    managing: CommunityDesk, desk: Desk, in_review: Case
) -> None:
    """They decide by that account alone; the same number on the community's own platform is somebody else."""
    guest = Person("discord", "731", "Mikel")
    await managing.configure(COMMUNITY_ID, lambda _: {"review_channel": "discord/12"}, KEEPER)
    with pytest.raises(BadInput, match="of telegram"):
        await managing.grant(COMMUNITY_ID, replace(guest, platform="telegram"), Role.MODERATOR, KEEPER)
    view = await managing.grant(COMMUNITY_ID, guest, Role.MODERATOR, KEEPER)
    assert guest in [member.person for member in view.members]
    with pytest.raises(NotAllowed, match="can approve replies here"):
        await approve(desk, in_review, replace(guest, platform=PLATFORM))
    await approve(desk, in_review, guest)
    await managing.configure(COMMUNITY_ID, lambda _: {"review_channel": ""}, KEEPER)
    with pytest.raises(BadInput, match="of discord"):
        await managing.grant(COMMUNITY_ID, guest, Role.VOLUNTEER, KEEPER)
    view = await managing.revoke(COMMUNITY_ID, guest, Role.MODERATOR, KEEPER)
    assert guest not in [member.person for member in view.members]


@pytest.mark.both_databases
async def test_two_who_pause_at_once_pause_once(managing: CommunityDesk) -> None:
    """One of them is told that it was stopped before; there is one line about it."""
    before = len(await managing.history(COMMUNITY_ID, MANAGER))
    done = await asyncio.gather(*(managing.pause(COMMUNITY_ID, by) for by in (MANAGER, MODERATOR, KEEPER)))
    assert sorted(done) == [False, False, True]
    assert len(await managing.history(COMMUNITY_ID, MANAGER)) == before + 1
