"""What is checked again at the moment of a send: each check is broken alone, between approval and send."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from bot.compose.desk import build_casework, build_desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles, keep_native
from core.desk.database.connection import Session
from core.desk.invariants.checks import check
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import Person, Role
from core.desk.schema import Change
from core.desk.sending.outbox import SendLimits
from core.desk.store import communities, people
from core.desk.views.cards import digest_of
from core.errors import NotAllowed, PlaceClosed, PlatformUnavailable
from core.i18n.catalogs import LANGUAGES, translated
from tests.fakes.desk.decisions import drafted, execute, one_row
from tests.fakes.desk.people import (
    COMMUNITY,
    COMMUNITY_ID,
    KEEPER,
    MANAGER,
    MODERATOR,
    OTHER_MODERATOR,
    PLATFORM,
    STRANGER,
)
from tests.fakes.desk.sending import REPLY, FakeRoles, SendingScene


async def _grant(scene: SendingScene, person: Person, *roles: Role) -> None:
    await scene.database.run("grant", lambda session: people.grant(session, COMMUNITY_ID, person, roles, by="test"))


async def _change(scene: SendingScene, what: Change = Change.RULES, *, discloses: bool | None = None) -> None:
    async def work(session: Session) -> None:
        await communities.change(session, COMMUNITY_ID, actor="test", reason="changed", what=what, discloses=discloses)

    await scene.database.run("change", work)


_SECOND = "UPDATE approvals SET seconded_by = (SELECT person_id FROM memberships WHERE name = 'moderator_two')"


async def _revoke_the_second(scene: SendingScene) -> None:
    await execute(scene.database, _SECOND)
    await _grant(scene, OTHER_MODERATOR)


def _tamper(column: str) -> Callable[[SendingScene], Awaitable[None]]:
    return lambda scene: execute(scene.database, f"UPDATE approvals SET {column} = {column} || 'x'")


async def _leave_another_reply_unknown(scene: SendingScene) -> None:
    columns = (
        "case_id, suggestion_id, draft_rank, text, footer, sha256, moderator, seconded_by, approved_at, expires_at, "
        "policy_version, edited, target_sha256, quote"
    )
    await execute(scene.database, f"INSERT INTO approvals (id, {columns}) SELECT 'other', {columns} FROM approvals")
    await execute(
        scene.database,
        "INSERT INTO outbox (id, approval_id, state, not_before, attempts, updated_at) "
        "SELECT 'other', 'other', 'unknown', not_before, 1, updated_at FROM outbox",
    )


BROKEN: dict[str, tuple[Callable[[SendingScene], Awaitable[None]], str]] = {
    "the approver has no role any more": (lambda scene: _grant(scene, MODERATOR), "may not approve any more"),
    "the approver has another role": (lambda scene: _grant(scene, MODERATOR, Role.AUDITOR), "may not approve any more"),
    "the second approver has no role any more": (_revoke_the_second, "may not approve any more"),
    "one byte of the text": (_tamper("text"), "not the one that was approved"),
    "a quote that nobody approved": (_tamper("quote"), "not the one that was approved"),
    "the stored hash": (_tamper("sha256"), "not the one that was approved"),
    "the community's rules": (lambda scene: _change(scene, discloses=False), "rules of the community"),
    "another reply of unknown fate": (_leave_another_reply_unknown, "Another reply to this post"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("moment", ["before the outbox looks", "during the last look at the platform"])
async def test_a_reply_that_fails_one_check_goes_to_a_person(scene: SendingScene, name: str, moment: str) -> None:
    """Approved and due, but one thing changed: nothing is posted, and the case says what (I1, I7, I8)."""
    await scene.approve()
    breaks, reason = BROKEN[name]
    if moment == "before the outbox looks":
        await breaks(scene)
    else:
        scene.community.while_reading = lambda: breaks(scene)
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is await scene.state() is CaseState.NEEDS_PERSON
    said = await scene.reason()
    assert reason in said
    assert said not in {translated(said, language) for language in LANGUAGES[1:]}
    assert scene.community.sends == 0
    query = "SELECT state FROM outbox WHERE id <> 'other'"
    assert await one_row(scene.database, query) == ("cancelled",)


async def test_a_second_approver_who_may_still_approve_is_no_obstacle(scene: SendingScene) -> None:
    """The check above refuses the one who may not, not every second one."""
    await scene.approve()
    await execute(scene.database, _SECOND)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


@pytest.mark.both_databases
async def test_what_no_reply_hangs_on_is_no_obstacle(scene: SendingScene) -> None:
    """A setting of how drafts sound, and roles that others get or lose on the platform, end nobody's approval."""
    await scene.approve()
    await Governance(scene.database, LiveRoles(scene.database, {})).configure(
        PLATFORM, COMMUNITY, {"tone": "dry"}, MANAGER
    )
    for roles in ({Role.MODERATOR}, set[Role]()):
        await keep_native(scene.database, COMMUNITY_ID, STRANGER, frozenset(roles))
    await CommunityDesk(scene.database).grant(COMMUNITY_ID, STRANGER, Role.VOLUNTEER, MANAGER)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]
    assert await check(scene.database) == {}


