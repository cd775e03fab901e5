"""What managers do from their chat platform: settings, rights asked anew, status and export."""

import asyncio
import json
import os
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.common.manage import setup
from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import DeskStatus
from core.desk.rules.policy import CommunityPolicy, PlaceRules
from core.desk.rules.roles import OnCase, OnCommunity, Person, Role
from core.desk.store.cases import Case
from core.desk.store.communities import EVERYWHERE
from core.desk.views.status import STOPPED
from core.errors import BadInput, NotAllowed, PlatformUnavailable, StoreUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.chores import other
from tests.fakes.desk.decisions import execute, one_row, take
from tests.fakes.desk.people import (
    AUDITOR,
    COMMUNITY,
    COMMUNITY_ID,
    KEEPER,
    MANAGER,
    MODERATOR,
    PLATFORM,
    STRANGER,
    VOLUNTEER,
    pseudonym_of,
)
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.roles import FakeRoles

HERE = (PLATFORM, COMMUNITY)


@pytest.fixture
def source() -> FakeRoles:
    """Who is what on the platform; nobody at first."""
    return FakeRoles()


@pytest.fixture
def governance(database: Database, source: FakeRoles) -> Governance:
    return Governance(database, LiveRoles(database, {PLATFORM: source}))


async def lines(database: Database, community_id: str = COMMUNITY_ID) -> list[tuple[str, str]]:
    return [(line.actor, line.reason) for line in await CommunityDesk(database).history(community_id, KEEPER)]


# Settings


async def test_what_a_manager_sets_is_kept_and_on_record(governance: Governance, database: Database) -> None:
    """By field, with ids and counts; what was typed is not in the log, and no approval ends."""
    before = await lines(database)
    rules = await one_row(database, f"SELECT rules_version FROM communities WHERE id = '{COMMUNITY_ID}'")
    assert await governance.policy(*HERE) == CommunityPolicy()
    set_ = await governance.configure(
        *HERE, {"roles": {"77": "moderator"}, "tone": "dry", "keywords": ["go home", "out"]}, MANAGER
    )
    assert set_ == CommunityPolicy(roles={"77": Role.MODERATOR}, tone="dry", keywords=("go home", "out"))
    assert await governance.policy(*HERE) == set_
    await governance.configure(*HERE, {"tone": "dry"}, MANAGER)
    await governance.configure(*HERE, {"tone": "", "one_in": 500}, MANAGER)
    who = await pseudonym_of(database, MANAGER)
    assert (await lines(database))[len(before) :] == [
        (who, "settings changed: roles (77 moderator), keywords (2), tone"),
        (who, "settings changed: one_in, tone (default)"),
    ]
    assert await one_row(database, f"SELECT rules_version FROM communities WHERE id = '{COMMUNITY_ID}'") == rules


async def test_no_approval_holds_once_what_stands_around_a_reply_changes(
    governance: Governance, database: Database
) -> None:
    """Who approved it was shown that, too; a consent and a number of replies a day stand around nothing."""
    query = f"SELECT rules_version FROM communities WHERE id = '{COMMUNITY_ID}'"
    agreed = PlaceRules(consent="Ilargi said yes.")
    found = []
    for rules in (
        agreed,
        replace(agreed, replies_a_day=2),
        replace(agreed, hashtag="#bot"),
        replace(agreed, hashtag="#bot", mentions_author=False),
    ):
        await governance.configure(*HERE, {"places": {"far.example": asdict(rules)}}, MANAGER)
        found.append(await one_row(database, query))
    await governance.configure(*HERE, {"places": {}}, MANAGER)
    first, same, tagged, unnamed = found
    assert first == same
    assert same < tagged < unnamed < await one_row(database, query)


