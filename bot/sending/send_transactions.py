"""What the outbox records of a send: the intent before the call, and the outcome after it.

Owns the transactions of a first send. Does not know any platform. Each change names the attempt that it belongs to. A
sender that lost its lease can therefore only record that a reply is certainly on the platform.
"""

from __future__ import annotations

import logging
import math
from datetime import timedelta
from typing import Final

from bot.communities.native_roles import keep_native
from bot.sending.checks import Obstacle
from bot.sending.outbox_rows import Delivery, Rules, SendLease, checked, end, held, intend, mine
from bot.store.cases import sending as store
from bot.store.cases.sending import Entry, entry_of
from bot.store.engine.database import Database, Session
from bot.store.people import communities
from bot.store.people.people import member
from bot.store.schema import OutboxState
from core.i18n.sentences import sentence
from core.models import Posted
from core.moderation.approval import CaseState
from core.moderation.community.policy import CommunityPolicy
from core.moderation.roles import Person, Role

_LOG = logging.getLogger(__name__)
_LONGEST_WAIT: Final = 3600.0


class Ledger:
    """The transactions of a send, over one database."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self._database = database
        self._rules = rules

    async def due(self) -> dict[str, str]:
        """The approvals whose replies may be sent now, with their platforms."""
        return await self._database.run("look for due replies", store.due)

    # Before the call

    async def look(self, approval_id: str) -> Entry | Delivery | None:
        """A reply that may be sent as far as the database knows; otherwise its outcome, or ``None`` if it waits."""

        async def work(session: Session) -> Entry | Delivery | None:
            return await checked(session, self._rules, await entry_of(session, approval_id))

        return await self._database.run("look at a reply", work)

    async def approvers(self, seen: Entry) -> list[Person]:
        """The people who approved and have a role here, by their ids on the platform."""

        async def work(session: Session) -> list[Person]:
            who = filter(None, (seen.approval.moderator, seen.approval.seconded_by))
            community, platform = seen.case.community_id, seen.case.post.ref.platform
            found = [await member(session, community, platform, person_id) for person_id in who]
            return [person for person in found if person is not None]

        return await self._database.run("look up who approved", work)

    async def keep_roles(self, seen: Entry, person: Person, roles: frozenset[Role]) -> None:
        """Store the roles that a person has by the platform's own rights."""
        await keep_native(self._database, seen.case.community_id, person, roles)

    async def policy(self, seen: Entry) -> CommunityPolicy:
        """What the community of a reply set."""

        async def work(session: Session) -> CommunityPolicy:
            return communities.policy_of(await communities.load(session, seen.case.community_id))

        return await self._database.run("read the policy of a reply", work)

    async def refuse(self, seen: Entry, reason: str) -> Delivery | None:
        """Hand the case to a person because of what the platform showed; ``None`` if the case was moved meanwhile."""

        async def work(session: Session) -> Delivery | None:
            entry = await checked(session, self._rules, seen)
            return await held(session, self._rules, entry, Obstacle(reason)) if isinstance(entry, Entry) else entry

        return await self._database.run("refuse a send", work)

    async def postpone(self, seen: Entry, reason: str) -> Delivery | None:
        """Leave a reply for later because the platform could not be asked; after ``max_attempts``, ask a person."""

        async def work(session: Session) -> Delivery | None:
            entry = await checked(session, self._rules, seen)
            if not isinstance(entry, Entry):
                return entry
            entry.row.attempts += 1
            later = session.moment + self._rules.pause(entry.row.attempts)
            is_last = entry.row.attempts >= self._rules.max_attempts
            found = Obstacle(reason) if is_last else Obstacle(reason, to=None, until=later)
            return await held(session, self._rules, entry, found)

        return await self._database.run("postpone a send", work)

    async def lease(self, seen: Entry) -> SendLease | Delivery | None:
        """Commit the intent to send, if everything still holds and nothing was moved since ``seen``."""

        async def work(session: Session) -> SendLease | Delivery | None:
            entry = await checked(session, self._rules, seen)
            if not isinstance(entry, Entry):
                return entry
            entry.row.first_sent_at = session.moment
            return await intend(session, self._rules, entry, self._rules.hold_seconds, is_first=True)

        return await self._database.run("commit the intent", work)

    # After the call

    async def posted(self, lease: SendLease, posted: Posted, reason: str = sentence("posted")) -> Delivery | None:
        """Record that the reply is on the platform; the only thing a sender may still record after its lease."""

        async def work(session: Session) -> Delivery | None:
            entry = await entry_of(session, lease.reply.approval_id, lock=True)
            if entry.row.state not in (OutboxState.SENDING, OutboxState.UNKNOWN):
                if entry.row.state is not OutboxState.POSTED:
                    _LOG.error("case %s: a reply stands that counts as %s", entry.case.id, entry.row.state)
                return None
            entry.row.remote_message, entry.row.posted_at = posted.ref.message, posted.posted_at
            return await end(session, entry, CaseState.POSTED, reason)

        return await self._database.run("record a posted reply", work)

    async def failed(self, lease: SendLease, reason: str) -> Delivery | None:
        """Record that the platform refused the reply, and would refuse it again."""

        async def work(session: Session) -> Delivery | None:
            entry = await mine(session, lease, OutboxState.SENDING)
            return None if entry is None else await end(session, entry, CaseState.FAILED, reason)

        return await self._database.run("record a refused send", work)

    async def busy(self, lease: SendLease, reason: str, after_seconds: float) -> Delivery | None:
        """Put a reply that was certainly not posted back, for later; after ``max_attempts`` it has failed."""

        async def work(session: Session) -> Delivery | None:
            entry = await mine(session, lease, OutboxState.SENDING)
            if entry is None:
                return None
            if entry.row.attempts >= self._rules.max_attempts:
                return await end(session, entry, CaseState.FAILED, reason)
            asked = timedelta(seconds=min(after_seconds, _LONGEST_WAIT) if math.isfinite(after_seconds) else 0.0)
            entry.row.not_before = session.moment + max(asked, self._rules.pause(entry.row.attempts))
            entry.row.first_sent_at = None
            await end(session, entry, CaseState.APPROVED, reason)
            return None

        return await self._database.run("put a reply back", work)

    async def unknown(self, lease: SendLease, reason: str) -> Delivery | None:
        """Record that the outcome of a send is unknown; ``None`` if another process looks after it by now."""

        async def work(session: Session) -> Delivery | None:
            entry = await mine(session, lease, OutboxState.SENDING)
            if entry is None:
                return None
            delivery = await end(session, entry, CaseState.UNKNOWN, reason)
            wait = self._rules.lease if lease.is_first else self._rules.pause(lease.attempt)
            entry.row.lease_until = session.moment + wait
            return delivery

        return await self._database.run("record an unknown send", work)
