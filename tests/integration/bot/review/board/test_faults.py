"""A platform that cannot show a card: it is tried again later, holds up no other, and somebody is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from bot.communities.governance import CommunityGovernance
from bot.communities.native_roles import LiveRoles
from bot.compose.desk import Desk
from bot.review.board import ReviewBoard
from bot.store.cases.cases import Case
from bot.store.engine.database import Database, Session
from bot.store.people import communities
from bot.store.schema import CaseRow
from bot.store.views.status import status
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.i18n.catalogs import translated
from core.i18n.sentences import listed, sentence
from core.models import FlaggedPost
from core.moderation.cards import CardTrouble
from tests.fakes.desk.boards import all_steps, board_of, choose_channel, posts_apart
from tests.fakes.desk.canary import CANARY
from tests.fakes.desk.people import COMMUNITY, COMMUNITY_ID, MODERATOR, PLATFORM
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.ports.surface import FakeSurface

_VIEW, _SEND = sentence("View Channel"), sentence("Send Messages")


async def _trouble(database: Database) -> CardTrouble | None:
    """What the status tells of the cards."""

    async def work(session: Session) -> CardTrouble | None:
        return (await status(session, await communities.load(session, COMMUNITY_ID))).card_trouble

    return await database.run("read the status", work)


@pytest.fixture
async def broken_row(database: Database, in_review: Case) -> AsyncIterator[Case]:
    """A case of which a row makes no sense."""
    await database.run(
        "break", lambda s: s.execute(update(CaseRow).values(campaign_id="no-campaign", unshown=CaseRow.unshown + 1))
    )
    yield in_review


# A platform that cannot


async def test_a_busy_platform_is_left_alone_as_long_as_it_asks(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """And nothing is lost meanwhile."""
    for one in posts_apart(post, 3):
        await desk.intake.flag(one)
    surface.faults.append(PlatformBusy("Slow down.", retry_after_seconds=30))
    await board.step()
    assert len(surface.calls) == 1
    clock.advance(29)
    assert await board.step() == 0
    clock.advance(1)
    await all_steps(board)
    assert len(surface.cards) == 3


async def test_a_closed_channel_is_tried_again_ever_later_and_the_manager_is_told(
    board: ReviewBoard,
    surface: FakeSurface,
    desk: Desk,
    post: FlaggedPost,
    database: Database,
    clock: FakeClock,
    caplog: Any,
) -> None:
    """In the status, with the remedy, until a card is shown; without a word of any case in the log."""
    for one in posts_apart(post, 2):
        await desk.intake.flag(replace(one, text=f"{one.text} {CANARY}"))
    gone = PlatformUnavailable(f"The channel {CANARY} is gone.", remedy="Choose another.")
    surface.faults += [gone] * 4
    since = clock.now
    pauses = list[int]()
    with caplog.at_level(logging.DEBUG):
        await all_steps(board)
        assert len(surface.calls) == 1, "the other card is not tried in vain"
        for calls in (2, 3, 4):
            pauses.append(0)
            while len(surface.calls) < calls:
                clock.advance(1)
                pauses[-1] += 1
                await all_steps(board)
    assert pauses == sorted(set(pauses)), "each pause is longer"
    assert await _trouble(database) == CardTrouble(gone.message, "Choose another.", since)
    assert CANARY not in caplog.text
    clock.advance(3600)
    await all_steps(board)
    assert len(surface.cards) == 2
    assert await _trouble(database) is None


async def test_a_trouble_is_of_one_channel_and_the_next_one_is_tried_at_once(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """Whoever chose another channel need not wait until the old one would have been tried again."""
    await desk.intake.flag(post)
    surface.faults += [PlatformUnavailable("The review channel is gone.", remedy="Choose another.")] * 2
    await all_steps(board)
    clock.advance(10)
    await all_steps(board)
    assert (await _trouble(database)) is not None
    await choose_channel(database, "other-channel")
    assert await _trouble(database) is None
    await all_steps(board)
    assert [place.channel for place in surface.cards] == ["other-channel"]


async def test_a_process_that_shows_no_cards_tells_the_trouble_too(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database
) -> None:
    """It is asked of whichever process answers the command; a new one knows what the one before it met."""
    await desk.intake.flag(post)
    allow = sentence("In the channel's settings, allow Antiphon: {permissions}.", permissions=listed([_VIEW, _SEND]))
    closed = PlatformUnavailable(sentence("Antiphon may not write in the review channel."), remedy=allow)
    surface.faults.append(closed)
    await all_steps(board)
    other = CommunityGovernance(database, LiveRoles(database, {}))
    found = await other.status(PLATFORM, COMMUNITY, MODERATOR)
    assert found.card_trouble is not None
    assert (found.card_trouble.message, found.card_trouble.remedy) == (closed.message, closed.remedy)
    said = translated(found.card_trouble.remedy, "es")
    assert said == "En los ajustes del canal, permite a Antiphon: Ver canal, Enviar mensajes."


# A card that cannot be shown


@pytest.mark.parametrize("fault", [ValueError("a layout that breaks"), AmbiguousSend("no answer"), TimeoutError()])
async def test_one_card_that_cannot_be_shown_holds_up_no_other(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, clock: FakeClock, fault: Exception
) -> None:
    """Whatever is wrong with it, it is tried again later."""
    for one in posts_apart(post, 3):
        await desk.intake.flag(one)
    surface.faults.append(fault)
    await all_steps(board)
    assert len(surface.cards) == 2
    clock.advance(60)
    await all_steps(board)
    assert len(surface.cards) == 3


async def test_a_card_whose_answer_was_lost_stands_once(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """The surface recognises the case by its key."""
    await desk.intake.flag(post)
    surface.loses_answers = 1
    await all_steps(board)
    clock.advance(60)
    await all_steps(board)
    assert (len(surface.calls), len(surface.cards)) == (2, 1)


async def test_a_call_that_never_ends_is_given_up(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost
) -> None:
    """A connection that hangs does not hold the office for ever."""
    await desk.intake.flag(post)
    surface.line = asyncio.Event()
    async with asyncio.timeout(GUARD_SECONDS):
        assert await board_of(database, surface, timeout_seconds=0.01).step() == 1
    assert not surface.cards


async def test_a_card_that_cannot_be_made_holds_up_no_other(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, broken_row: Case, post: FlaggedPost, clock: FakeClock
) -> None:
    """It is tried again later, and somebody reads of it in the log."""
    other = await desk.intake.flag(posts_apart(post, 1)[0])
    await all_steps(board)
    assert [card.case_id for card in surface.cards.values()] == [other.id]
    assert broken_row.id != other.id
