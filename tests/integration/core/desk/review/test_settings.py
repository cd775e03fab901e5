"""What a community's managers choose: it shows on the cards that stand, and decides where new ones go."""

import pytest

from adapters.sample import SampleCommunity
from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.review.board import ReviewBoard
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.sending.outbox import Outbox
from core.desk.store import communities
from core.desk.store.cases import Case
from core.models import FlaggedPost
from tests.fakes.desk.boards import CHANNEL, all_steps, choose_channel, posts_apart
from tests.fakes.desk.decisions import OWN_TEXT, approve, take
from tests.fakes.desk.people import COMMUNITY_ID, KEEPER, MODERATOR, PLATFORM
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.surface import FakeSurface


async def test_a_pause_of_the_community_shows_on_its_open_cards(
    board: ReviewBoard, surface: FakeSurface, database: Database, in_review: Case
) -> None:
    """Although no case changed; and so does shadow mode, and the end of each."""
    await board.step()
    people = CommunityDesk(database)
    seen: list[tuple[bool, bool]] = []
    for change in (
        people.pause("*", KEEPER),
        people.resume("*", KEEPER),
        people.set_posting(COMMUNITY_ID, False, KEEPER),
    ):
        await change
        await all_steps(board)
        card = surface.of(in_review.id)
        seen.append((card.is_paused, card.is_shadow))
    assert seen == [(True, False), (False, False), (False, True)]


async def test_an_approval_that_waits_for_the_end_of_a_pause_counts_nothing_down(
    board: ReviewBoard, surface: FakeSurface, database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Nobody knows when the pause ends; the card is edited once for it, however long it lasts."""
    outbox = Outbox(database, {PLATFORM: SampleCommunity(clock=clock)})
    await approve(desk, in_review, reply=OWN_TEXT)
    await board.step()
    await CommunityDesk(database).pause("*", KEEPER)
    clock.advance(16)
    await all_steps(board)
    calls = len(surface.calls)
    for _ in range(5):
        await outbox.send_due()
        await all_steps(board)
        clock.advance(60)
    assert len(surface.calls) == calls
    card = surface.of(in_review.id)
    assert (card.is_paused, card.send_at) == (True, None)


@pytest.mark.both_databases
async def test_the_language_that_managers_choose_shows_on_open_cards(
    board: ReviewBoard, surface: FakeSurface, database: Database, in_review: Case
) -> None:
    """Each choice once, where the card stands, although no case changed; none chosen leaves it to the platform."""

    async def choose(**chosen: str) -> None:
        policy = {"review_channel": CHANNEL, **chosen}
        await database.run(
            "choose", lambda s: communities.change(s, COMMUNITY_ID, actor="k", reason="r", policy=policy)
        )

    seen: list[str | None] = []
    choices: list[dict[str, str]] = [{}, {"language": "eu"}, {"language": "eu", "tone": "calm"}, {"language": "es"}, {}]
    for chosen in choices:
        await choose(**chosen)
        await all_steps(board)
        seen.append(surface.of(in_review.id).community_language)
    assert seen == [None, "eu", "eu", "es", None]
    assert len(surface.cards) == 1
    assert len(surface.calls) == 4, "what no card shows changes none"


async def test_without_a_channel_nothing_is_shown_and_with_another_one_open_cards_go_there(
    board: ReviewBoard,
    surface: FakeSurface,
    database: Database,
    desk: Desk,
    queue: DraftQueue,
    post: FlaggedPost,
) -> None:
    """Those that stood in the old channel, too; the card of a closed case is brought up to date where it is."""
    await choose_channel(database, "")
    first, second = posts_apart(post, 2)
    one = await desk.intake.flag(first)
    assert await all_steps(board) == 0
    await choose_channel(database, CHANNEL)
    assert await all_steps(board) == 1
    await choose_channel(database, "other-channel")
    two = await desk.intake.flag(second)
    await take(queue)
    await all_steps(board)
    channels = {card.case_id: place.channel for place, card in surface.cards.items()}
    assert channels == {one.id: "other-channel", two.id: "other-channel"}
    assert CaseState.DRAFTING in {card.state for card in surface.cards.values()}
    begun = await desk.queries.case(two.id)
    await desk.decisions.close(two.id, begun.version, MODERATOR, CloseReason.MISTAKE)
    await choose_channel(database, CHANNEL)
    await all_steps(board)
    channels = {card.case_id: place.channel for place, card in surface.cards.items()}
    assert channels[one.id] == CHANNEL