@pytest.mark.parametrize("change", ["edit", "delete"])
async def test_a_changed_original_is_not_answered(scene: SendingScene, change: str) -> None:
    """A reply to words that no longer stand there would be wrong; a person decides (invariant I8)."""
    await scene.approve()
    if change == "edit":
        scene.community.edit("103", "I was wrong about this, sorry.")
    else:
        scene.community.delete("103")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert scene.community.sends == 0
    assert (await scene.row())[0] == "cancelled"
    assert ("changed" if change == "edit" else "gone") in await scene.reason()


async def test_an_old_approval_expires(scene: SendingScene) -> None:
    """What could not be posted within a day is not posted later, when nobody thinks of it any more."""
    await scene.approve_later()
    scene.clock.advance(24 * 3600)
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is await scene.state() is CaseState.EXPIRED
    assert scene.community.sends == 0


@pytest.mark.parametrize("scope", [COMMUNITY_ID, communities.EVERYWHERE])
@pytest.mark.parametrize("moment", ["before the outbox looks", "during the last look at the platform"])
async def test_nothing_is_posted_while_posting_is_paused(scene: SendingScene, scope: str, moment: str) -> None:
    """The kill switch of the community, or of all, holds a reply back without deciding it (invariant I12).

    When it is off again, the reply is sent as it was approved.
    """
    await scene.approve()
    desk = CommunityDesk(scene.database)

    async def pause() -> None:
        assert await desk.pause(scope, KEEPER)

    if moment == "before the outbox looks":
        await pause()
    else:
        scene.community.while_reading = pause
    for _ in range(10):
        assert await scene.outbox.send_due() == []
        scene.clock.advance(60)
    assert scene.community.sends == 0
    assert await scene.row("state, error LIKE '%paused%'") == ("queued", True)
    assert await desk.resume(scope, KEEPER)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]
    assert await check(scene.database) == {}


@pytest.mark.both_databases
async def test_what_waited_for_the_end_of_a_pause_is_checked_as_usual(scene: SendingScene) -> None:
    """Rules that were changed meanwhile end the approval, and so does its time."""
    first, second = await scene.approve(), await scene.approve("104")
    desk = CommunityDesk(scene.database)
    await desk.pause(COMMUNITY_ID, KEEPER)
    await desk.set_disclosure(COMMUNITY_ID, False, KEEPER, "our rules say it")
    await desk.resume(COMMUNITY_ID, KEEPER)
    assert {delivery.state for delivery in await scene.outbox.send_due()} == {CaseState.NEEDS_PERSON}
    assert [await scene.state(case.id) for case in (first, second)] == [CaseState.NEEDS_PERSON] * 2
    assert scene.community.sends == 0


