"""The board of a review channel in memory: begun as a process does, followed until nothing is left to show."""

from dataclasses import replace

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.review.board import ReviewBoard
from core.desk.schema import CommunityRow
from core.desk.store import communities
from core.models import FlaggedPost
from tests.fakes.desk.people import COMMUNITY_ID, PLATFORM
from tests.fakes.ports.surface import FakeSurface

CHANNEL = "mod-review"


async def choose_channel(database: Database, channel: str) -> None:
    """The sample community shows its cards in this channel from now on, or, without a name, nowhere."""

    async def work(session: Session) -> None:
        row = await session.get_one(CommunityRow, COMMUNITY_ID)
        row.policy = {"review_channel": channel} if channel else {}

    await database.run("set the channel", work)


def board_of(database: Database, surface: FakeSurface, owner: str = "process-1") -> ReviewBoard:
    return ReviewBoard(database, surface, PLATFORM, owner, poll_seconds=0.001)


async def all_steps(board: ReviewBoard) -> int:
    """Step until nothing is left; how many cards were looked at."""
    total = 0
    while looked := await board.step():
        total += looked
    return total


def posts_apart(post: FlaggedPost, count: int) -> list[FlaggedPost]:
    """Posts like the given one that have no word in common, so that each has a case of its own."""
    return [
        replace(post, ref=replace(post.ref, message=str(500 + number)), text=f"{number} " * 40, root=str(500 + number))
        for number in range(count)
    ]


async def towns(database: Database, desk: Desk, post: FlaggedPost, count: int, *, posts: int) -> list[str]:
    """So many communities, each with a review channel and some flagged posts; their names."""
    names = [f"town-{number:02}" for number in range(count)]

    async def work(session: Session) -> None:
        for name in names:
            row = await session.get_one(CommunityRow, (await communities.ensure(session, PLATFORM, name)).id)
            row.policy = {"review_channel": f"review-of-{name}"}

    await database.run("found towns", work)
    for number, name in enumerate(names):
        for one in posts_apart(post, posts):
            ref = replace(one.ref, community=name, message=f"{number}-{one.ref.message}")
            await desk.intake.flag(replace(one, ref=ref, text=f"{name} {one.text}", author=f"author {number}"))
    return names
