"""Erasure of a person, on their request (reliability, T26 and I15).

It happens in this order: first the one row that links the pseudonym to the person, in the request's own transaction;
then every word of theirs, found by that pseudonym, case by case; and at last the bytes on the disk. If it is
interrupted, a job does the rest. What Antiphon posted stays on the platform, where a moderator can retract it.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from sqlalchemy import delete, select, update

from core.desk import schema
from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.roles import OnCommunity, Person
from core.desk.store import accounts, campaigns, communities, inbox, jobs, own_cards
from core.desk.store.audit import write
from core.desk.store.cases import draft_anew, load, touch, transition
from core.desk.store.erasure import FORGOTTEN, cases_quoting, erase_case, erase_turns, forget_place
from core.desk.store.people import known_pseudonym, require_on_community
from core.desk.store.suggestions import cases_with_prepared
from core.desk.upkeep.chores import Done
from core.desk.upkeep.scrub import scrub
from core.engine.wording.text import counted
from core.errors import NotAllowed
from core.i18n.sentences import sentence

ERASURE: Final = "erasure"
ERASURES: Final = "erasures"
"""The stream of the audit log that says when a person was erased, but never who."""
_ON_THEIR_WAY: Final = (CaseState.SENDING, CaseState.UNKNOWN)
_FALLBACK: Final = timedelta(minutes=5)
_AGAIN: Final = timedelta(minutes=5)


@dataclass(slots=True)
class ErasureReport:
    """What was erased. ``waiting`` cases have a reply on its way; the rest of them is erased when that is settled.

    ``cases`` is how many of their posts lost every word, ``closed`` how many of those were still open; ``turns`` counts
    what they had said around other posts.
    """

    is_known: bool = True
    cases: int = 0
    closed: int = 0
    waiting: int = 0
    turns: int = 0
    notes: int = 0
    memberships: int = 0


async def require_only_here(session: Session, person: str | None, community_id: str) -> None:
    """Refuse to show or erase what other communities keep of a person. Who asks is not told which these are."""
    flagged = select(schema.CaseRow.community_id).where(
        (schema.CaseRow.author == person) | (schema.CaseRow.flagged_by == person)
    )
    roles = select(schema.MembershipRow.community_id).where(schema.MembershipRow.person_id == person)
    if any(elsewhere != community_id for elsewhere in await session.scalars(flagged.union(roles))):
        raise NotAllowed(
            sentence("This person is known in another community of this installation, too."),
            remedy=sentence("Ask whoever runs Antiphon: they can erase a person everywhere."),
        )


class Erasure:
    """Erases people."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def knows(self, platform: str, user: str) -> bool:
        """Whether anything is kept of a person. Raises ``StoreUnavailable``."""

        async def look(session: Session) -> bool:
            is_named = await inbox.names_person(session, platform, user)
            return is_named or await known_pseudonym(session, platform, user) is not None

        return await self._database.run("look for a person", look)

    async def erase(
        self, platform: str, user: str, *, by: Person | None = None, community_id: str = ""
    ) -> ErasureReport:
        """Erase a person from this whole installation, now.

        Args:
            platform: where they are.
            user: their id there.
            by: the person who asks for it, an administrator of ``community_id``; ``None`` for the one who runs
                Antiphon.

        Raises:
            NotAllowed: ``by`` may not erase anybody, or the person is known in other communities, too, whose cases
                and roles are not theirs to erase.
            StoreUnavailable: the database does not answer, or was in use all the time. What was begun is finished by
                the schedule.
        """

        async def begin(session: Session) -> tuple[str | None, int, int, int]:
            actor = "terminal"
            if by is not None:
                actor = await require_on_community(session, community_id, by, OnCommunity.ERASE)
                await require_only_here(session, await known_pseudonym(session, platform, user), community_id)
            updates = await inbox.forget_person(session, platform, user)
            await accounts.forget_person(session, platform, user)
            person = await known_pseudonym(session, platform, user)
            if person is None:
                return None, updates, 0, 0
            return person, updates, *await _shred(session, person, actor)

        person, updates, notes, memberships = await self._database.run("shred a person's key", begin)
        if person is None:
            if updates:
                await scrub(self._database)
            return ErasureReport(is_known=False)
        count = await self._finish(person)
        if not count.waiting:
            await self._database.run("end an erasure", lambda session: _end(session, person))
        return replace(count, notes=notes, memberships=memberships)

    async def do(self, job: jobs.Job) -> Done:
        """Continue an erasure that was interrupted, or that waits for a send to be settled."""
        count = await self._finish(str(job.payload["person"]))
        what = (
            f"{counted(count.cases, 'case')}, {counted(count.turns, 'message')}, {count.waiting} waiting for a send to "
            "be settled"
        )
        return Done(what, _AGAIN if count.waiting else None)

    async def _finish(self, person: str) -> ErasureReport:
        """Erase all that is left under a pseudonym whose key was deleted; doing it twice does no harm."""
        count = ErasureReport()
        for case_id, community_id in await self._database.run("look for a person's cases", lambda s: _own(s, person)):
            await self._erase_own(case_id, community_id, count)
        for case_id in await self._database.run("look for a person's words", lambda s: cases_quoting(s, person)):
            await self._erase_words(case_id, person, count)
        await scrub(self._database)
        return count

    async def _erase_own(self, case_id: str, community_id: str, count: ErasureReport) -> None:
        async def work(session: Session) -> tuple[bool, bool]:
            # No post is captured here meanwhile, so none joins a campaign that is being given another lead.
            await communities.load(session, community_id, lock=True)
            await session.execute(select(schema.CaseRow.id).filter_by(id=case_id).with_for_update())
            case = await load(session, case_id)
            is_waiting, is_open = case.state in _ON_THEIR_WAY, case.state not in CLOSED
            if is_open and not is_waiting:
                await campaigns.lead_on(session, case_id, actor="schedule")
                to, reason = CaseState.WITHDRAWN, "its author was erased"
                await transition(session, case_id, case.version, to, actor="schedule", reason=reason)
            await erase_case(session, case_id, is_final=not is_waiting)
            if not is_waiting:
                await forget_place(session, case_id)
            return is_waiting, is_open

        is_waiting, is_open = await self._database.run("erase a person's case", work)
        count.cases += not is_waiting
        count.waiting += is_waiting
        count.closed += is_open and not is_waiting

    async def _erase_words(self, case_id: str, person: str, count: ErasureReport) -> None:
        async def work(session: Session) -> int:
            await session.execute(select(schema.CaseRow.id).filter_by(id=case_id).with_for_update())
            case = await load(session, case_id)
            turns = await erase_turns(session, case_id, person)
            # A worker has read the thread and would store it again: what it finds is not kept.
            if turns and case.state is CaseState.DRAFTING:
                await draft_anew(session, case, actor="schedule", reason="somebody in the thread was erased")
            return turns

        count.turns += await self._database.run("erase a person's words", work)