async def test_a_log_of_when_a_pause_was_a_change_of_the_rules_is_in_order(scene: SendingScene) -> None:
    """There each use of the switch made a new version of the same rules, and approvals named it (invariant I8)."""
    desk = CommunityDesk(scene.database)
    await desk.pause(COMMUNITY_ID, KEEPER)
    await desk.resume(COMMUNITY_ID, KEEPER)
    await execute(scene.database, "UPDATE communities SET rules_version = version WHERE id <> '*'")
    await scene.approve()
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]
    assert await check(scene.database) == {}


async def test_the_pause_of_another_community_is_no_obstacle(scene: SendingScene) -> None:
    """A community stops itself, not its neighbours."""
    await scene.approve()
    await scene.database.run("pause", lambda session: communities.pause(session, "sample/elsewhere", "test"))
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


async def test_a_community_in_shadow_mode_posts_nothing(scene: SendingScene) -> None:
    """The case ends where it would have been posted, and says so; the platform is not even read (invariant I12)."""
    await scene.approve()
    await _change(scene, Change.SHADOW)
    scene.community.read_fault = ValueError("must not be read")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is await scene.state() is CaseState.SHADOWED
    assert (await scene.row())[0] == "shadowed"
    assert scene.community.sends == 0


async def test_the_author_gets_one_reply_in_a_day(scene: SendingScene) -> None:
    """Antiphon is no tool to hound one person; the second reply is told before its approval, or goes to a person (T22).

    The day after it is posted.
    """
    first, second = await scene.approve_post_of("slate_roof"), await scene.approve_post_of("slate_roof")
    states = {delivery.case_id: delivery for delivery in await scene.outbox.send_due()}
    assert states[first.id].state is CaseState.POSTED
    assert states[second.id].state is CaseState.NEEDS_PERSON
    assert states[second.id].reason == "Antiphon sends one person one reply in 24 hours at most."
    with pytest.raises(NotAllowed, match="one reply in 24 hours") as caught:
        await scene.approve_post_of("slate_roof")
    assert "Hours to wait: 24" in caught.value.remedy
    await scene.approve_post_of("grey_heron")
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]
    scene.clock.advance(24 * 3600 + 1)
    await scene.approve_post_of("slate_roof")
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


async def test_two_posts_of_nobody_known_are_not_one_author_s(scene: SendingScene) -> None:
    """Whoever forwards what a channel or a hidden account wrote takes nobody's reply away."""
    for _ in range(2):
        await scene.approve_post_of("")
        assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


@pytest.mark.both_databases
async def test_two_outboxes_do_not_answer_one_author_twice(scene: SendingScene) -> None:
    """The limits are counted under the community's lock: of two replies at once, one is the second."""
    for _ in range(2):
        await scene.approve_post_of("slate_roof")
    results = await one_each(scene)
    assert sorted(results) == [CaseState.NEEDS_PERSON, CaseState.POSTED]
    assert scene.community.sends == 1


async def test_a_conversation_gets_one_reply(scene: SendingScene) -> None:
    """However many posts of it are flagged, and however long ago the reply was; another conversation gets its own."""
    root = await scene.approve_post_of("slate_roof")
    second = await scene.approve_post_of("grey_heron", in_reply_to=root.post.ref.message)
    states = {delivery.case_id: delivery for delivery in await scene.outbox.send_due()}
    assert states[second.id].state is CaseState.NEEDS_PERSON
    assert "conversation" in states[second.id].reason
    scene.clock.advance(30 * 24 * 3600)
    with pytest.raises(NotAllowed, match="conversation was given a reply"):
        await scene.approve_post_of("mill_pond", in_reply_to=root.post.ref.message)
    await scene.approve_post_of("north_gate_74")
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


async def test_a_conversation_gets_one_reply_in_whatever_channels_its_posts_stand(scene: SendingScene) -> None:
    """As on the fediverse, where each post of a thread stands on its author's instance; nowhere do ids occur twice."""
    root = await scene.approve_post_of("slate_roof")
    await scene.outbox.send_due()
    await execute(scene.database, "UPDATE cases SET channel = 'elsewhere'")
    with pytest.raises(NotAllowed, match="conversation was given a reply"):
        await scene.approve_post_of("grey_heron", in_reply_to=root.post.ref.message)


