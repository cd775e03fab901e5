"""Cards in a channel that has another id on its platform from now on: those of open cases are put up again there."""

import pytest

from bot.compose.desk import Desk
from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database
from core.desk.review.board import ReviewBoard
from core.desk.rules.closures import CloseReason
from core.desk.store.cases import Case
from core.models import FlaggedPost
from tests.fakes.desk.boards import CHANNEL, all_steps, posts_apart
from tests.fakes.desk.people import MODERATOR, PLATFORM
from tests.fakes.ports.surface import FakeSurface


@pytest.mark.both_databases
async def test_open_cases_are_shown_anew_and_once(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, database: Database, in_review: Case, post: FlaggedPost
) -> None:
    """The old cards cannot be changed any more and are left alone; a closed case is left without a card."""
    cases = [await desk.intake.flag(one) for one in posts_apart(post, 2)]
    await all_steps(board)
    assert len(surface.cards) == 3
    await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.PREACHY)
    await all_steps(board)
    before = len(surface.calls)
    governance = Governance(database, LiveRoles(database, {}))
    for _ in range(2):
        await governance.moved(PLATFORM, CHANNEL, "mod-review-2")
        await all_steps(board)
    again = surface.calls[before:]
    assert sorted(card.case_id for card, _, _ in again) == sorted(case.id for case in cases)
    assert {(channel, shown) for _, channel, shown in again} == {("mod-review-2", None)}
