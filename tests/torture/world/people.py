"""What people do to a desk: flag, decide, look, and give rights and take them away, here and on the platform."""

import asyncio
from dataclasses import replace
from datetime import datetime

from core.desk.database.connection import Session
from core.desk.invariants.facts import Closure, Revocation
from core.desk.rules.approval import CaseState, undone_to
from core.desk.rules.closures import CloseReason, RetractReason, closed_as
from core.desk.rules.roles import Person, Role
from core.desk.schema import CaseRow
from core.desk.store import outbox
from core.desk.store.cases import Case
from tests.fakes.desk.people import COMMUNITY_ID, MODERATOR, OTHER_MODERATOR, PLATFORM, pseudonym_of
from tests.torture.world.posts import numbered_post
from tests.torture.world.scene import OPERATOR, Scene

NATIVE = Person(PLATFORM, "moderator_three", "moderator_three")
"""A moderator by the platform's own rights alone."""


class People(Scene):
    """Everybody."""

    async def flag(self, number: int, copy: int = 0, *, quotes: str | None = None) -> Case:
        """A person flags a post, which is on the platform."""
        post = numbered_post(number, copy, quotes=quotes)
        self.platform.posts.setdefault(post.ref, post.text)
        self.authors[post.ref], self.texts[post.ref] = post.author, post.text
        self.gone -= {post.text, *(message.text for message in post.thread)}
        case = await self.desk.intake.flag(post)
        if post.author not in self.erasing:  # a case that is being erased is not lost when it is gone
            self.acknowledged.append(post.ref)
        self.figures.flags += 1
        return case

    async def raid(self, number: int, copies: int) -> None:
        """Several people post nearly the same, and somebody flags all of it."""
        for copy in range(copies + 1):
            case = await self.flag(number, copy)
            self.figures.folded += case.state is CaseState.FOLDED

    async def approve(
        self, case: Case, by: Person = MODERATOR, text: str = "", *, shown_to: Person | None = None
    ) -> None:
        """Somebody approves a draft, or a text of their own; ``shown_to`` is who was shown it, if it was another."""
        stored = await self.desk.queries.suggestion(case.id)
        is_draft = not text and stored is not None and bool(stored.suggestion.drafts)
        rank, reply = (1, None) if is_draft else (None, text or "We all live here.")
        await self.desk.live_roles.refresh_in(case.post.ref.platform, case.post.ref.community, by)
        shown = await self.desk.proposals.propose(case.id, case.version, shown_to or by, rank=rank, text=reply)
        await self.desk.approvals.approve(shown.id, by)

    async def approve_at_once(self, case: Case) -> None:
        """Two moderators approve the same version at the same time; one of them wins at most."""
        before = case.version
        await asyncio.gather(
            self.attempt(self.approve(case, MODERATOR)), self.attempt(self.approve(case, OTHER_MODERATOR))
        )
        after = (await self.desk.queries.case(case.id)).version
        assert after in (before, before + 1), "Two decisions on one version were kept."

    async def undo(self, case: Case) -> None:
        await self.desk.decisions.undo(case.id, case.version, MODERATOR)

    async def close(
        self, case: Case, reason: CloseReason = CloseReason.OFF_TONE, by: Person = MODERATOR, note: str = "as I see it"
    ) -> None:
        """Somebody closes a case; that its post is not hateful is kept as a label then, and by no other reason."""
        closed = await self.desk.decisions.close(case.id, case.version, by, reason, note)
        assert closed.state is closed_as(reason)
        assert (await self._label(closed) is False) == (reason is CloseReason.NOT_HATEFUL)

    async def undo_closing(self, case: Case, by: Person = MODERATOR) -> None:
        """Somebody takes back that a case was closed: only who closed it can, in time, and it waits as before."""
        last = (await self.desk.queries.history(case.id))[-1]
        seconds = (self.clock() - last.at).total_seconds()
        opened = await self.attempt(self.desk.decisions.undo(case.id, case.version, by))
        if opened is None:
            assert await self.desk.queries.case(case.id) == case, "What was refused changed the case."
            return
        assert last.actor == await pseudonym_of(self.database, by), "Somebody undid what another person decided."
        assert seconds <= self.undo_seconds, "A closing was undone too late."
        assert opened.state is undone_to(last.from_state)
        assert await self._label(opened) is None, "The post of an open case still counts as not hateful."
        self.figures.undone += 1

    async def _label(self, case: Case) -> bool | None:
        """Whether the post is hateful, by what people said."""

        async def work(session: Session) -> bool | None:
            return (await session.get_one(CaseRow, case.id)).is_hateful

        return await self.database.run("read a label", work)

    async def split(self, case: Case) -> None:
        """A moderator takes a folded case out of its campaign; from then on it is decided for itself."""
        alone = await self.desk.intake.split_out(case.id, case.version, MODERATOR)
        assert (await self.desk.queries.case(alone.id)).campaign_id is None

    async def redraft(self, case: Case, number: int) -> None:
        await self.desk.decisions.redraft(case.id, case.version, f"Claim {number}: newcomers pay taxes.", MODERATOR)

    async def retract(self, case: Case) -> None:
        await self.outbox.retract_reply(case.id, case.version, MODERATOR, RetractReason.OTHER, "it was wrong")

    async def look(self, case: Case) -> None:
        """A moderator looks on the platform for a reply of unknown fate, and says what they see."""

        async def work(session: Session) -> str | None:
            row = await outbox.newest(session, case.id)
            return None if row is None else row.approval_id

        approval_id = await self.database.run("look for a reply", work)
        found = [line for line in self.platform.log.lines() if line.sent.approval_id == approval_id]
        stands = any(self.platform.log.stands(line.sent.ref.message) for line in found)
        message = found[0].sent.ref.message if stands else None
        await self.outbox.settle(case.id, case.version, stands, MODERATOR, "I looked", message=message)

    async def revoke(self, person: Person) -> None:
        """A manager takes somebody's right away."""
        await self.communities.revoke(COMMUNITY_ID, person, Role.MODERATOR, OPERATOR)
        self.revoked.append(Revocation(await pseudonym_of(self.database, person), COMMUNITY_ID, self.clock()))

    async def restore_rights(self, person: Person) -> None:
        """A manager makes somebody a moderator again."""
        who, before = await pseudonym_of(self.database, person), self.clock()
        await self.communities.grant(COMMUNITY_ID, person, Role.MODERATOR, OPERATOR)
        self._end_revocation(who, before)

    def _end_revocation(self, who: str, moment: datetime) -> None:
        self.revoked = [
            replace(one, until=moment) if one.person_id == who and one.until is None else one for one in self.revoked
        ]

    async def lose_rights_there(self) -> None:
        """A moderator by the platform's own rights is no longer one there; Antiphon is not told."""
        assert self.native is not None
        if self.native.now.pop(NATIVE.user, None) is not None:
            self.revoked.append(Revocation(await pseudonym_of(self.database, NATIVE), COMMUNITY_ID, self.clock()))

    async def regain_rights_there(self) -> None:
        assert self.native is not None
        who, before = await pseudonym_of(self.database, NATIVE), self.clock()
        self.native.now[NATIVE.user] = frozenset({Role.MODERATOR})
        self._end_revocation(who, before)

    async def pause(self, scope: str) -> None:
        """Somebody pulls the kill switch."""
        if await self.communities.pause(scope, OPERATOR):
            self._close(f"pause of {scope}", scope)

    async def resume(self, scope: str) -> None:
        """A manager allows posting again."""
        before = self.clock()
        await self.communities.resume(scope, OPERATOR)
        self._reopen(f"pause of {scope}", before)

    async def set_posting(self, is_posting: bool) -> None:
        """A manager leaves shadow mode, or goes back to it."""
        before = self.clock()
        await self.communities.set_posting(COMMUNITY_ID, is_posting, OPERATOR)
        if is_posting:
            self._reopen("shadow", before)
        else:
            self._close("shadow", COMMUNITY_ID)

    def _close(self, why: str, scope: str) -> None:
        times = self.closed.setdefault(why, [])
        if not times or times[-1].until is not None:
            times.append(Closure(scope, self.clock()))

    def _reopen(self, why: str, moment: datetime) -> None:
        times = self.closed.get(why, [])
        self.closed[why] = [replace(one, until=one.until or moment) for one in times]
