"""What keeps a desk in order while people work at it: erasures, the chores, and what they must leave behind.

Owns what each of them promises, held against the database right after it.
"""

from datetime import timedelta
from enum import StrEnum
from typing import assert_never

from sqlalchemy import select

from core.desk.database.connection import Session
from core.desk.drafting.queue import DraftQueue
from core.desk.invariants.facts import Revocation
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.schema import ApprovalRow, CaseRow, JobRow, JobState, PersonRow
from core.desk.store.people import known_pseudonym
from core.desk.upkeep.chores import Chore, Chores, slot_key
from core.desk.upkeep.digest import EVERY, Digest
from core.desk.upkeep.erasure import ERASURE, Erasure
from core.desk.upkeep.retention import Cleanup, Expiry, FoldedCases, Retention, months_before
from core.desk.upkeep.scrub import SCRUB, DiskScrub
from tests.fakes.desk.chores import NOW, job
from tests.fakes.desk.people import COMMUNITY_ID, PLATFORM
from tests.torture.world.posts import said_in_thread
from tests.torture.world.scene import Scene

RETENTION_DAYS = 30
STATISTICS_MONTHS = 12


class Keeping(StrEnum):
    """A chore."""

    EXPIRY = "expiry"
    FOLDED = "folded cases"
    STALE = "stale cases"
    DIGEST = "digest"
    PRUNING = "pruning"
    ROOM = "waiting cases"
    ASKED = "what was asked for: erasures, scrubbing"
    RETENTION = "retention"


class Keepers(Scene):
    """The schedule, and who runs the installation."""

    async def erase(self, user: str) -> None:
        """Somebody is erased on request: once this is acknowledged, no word of theirs is left but on the platform."""
        self.erasing.add(user)
        theirs = [ref for ref, author in self.authors.items() if author == user]
        self.acknowledged = [ref for ref in self.acknowledged if ref not in theirs]
        person = await self.database.run("look somebody up", lambda s: known_pseudonym(s, PLATFORM, user))
        erased = await Erasure(self.database).erase(PLATFORM, user)
        assert erased.is_known == (person is not None), "An erasure took somebody else."
        if person is not None:
            self.figures.erasures += 1
            self.erased.append(person)
            self.revoked.append(Revocation(person, COMMUNITY_ID, self.clock()))
            self.gone |= {self.texts[ref] for ref in theirs} | {said_in_thread(user)}
        if not await self.is_erasing():
            self.erasing.clear()

    async def unfinished(self) -> list[str]:
        """The cases of which words are left although nothing links their author to a person."""

        async def work(session: Session) -> list[str]:
            known = select(PersonRow.id)
            return list(
                await session.scalars(select(CaseRow.id).where(CaseRow.text != "", CaseRow.author.not_in(known)))
            )

        return await self.database.run("look for erased authors", work)

    async def is_erasing(self) -> bool:
        """Whether an erasure that was begun waits to be finished."""

        async def work(session: Session) -> bool:
            waiting = select(JobRow.id).where(JobRow.kind == ERASURE)
            at_work = waiting.where(JobRow.state.in_((JobState.READY, JobState.RUNNING)))
            return await session.scalar(at_work.limit(1)) is not None

        return await self.database.run("look for erasures", work)

    async def keep_order(self, what: Keeping) -> None:
        """A chore is due."""
        self.figures.chores += 1
        match what:
            case Keeping.EXPIRY:
                await Expiry(self.database).do(NOW)
            case Keeping.FOLDED:
                await self.close_folded()
            case Keeping.STALE:
                await DraftQueue(self.database, "keeper", lease_seconds=self.lease_seconds).put_back_lost()
                await self.outbox.recover()
            case Keeping.DIGEST:
                await Digest(self.database).do(job(slot_key("audit digest", self.clock(), EVERY)))
            case Keeping.PRUNING:
                await Cleanup(self.database).do(NOW)
            case Keeping.ROOM:
                await self.desk.intake.admit_waiting()
            case Keeping.ASKED:
                await self.do_what_was_asked()
            case Keeping.RETENTION:
                await self.retain()
            case _:
                assert_never(what)

    async def close_folded(self) -> None:
        """Folded cases are closed with the one that stood for them, as soon as nobody can undo that any longer."""
        decided = self.clock() - timedelta(seconds=self.undo_seconds)
        closed = {case.id for case in await self.cases(*CLOSED) if case.updated_at <= decided}
        before = [case for case in await self.cases(CaseState.FOLDED) if case.campaign_id is not None]
        await FoldedCases(self.database, undo_seconds=self.undo_seconds).do(NOW)
        for case in before:
            is_decided = await self.lead_of(case) in closed
            is_closed = (await self.desk.queries.case(case.id)).state in CLOSED
            assert is_closed == is_decided, "A folded case was closed too early, or not at all."

    async def do_what_was_asked(self) -> None:
        """Erasures that were interrupted go on, and erased words are scrubbed off the disk."""
        erasure, scrubbing = Erasure(self.database), DiskScrub(self.database)
        asked = [Chore(ERASURE, erasure.do, must_end=True), Chore(SCRUB, scrubbing.do, must_end=True)]
        await Chores(self.database, asked, "keeper").drain()
        if not await self.is_erasing():
            self.erasing.clear()

    async def retain(self) -> None:
        """Words go 30 days after a case was closed, what is left of it 12 months after, and nothing goes before."""
        before, approved = await self.cases(), await self.database.run("read approvals", _approved)
        moment = self.clock()
        await Retention(self.database, days=RETENTION_DAYS, months=STATISTICS_MONTHS).do(job(f"retention:{moment}"))
        after = {case.id: case for case in await self.cases()}
        for case in before:
            days, is_closed = (moment - case.updated_at).days, case.state in CLOSED
            if case.id not in after:
                is_old = case.updated_at <= months_before(self.clock(), STATISTICS_MONTHS)
                assert is_closed and is_old, "The retention deleted a case before its time."
                self.authors.pop(case.post.ref, None)
                self.acknowledged = [ref for ref in self.acknowledged if ref != case.post.ref]
                self.past |= {approval for approval, case_id in approved.items() if case_id == case.id}
            elif is_closed and days >= RETENTION_DAYS:
                assert not after[case.id].post.text, "The retention left the words of a case."
            elif not is_closed:
                assert after[case.id] == case, "The retention touched an open case."


async def _approved(session: Session) -> dict[str, str]:
    return {row.id: row.case_id for row in await session.scalars(select(ApprovalRow))}