async def _shred(session: Session, person: str, actor: str) -> tuple[int, int]:
    """Delete what links a pseudonym to a person, and what they typed; returns how many notes and roles those were."""
    typed = select(schema.NoteRow.stream, schema.NoteRow.seq).join(
        schema.AuditRow, (schema.AuditRow.stream == schema.NoteRow.stream) & (schema.AuditRow.seq == schema.NoteRow.seq)
    )
    notes = list(await session.execute(typed.where(schema.AuditRow.actor == person)))
    for stream, seq in notes:
        await session.execute(delete(schema.NoteRow).where(schema.NoteRow.stream == stream, schema.NoteRow.seq == seq))
    roles = (
        delete(schema.MembershipRow)
        .where(schema.MembershipRow.person_id == person)
        .returning(schema.MembershipRow.role)
    )
    memberships = (await session.execute(roles)).all()
    for table in (schema.KnownNameRow, schema.ProposalRow, schema.FlaggerRow, schema.MemberFlagRow):
        await session.execute(delete(table).where(table.person_id == person))
    firsts = (
        delete(schema.FirstApprovalRow)
        .where(schema.FirstApprovalRow.moderator == person)
        .returning(schema.FirstApprovalRow.case_id)
    )
    await touch(session, *sorted(set(await session.scalars(firsts))))
    await session.execute(
        update(schema.CaseRow)
        .where(schema.CaseRow.held_by == person)
        .values(held_by=None, held_until=None, unshown=schema.CaseRow.unshown + 1)
    )
    for community_id, reply in await own_cards.forget_person(session, person):
        await touch(session, *await cases_with_prepared(session, community_id, reply))
    await session.execute(delete(schema.PersonRow).where(schema.PersonRow.id == person))
    await write(session, ERASURES, actor=actor, reason="a person was erased on request")
    # If this process is stopped, the schedule goes on.
    key, payload = f"{ERASURE}:{person}", {"person": person}
    await jobs.enqueue(session, key, ERASURE, payload=payload, after=_FALLBACK)
    return len(notes), len(memberships)


async def _own(session: Session, person: str) -> list[tuple[str, str]]:
    """The cases of a person's posts of which anything is left, each with its community."""
    query = select(schema.CaseRow.id, schema.CaseRow.community_id).where(
        schema.CaseRow.author == person, ~schema.CaseRow.message.startswith(FORGOTTEN)
    )
    return [
        (case_id, community_id) for case_id, community_id in await session.execute(query.order_by(schema.CaseRow.id))
    ]


async def _end(session: Session, person: str) -> None:
    """Record that an erasure is finished, unless the schedule is working on it."""
    await session.execute(
        update(schema.JobRow)
        .where(schema.JobRow.key == f"{ERASURE}:{person}", schema.JobRow.state == schema.JobState.READY)
        .values(state=schema.JobState.DONE, updated_at=session.moment)
    )