@pytest.mark.both_databases
async def test_two_who_save_at_once_both_keep_what_they_chose(governance: Governance) -> None:
    """Each choice is made from the settings as they are when it is saved."""

    async def choose(role: Role, key: str) -> None:
        await governance.configure(*HERE, lambda now: {"roles": setup.roles_with(now.roles, role, (key,))}, MANAGER)

    await asyncio.gather(choose(Role.MODERATOR, "77"), choose(Role.VOLUNTEER, "88"), choose(Role.MANAGER, "99"))
    roles = {"77": Role.MODERATOR, "88": Role.VOLUNTEER, "99": Role.MANAGER}
    assert (await governance.policy(*HERE)).roles == roles


async def test_a_wrong_setting_changes_nothing(governance: Governance, database: Database) -> None:
    """Not even the right ones beside it."""
    before = await lines(database)
    for changes in ({"tone": "dry", "treshold": 0.5}, {"tone": "half \ud83d"}, {"keywords": ["a\0b"]}):
        with pytest.raises(BadInput):
            await governance.configure(*HERE, changes, MANAGER)
    assert await governance.policy(*HERE) == CommunityPolicy()
    assert await lines(database) == before


async def test_settings_of_another_version_are_said_to_be_that(governance: Governance, database: Database) -> None:
    """They are neither guessed at nor overwritten."""
    kept = json.dumps({"tone": "dry", "volume": 11})
    await execute(database, f"UPDATE communities SET policy = '{kept}' WHERE id = '{COMMUNITY_ID}'".replace(":", "\\:"))
    with pytest.raises(StoreUnavailable, match="volume"):
        await governance.policy(*HERE)
    with pytest.raises(StoreUnavailable):
        await governance.configure(*HERE, {"tone": ""}, MANAGER)


# Who may


async def test_who_administers_the_community_on_the_platform_comes_in(
    governance: Governance, database: Database, source: FakeRoles
) -> None:
    """Also where nobody flagged anything yet; the role is the platform's, and ends when it says so."""
    harbour = (PLATFORM, "harbour")
    with pytest.raises(NotAllowed):
        await governance.configure(*harbour, {"tone": "dry"}, STRANGER)
    assert (await governance.configure(*harbour, {"tone": "dry"}, STRANGER, is_owner=True)).tone == "dry"
    who = await pseudonym_of(database, STRANGER)
    assert (await lines(database, "sample/harbour"))[1:] == [
        ("platform", f"roles by the platform: {who} is admin"),
        (who, "settings changed: tone"),
    ]
    source.now[STRANGER.user] = frozenset({Role.ADMIN})
    await governance.set_posting(*harbour, True, STRANGER)
    source.now.clear()
    with pytest.raises(NotAllowed):
        await governance.configure(*harbour, {"tone": ""}, STRANGER)
    assert (await lines(database, "sample/harbour"))[-1] == (
        "platform",
        f"roles by the platform: {who} is nothing",
    )


async def test_nobody_owns_a_community_of_another_platform(governance: Governance) -> None:
    """The same id elsewhere is another person."""
    with pytest.raises(NotAllowed):
        await governance.configure(*HERE, {"tone": "dry"}, Person("elsewhere", MANAGER.user), is_owner=True)


async def test_roles_are_the_platforms_at_this_moment_beside_those_granted_here(
    governance: Governance, source: FakeRoles, database: Database
) -> None:
    """The platform is asked each time; a change, and only a change, is on record."""
    before = await lines(database)
    assert await governance.roles_of(*HERE, STRANGER) == frozenset()
    source.now[STRANGER.user] = frozenset({Role.MODERATOR})
    source.now[MANAGER.user] = frozenset({Role.MODERATOR})
    for _ in range(2):
        assert await governance.roles_of(*HERE, STRANGER) == {Role.MODERATOR}
        assert await governance.roles_of(*HERE, MANAGER) == {Role.MODERATOR, Role.MANAGER}
    source.now.clear()
    assert await governance.roles_of(*HERE, STRANGER) == frozenset()
    who, manager = await pseudonym_of(database, STRANGER), await pseudonym_of(database, MANAGER)
    assert (await lines(database))[len(before) :] == [
        ("platform", f"roles by the platform: {who} is moderator"),
        ("platform", f"roles by the platform: {manager} is moderator"),
        ("platform", f"roles by the platform: {who} is nothing"),
    ]