async def test_a_community_of_another_name_has_its_ids_anew(scene: SendingScene) -> None:
    """A group that became a supergroup numbers its messages from the start: the same number is another message."""
    root = await scene.approve_post_of("slate_roof")
    await scene.outbox.send_due()
    await execute(scene.database, "UPDATE cases SET community = 'its earlier name'")
    await scene.approve_post_of("grey_heron", in_reply_to=root.post.ref.message)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


@pytest.mark.both_databases
async def test_the_platform_is_asked_again_what_the_approver_may_do(scene: SendingScene) -> None:
    """Who lost their rights on the platform has not approved, even where nobody told Antiphon (invariant I7)."""
    await scene.database.run("grant", _native_only)
    scene.know_roles(FakeRoles(moderator_one=Role.MODERATOR))
    await scene.approve()
    (delivery,) = await scene.started(roles=FakeRoles()).send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert "may not approve" in delivery.reason
    assert scene.community.sends == 0
    query = "SELECT count(*) FROM memberships WHERE name = 'moderator_one'"
    assert await one_row(scene.database, query) == (0,)


async def test_the_rights_on_the_platform_are_kept(scene: SendingScene) -> None:
    """What it says now counts, and is what the rest of Antiphon reads from now on; granted roles are not touched."""
    await scene.database.run("grant", _native_only)
    scene.know_roles(FakeRoles(moderator_one=Role.MODERATOR))
    await scene.approve()
    outbox = scene.started(roles=FakeRoles(moderator_one=Role.MANAGER))
    assert [delivery.state for delivery in await outbox.send_due()] == [CaseState.POSTED]
    query = "SELECT role, is_native FROM memberships WHERE name = 'moderator_one'"
    assert await one_row(scene.database, query) == ("manager", True)
    await scene.approve("105", OTHER_MODERATOR)
    assert [delivery.state for delivery in await outbox.send_due()] == [CaseState.POSTED]
    query = "SELECT role, is_native FROM memberships WHERE name = 'moderator_two'"
    assert await one_row(scene.database, query) == ("moderator", False)


async def _native_only(session: Session) -> None:
    await people.grant(session, COMMUNITY_ID, MODERATOR, [], by="test")
    await people.grant(session, COMMUNITY_ID, MODERATOR, [Role.MODERATOR], by="platform", is_native=True)


async def test_rights_that_cannot_be_read_postpone_the_send(scene: SendingScene) -> None:
    """Nobody guesses that an approver still has them."""
    await scene.approve()
    roles = FakeRoles(moderator_one=Role.MODERATOR)
    roles.fault = PlatformUnavailable("No line.")
    outbox = scene.started(roles=roles)
    assert await outbox.send_due() == []
    assert scene.community.sends == 0
    assert await scene.row("state, attempts") == ("queued", 1)
    roles.fault = None
    scene.clock.advance(60)
    assert [delivery.state for delivery in await outbox.send_due()] == [CaseState.POSTED]


async def one_each(scene: SendingScene) -> list[CaseState]:
    """What two outboxes at once make of what is due."""
    results = await asyncio.gather(scene.started().send_due(), scene.started().send_due())
    return [delivery.state for result in results for delivery in result]


@pytest.mark.both_databases
async def test_what_one_community_is_told_of_a_reply_in_another(scene: SendingScene) -> None:
    """The rule, and neither that there was one nor when; only of a reply here is told when the time is over."""
    await scene.approve_post_of("slate_roof")
    await scene.outbox.send_due()
    await execute(
        scene.database,
        "INSERT INTO communities SELECT 'sample/other', platform, 'other', version, "
        "rules_version, is_posting, discloses, policy, created_at FROM communities WHERE id = '" + COMMUNITY_ID + "'",
    )
    await execute(scene.database, "UPDATE cases SET community_id = 'sample/other', community = 'other'")
    with pytest.raises(NotAllowed) as caught:
        await scene.approve_post_of("slate_roof")
    assert caught.value.message == "Antiphon sends one person one reply in 24 hours at most."
    assert caught.value.remedy == "Close the case, or approve a reply tomorrow."


