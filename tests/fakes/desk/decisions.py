"""What people do in the tests of desk and database, and a look into the tables."""

from dataclasses import replace
from typing import Any

from sqlalchemy import text

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue, TakenCase
from core.desk.review.approvals import AwaitsSecond, CompleteApproval
from core.desk.review.casework import Casework
from core.desk.rules.approval import ApprovedReply
from core.desk.rules.case_cards import Card, DraftProgress, ProposedReply
from core.desk.rules.roles import Person
from core.desk.store.cases import DRAFT, Case
from core.desk.views.status import progress
from core.models import FlaggedPost, Origin
from tests.fakes.desk.people import MODERATOR
from tests.fakes.engine.suggestions import suggestion_for

OWN_TEXT = "We all live here, and most of us came from somewhere."
BOLD = "We all live here, and 93% of us are glad."
"""A reply with a figure that no evidence holds, so that it takes two persons."""


async def take(queue: DraftQueue) -> TakenCase:
    taken = await queue.take()
    assert taken is not None
    return taken


async def drafted(desk: Desk, queue: DraftQueue, post: FlaggedPost, **reading: Any) -> Case:
    """Bring a post before a moderator, with drafts and what was read otherwise; nothing else may be queued."""
    await desk.intake.flag(post)
    taken = await take(queue)
    made = suggestion_for(taken.case.post)
    return await queue.store(taken, replace(made, reading=replace(made.reading, **reading)))


async def drafted_from(desk: Desk, queue: DraftQueue, post: FlaggedPost, prepared: str) -> Case:
    """The same, with a first draft that is made of a prepared reply."""
    await desk.intake.flag(post)
    taken = await take(queue)
    made = suggestion_for(taken.case.post)
    first = replace(made.drafts[0], origins=(Origin.PREPARED,), prepared=(prepared,))
    return await queue.store(taken, replace(made, drafts=(first, *made.drafts[1:])))


async def shown(
    desk: Desk, case: Case, by: Person = MODERATOR, reply: str | None = OWN_TEXT, rank: int | None = None
) -> ProposedReply:
    """Have a text shown to a person, after their roles were asked for: one of their own, or a draft."""
    await desk.live_roles.refresh_in(case.post.ref.platform, case.post.ref.community, by)
    return await desk.proposals.propose(case.id, case.version, by, rank=rank, text=reply)


async def approve(
    desk: Desk, case: Case, by: Person = MODERATOR, reply: str | None = OWN_TEXT, rank: int | None = None
) -> ApprovedReply:
    approved = await desk.approvals.approve((await shown(desk, case, by, reply, rank)).id, by)
    assert isinstance(approved, CompleteApproval), approved
    return approved.reply


async def approve_first(desk: Desk, case: Case, by: Person = MODERATOR, reply: str = BOLD) -> AwaitsSecond:
    """Have a text shown that takes two persons, and approve it as the first."""
    awaits = await desk.approvals.approve((await shown(desk, case, by, reply)).id, by)
    assert isinstance(awaits, AwaitsSecond), awaits
    return awaits


async def card_of(front: Casework, case: Case) -> Card:
    return await front.card(case.id, MODERATOR)


async def propose(front: Casework, case: Case, text: str = BOLD, by: Person = MODERATOR) -> ProposedReply:
    """Have a text shown that somebody wrote, so that they can approve it."""
    return await front.propose(case.id, case.version, by, text=text)


async def one_row(database: Database, query: str) -> tuple[object, ...]:

    async def work(session: Session) -> tuple[object, ...]:
        return tuple((await session.execute(text(query))).one())

    return await database.run("look", work)


async def execute(database: Database, statement: str) -> None:
    """Change something behind the desk's back."""
    await database.run("meddle", lambda session: session.execute(text(statement)))


async def progress_of(database: Database, case_id: str) -> DraftProgress | None:
    return await database.run("read progress", lambda session: progress(session, case_id, DRAFT))
