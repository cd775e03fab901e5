"""Where the desk may post, and how often: places that were asked first, caps of a place and of a community."""

import pytest

from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.rules.approval import CaseState
from core.desk.rules.policy import PlaceRules
from core.desk.sending.outbox import Outbox, SendLimits
from tests.fakes.desk.decisions import execute, one_row
from tests.fakes.desk.people import COMMUNITY, MANAGER, PLATFORM
from tests.fakes.desk.sending import SendingScene

PLACE = "town-square"
"""The channel of the sample community."""


async def _set_rules(scene: SendingScene, place: str, rules: PlaceRules) -> None:
    governance = Governance(scene.database, LiveRoles(scene.database, {}))
    await governance.configure(PLATFORM, COMMUNITY, {"places": {place: rules}}, MANAGER)


@pytest.mark.parametrize(
    ("asked", "consent", "is_posted"),
    [(PLACE, "Ilargi said yes.", True), (PLACE, "", False), ("elsewhere", "Ilargi said yes.", False)],
)
async def test_where_places_are_asked_first_nothing_is_posted_without_a_yes(
    scene: SendingScene, asked: str, consent: str, is_posted: bool
) -> None:
    """A person decides what to do about the others; other platforms have no such places."""
    outbox = scene.started(limits=SendLimits(asked_first=frozenset({PLATFORM})))
    await _set_rules(scene, asked, PlaceRules(consent=consent))
    await scene.approve()
    (delivery,) = await outbox.send_due()
    assert delivery.state is (CaseState.POSTED if is_posted else CaseState.NEEDS_PERSON)
    assert (PLACE in delivery.reason) is not is_posted
    assert scene.community.sends == is_posted


@pytest.mark.both_databases
async def test_a_yes_that_is_taken_back_while_the_reply_waits_holds_it_back(scene: SendingScene) -> None:
    """It is read at the moment of the send."""
    outbox = scene.started(limits=SendLimits(asked_first=frozenset({PLATFORM})))
    await _set_rules(scene, PLACE, PlaceRules(consent="Ilargi said yes."))
    await scene.approve()
    scene.community.while_reading = lambda: _set_rules(scene, PLACE, PlaceRules())
    (delivery,) = await outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert scene.community.sends == 0


async def test_a_place_gets_no_more_than_its_cap_in_a_day(scene: SendingScene) -> None:
    """As the community's own caps."""
    await _set_rules(scene, PLACE, PlaceRules(replies_a_day=2))
    await _run_into_a_cap(scene, scene.outbox, 24 * 3600)


async def test_what_other_places_got_fills_no_cap(scene: SendingScene) -> None:
    """Each counts its own, and what is said of a full one names it."""
    await _set_rules(scene, PLACE, PlaceRules(replies_a_day=1))
    await scene.approve_post_of("author_1")
    await scene.outbox.send_due()
    await scene.approve_post_of("author_2")
    assert await scene.outbox.send_due() == []
    query = "SELECT count(*) FROM outbox WHERE error LIKE '%posted to {place}%town-square%'"
    assert await one_row(scene.database, query) == (1,)
    await execute(scene.database, "UPDATE cases SET channel = 'elsewhere'")
    await scene.approve_post_of("author_3")
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


@pytest.mark.parametrize(("limits", "seconds"), [(SendLimits(per_hour=2), 3600), (SendLimits(per_day=2), 24 * 3600)])
async def test_a_community_gets_no_more_than_its_cap(scene: SendingScene, limits: SendLimits, seconds: int) -> None:
    """What comes after waits until the oldest reply that counts is an hour, or a day, old."""
    await _run_into_a_cap(scene, scene.started(limits=limits), seconds)


async def _run_into_a_cap(scene: SendingScene, outbox: Outbox, seconds: int) -> None:
    """Three replies where two may be posted within so many seconds; all are posted in the end."""
    started = scene.clock.now
    await scene.approve_post_of("author_1")
    await outbox.send_due()
    first = (scene.clock.now - started).total_seconds()
    await scene.approve_post_of("author_2")
    await outbox.send_due()
    await scene.approve_later(scene.community.add("author_3", "Something unkind.").id)
    scene.clock.advance(16)
    assert await outbox.send_due() == []
    assert scene.community.sends == 2
    waited = (scene.clock.now - started).total_seconds()
    scene.clock.advance(first + seconds - waited - 1)
    assert await outbox.send_due() == []
    scene.clock.advance(1)
    assert [delivery.state for delivery in await outbox.send_due()] == [CaseState.POSTED]