@pytest.mark.both_databases
async def test_what_only_delays_a_reply_is_said_when_it_is_proposed_and_approved(scene: SendingScene) -> None:
    """The cap with its time, and a pause without one; the card of an approved reply says why it waits (F8, F9)."""
    limits = SendLimits(per_hour=1)
    scene.desk = build_desk(scene.database, undo_seconds=15, limits=limits)
    scene.outbox = scene.started(limits=limits)
    front = build_casework(scene.desk, scene.outbox)
    await scene.approve()
    await scene.outbox.send_due()
    sent = scene.clock()
    case = await drafted(scene.desk, scene.queue, scene.community.flag("105", "mill_pond"))
    shown = await front.propose(case.id, case.version, MODERATOR, text=REPLY)
    assert (shown.waits_because, shown.waits_until) == (
        "1 replies were posted here in the last hour.",
        sent + timedelta(hours=1),
    )
    card = (await front.approve(shown.id, MODERATOR)).card
    assert (card.waits_because, card.send_at) == (shown.waits_because, shown.waits_until)
    desk = CommunityDesk(scene.database)
    await desk.pause(COMMUNITY_ID, KEEPER)
    digests = set()
    for _ in range(5):
        scene.clock.advance(20 * 60)
        assert await scene.outbox.send_due() == []
        card = await front.card(case.id, MODERATOR)
        assert (card.is_paused, card.send_at, card.waits_because) == (True, None, "")
        digests.add(digest_of(card))
    assert len(digests) == 1
    other = await drafted(scene.desk, scene.queue, scene.community.flag("106", "mill_pond"))
    paused = await front.propose(other.id, other.version, MODERATOR, text=REPLY)
    assert (paused.waits_because, paused.waits_until) == ("Posting is paused in this community.", None)
    await desk.resume(COMMUNITY_ID, KEEPER)
    card = await front.card(case.id, MODERATOR)
    assert (card.is_paused, card.waits_because, card.send_at is None) == (False, "", False)
    scene.clock.advance(60)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


async def test_an_outage_is_said_on_the_card_and_counts_nothing_down(scene: SendingScene) -> None:
    """Nobody knows when it ends: each attempt changes the moment of the next, and no card is edited for that."""
    front = build_casework(scene.desk, scene.outbox)
    case = await scene.approve()
    scene.community.read_fault = PlatformUnavailable("No line.")
    digests = set()
    for _ in range(4):
        assert await scene.outbox.send_due() == []
        card = await front.card(case.id, MODERATOR)
        assert card.send_at is None
        assert "cannot be asked before the send: No line." in card.waits_because
        digests.add(digest_of(card))
        scene.clock.advance(60)
    assert len(digests) == 1


async def test_a_place_that_is_closed_is_told_at_once(scene: SendingScene) -> None:
    """No later attempt would help: somebody must give a right back first (F7)."""
    await scene.approve()
    scene.community.read_fault = PlaceClosed("Antiphon cannot see this channel.", remedy="Give it the right.")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert delivery.reason == "Antiphon cannot see this channel. Give it the right."
    assert scene.community.sends == 0


async def test_the_platform_is_asked_about_text_and_place_before_the_send(
    scene: SendingScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A channel that was closed to the public after the approval is not posted to."""
    await scene.approve()

    def private(*_: object) -> None:
        raise PlaceClosed("Not everybody can read this channel.")

    monkeypatch.setattr(scene.community, "check", private)
    (delivery,) = await scene.outbox.send_due()
    assert (delivery.state, delivery.reason) == (CaseState.NEEDS_PERSON, "Not everybody can read this channel.")
    assert scene.community.sends == 0
