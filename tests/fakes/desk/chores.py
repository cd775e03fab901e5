"""What the tests of chores share: a piece of work for one that is asked directly, and cases in the states."""

from dataclasses import replace
from typing import Any, Final

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.schema import CaseRow
from core.desk.store.cases import Case, transition
from core.desk.store.jobs import Job
from core.models import FlaggedPost
from tests.fakes.desk.decisions import drafted, execute
from tests.fakes.desk.people import MODERATOR

DAY: Final = 24 * 3600
"""Seconds."""


def job(key: str = "chore:now", **payload: Any) -> Job:
    """Work that somebody took."""
    return Job("1", key, key.partition(":")[0], "", None, 1, "test", payload)


NOW: Final = job()


def other(post: FlaggedPost, message: str, by: str | None = None) -> FlaggedPost:
    """The same words in another message, flagged ``by`` the same person or another one."""
    return replace(post, ref=replace(post.ref, message=message), flagged_by=by or post.flagged_by)


async def closed(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> Case:
    """A case that was drafted and declined; nothing else may be queued."""
    case = await drafted(desk, queue, post)
    return await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.OTHER, "typed by a moderator")


async def to_sending(database: Database, case: Case) -> None:
    """Bring an approved case to ``sending``, as the outbox does."""

    async def work(session: Session) -> None:
        row = await session.get_one(CaseRow, case.id)
        await transition(session, case.id, row.version, CaseState.SENDING, actor="outbox", reason="sending")

    await database.run("send", work)
    await execute(database, "UPDATE outbox SET state = 'sending'")


async def posted(database: Database, desk: Desk, case: Case, message: str | None = None) -> Case:
    """Bring an approved case to ``posted``, as the outbox does."""

    async def work(session: Session) -> Case:
        now = await session.get_one(CaseRow, case.id)
        sending = await transition(session, case.id, now.version, CaseState.SENDING, actor="outbox", reason="sending")
        return await transition(session, case.id, sending.version, CaseState.POSTED, actor="outbox", reason="posted")

    done = await database.run("post", work)
    remote = "NULL" if message is None else f"'{message}'"
    await execute(
        database,
        f"UPDATE outbox SET state = 'posted', remote_message = {remote}, posted_at = updated_at WHERE approval_id IN "
        f"(SELECT id FROM approvals WHERE case_id = '{case.id}')",
    )
    return done