async def test_a_right_is_asked_for_when_it_counts(governance: Governance, source: FakeRoles) -> None:
    """For cases and for the community."""
    await governance.require(*HERE, VOLUNTEER, OnCase.FLAG)
    await governance.require(*HERE, MODERATOR, OnCommunity.PAUSE)
    for action in (OnCase.REVIEW, OnCommunity.CONFIGURE):
        with pytest.raises(NotAllowed):
            await governance.require(*HERE, VOLUNTEER, action)
    source.now[VOLUNTEER.user] = frozenset({Role.MANAGER})
    await governance.require(*HERE, VOLUNTEER, OnCommunity.CONFIGURE)


async def test_while_the_platform_cannot_tell_nothing_is_decided_but_to_stop(
    governance: Governance, source: FakeRoles, database: Database
) -> None:
    """The kill switch must work when little else does; to go on again waits."""
    source.is_down = True
    with pytest.raises(PlatformUnavailable):
        await governance.roles_of(*HERE, MANAGER)
    with pytest.raises(PlatformUnavailable):
        await governance.configure(*HERE, {"tone": "dry"}, MANAGER)
    with pytest.raises(PlatformUnavailable):
        await governance.set_posting(*HERE, False, MANAGER)
    with pytest.raises(NotAllowed):
        await governance.pause(*HERE, STRANGER)
    assert await governance.pause(*HERE, MODERATOR, "a raid")
    assert not await governance.pause(*HERE, MODERATOR)
    with pytest.raises(PlatformUnavailable):
        await governance.resume(*HERE, MANAGER)
    source.is_down = False
    assert await governance.resume(*HERE, MANAGER)
    assert await one_row(database, "SELECT count(*) FROM pauses") == (0,)


async def test_shadow_mode_and_disclosure_are_the_desks(governance: Governance, database: Database) -> None:
    """By the platform's names, with the same rules."""
    await governance.set_posting(*HERE, False, MANAGER)
    await governance.set_disclosure(*HERE, False, MANAGER, "our rules say it")
    with pytest.raises(BadInput, match="reason"):
        await governance.set_disclosure(*HERE, False, MANAGER)
    columns = f"SELECT is_posting, discloses FROM communities WHERE id = '{COMMUNITY_ID}'"
    assert [bool(value) for value in await one_row(database, columns)] == [False, False]


# Status


async def status_of(governance: Governance) -> DeskStatus:
    return await governance.status(*HERE, AUDITOR)


async def test_the_status_counts_what_waits(
    governance: Governance, desk: Desk, queue: DraftQueue, post: FlaggedPost, in_review: Case, clock: FakeClock
) -> None:
    """Of one's own community; how long a draft takes, by those that were made."""
    for number in range(3):
        await desk.intake.flag(other(post, f"1{number}"))
    idle = await status_of(governance)
    assert idle.by_state == {CaseState.QUEUED: 3, CaseState.IN_REVIEW: 1}
    assert idle.expected_seconds is None
    taken = await take(queue)
    clock.advance(40)
    await queue.keep(taken)
    busy = await status_of(governance)
    assert busy.by_state == {CaseState.QUEUED: 2, CaseState.DRAFTING: 1, CaseState.IN_REVIEW: 1}
    assert busy.oldest_in_review == in_review.created_at
    with pytest.raises(NotAllowed):
        await governance.status(*HERE, VOLUNTEER)


