"""A desk with many cases behind it, and a meter of what its database does for one thing more."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypeVar

from sqlalchemy import event, insert, update

from core.desk import schema
from core.desk.database.connection import Database, Session
from core.desk.intake import Intake
from core.desk.rules.approval import CaseState, text_hash
from core.desk.store import communities, people
from core.desk.store.cases import Case, transition_all
from core.desk.store.suggestions import suggestion_to_json
from core.models import FlaggedPost, PostRef
from tests.fakes.desk.people import COMMUNITY, COMMUNITY_ID, MODERATOR, PLATFORM
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock

T = TypeVar("T")
BATCH: Final = 50
WAITING: Final = 10
"""Cases in review; all others are closed."""
_TO_REVIEW: Final = (CaseState.DRAFTING, CaseState.IN_REVIEW)
_TO_POSTED: Final = (CaseState.APPROVED, CaseState.SENDING, CaseState.POSTED)
_TEXT: Final = "Most newcomers work."


class Meter:
    """Counts the steps of SQLite's virtual machine: about as many for each row that is looked at, and no seconds.

    Made over a database that has no connection just now.
    """

    def __init__(self, database: Database) -> None:
        self.steps = 0
        self.of = Counter[str]()
        self._before = 0

        @event.listens_for(database.engine.sync_engine, "connect")
        def _(connection: Any, _record: object) -> None:
            connection.run_async(lambda own: own.set_progress_handler(self._step, 1))

        @event.listens_for(database.engine.sync_engine, "before_cursor_execute")
        def _(*_: Any) -> None:
            self._before = self.steps

        @event.listens_for(database.engine.sync_engine, "after_cursor_execute")
        def _(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
            self.of[statement] += self.steps - self._before

    def _step(self) -> int:
        self.steps += 1
        return 0

    async def spent(self, call: Callable[[], Awaitable[T]]) -> tuple[T, Counter[str]]:
        """What a call gives, and the steps that each statement took for it."""
        self.of = Counter()
        return await call(), self.of.copy()


def apart(number: int, *, says: str = "") -> FlaggedPost:
    """A post by somebody of its own that has no word in common with another one's, unless it ``says`` the same."""
    digits = sha256(str(number).encode()).hexdigest()
    words = " ".join(digits[at : at + 8] for at in range(0, 64, 8))
    ref = PostRef(PLATFORM, COMMUNITY, "square", f"post-{number}")
    return FlaggedPost(ref, f"{says} {words}".strip(), f"author-{number}", f"flagger-{number}", "by hand")


async def fill(database: Database, clock: FakeClock, count: int, *, says: str = "") -> None:
    """Flag this many posts, and bring them to an end, except some of the first that wait for people."""
    intake = Intake(database, max_queued=count)
    for first in range(0, count, BATCH):
        posts = [apart(number, says=says) for number in range(first, first + BATCH)]
        cases = await asyncio.gather(*map(intake.flag, posts))
        await database.run("fill", partial(_decide, cases=cases, leaves=WAITING if first == 0 else 0))
        clock.advance(60)


async def _decide(session: Session, cases: Sequence[Case], leaves: int) -> None:
    """Move flagged cases on, as workers, moderators and the outbox do, with every row that this leaves behind."""
    left = list(cases)
    for state in _TO_REVIEW:
        left = await transition_all(session, left, state, actor="test", reason="prepared")
    await _keep_drafts(session, left)
    closed = left[leaves:]
    await transition_all(session, closed[::2], CaseState.DECLINED, actor="test", reason="declined: off_tone")
    await _post(session, closed[1::2])
    await session.execute(update(schema.JobRow).values(state=schema.JobState.DONE, started_at=session.moment))
    await session.execute(update(schema.CaseRow).values(unshown=0))


async def _keep_drafts(session: Session, cases: Sequence[Case]) -> None:
    document, now = suggestion_to_json(suggestion_for(cases[0].post)), session.moment
    drafted = {"document": document, "created_at": now}
    shown = {"channel": "mod-review", "digest": "as it was", "shown_at": now}
    await session.execute(
        insert(schema.SuggestionRow), [drafted | {"id": f"s-{case.id}", "case_id": case.id} for case in cases]
    )
    await session.execute(
        insert(schema.ReviewCardRow), [shown | {"message": f"card-{case.id}", "case_id": case.id} for case in cases]
    )


async def _post(session: Session, cases: Sequence[Case]) -> None:
    now = session.moment
    approved = {
        "text": _TEXT,
        "footer": "",
        "sha256": text_hash(_TEXT),
        "moderator": await people.pseudonym(session, MODERATOR.platform, MODERATOR.user),
        "approved_at": now,
        "expires_at": now + timedelta(hours=24),
        "policy_version": (await communities.load(session, COMMUNITY_ID)).rules_version,
        "edited": False,
        "target_sha256": text_hash("a post"),
    }
    sent = {
        "state": schema.OutboxState.POSTED,
        "not_before": now,
        "attempts": 1,
        "first_sent_at": now,
        "updated_at": now,
    }
    await session.execute(
        insert(schema.ApprovalRow), [approved | {"id": f"a-{case.id}", "case_id": case.id} for case in cases]
    )
    await session.execute(
        insert(schema.OutboxRow), [sent | {"id": f"o-{case.id}", "approval_id": f"a-{case.id}"} for case in cases]
    )
    await session.execute(update(schema.OutboxRow).values(remote_message=schema.OutboxRow.id, posted_at=now))
    for state in _TO_POSTED:
        cases = await transition_all(session, cases, state, actor="test", reason="prepared")