async def test_the_status_says_how_long_a_draft_takes(
    governance: Governance, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Alone it takes what others took; behind others it waits for them, and with nobody at work nobody can tell."""
    for number in range(4):
        await desk.intake.flag(other(post, f"1{number}"))
    taken = await take(queue)
    clock.advance(30)
    await queue.store(taken, suggestion_for(taken.case.post))
    assert (await status_of(governance)).expected_seconds is None
    await take(queue)
    assert (await status_of(governance)).expected_seconds == pytest.approx(30 * (2 + 1) + 30)


@pytest.mark.both_databases
async def test_the_status_says_what_the_engine_lacks_until_it_drafts_again(
    governance: Governance, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """A worker that was stopped is no trouble of the model."""
    await desk.intake.flag(post)
    assert (await status_of(governance)).model_trouble == ""
    await queue.release(await take(queue), STOPPED)
    assert (await status_of(governance)).model_trouble == ""
    await queue.fail(await take(queue), "The language model does not answer.")
    assert (await status_of(governance)).model_trouble == "The language model does not answer."
    clock.advance(3600)
    taken = await take(queue)
    await queue.store(taken, suggestion_for(taken.case.post))
    assert (await status_of(governance)).model_trouble == ""


async def test_what_was_wrong_with_a_post_of_others_is_not_told(
    governance: Governance, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """The model's trouble is everybody's; a case of another community is not."""
    elsewhere = replace(post, ref=replace(post.ref, community="harbour"))
    await desk.intake.flag(elsewhere)
    await queue.give_up(await take(queue), "The post has 7,000 characters.")
    assert (await status_of(governance)).model_trouble == ""
    clock.advance(1)
    await desk.intake.flag(replace(elsewhere, ref=replace(elsewhere.ref, message="2")))
    await queue.fail(await take(queue), "The language model does not answer.")
    assert (await status_of(governance)).model_trouble == "The language model does not answer."
    assert (await status_of(governance)).by_state == {}


async def test_the_status_says_what_stops_replies(governance: Governance, database: Database) -> None:
    """Here, everywhere, or in shadow mode."""
    found = await status_of(governance)
    flags = (found.is_posting, found.discloses, found.is_paused_here, found.is_paused_everywhere)
    assert flags == (True, True, False, False)
    await governance.pause(*HERE, MODERATOR)
    await CommunityDesk(database).pause(EVERYWHERE, KEEPER)
    await governance.set_posting(*HERE, False, MANAGER)
    found = await status_of(governance)
    assert (found.is_posting, found.is_paused_here, found.is_paused_everywhere) == (False, True, True)


# Export


@pytest.mark.parametrize("name", ["cases.csv", "cases.JSONL"])
async def test_an_export_is_written_by_the_files_suffix(
    governance: Governance, in_review: Case, tmp_path: Path, name: str
) -> None:
    """For a manager; a file of another kind is refused before anything is read."""
    assert await governance.export(*HERE, MANAGER, tmp_path / name) == 1
    said = (tmp_path / name).read_text()
    assert in_review.id in said
    assert in_review.post.ref.channel not in said
    with pytest.raises(BadInput, match="cannot export to a file") as caught:
        await governance.export(*HERE, MANAGER, tmp_path / "cases.xlsx")
    assert ".csv or .jsonl" in caught.value.remedy
    with pytest.raises(NotAllowed):
        await governance.export(*HERE, MODERATOR, tmp_path / "others.csv")
    assert "others.csv" not in await asyncio.to_thread(os.listdir, tmp_path)


async def test_statistics_need_a_right_and_a_span(governance: Governance) -> None:
    """Those of nobody's cases are empty."""
    with pytest.raises(NotAllowed):
        await governance.statistics(*HERE, VOLUNTEER, timedelta(days=7))
    with pytest.raises(BadInput):
        await governance.statistics(*HERE, AUDITOR, timedelta())
    found = await governance.statistics(*HERE, AUDITOR, timedelta(days=7))
    assert (found.flagged, found.by_state, found.share_edited) == (0, {}, None)
