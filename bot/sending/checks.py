"""What must hold at the moment of a send, read again in the transaction that commits its intent (reliability, 1.2).

Owns the order of the checks and what happens to a reply that fails one. Writes nothing, and must never trust what an
earlier transaction found.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import and_

from bot.store.cases.sending import Entry, reached, reached_since
from bot.store.engine.database import Session
from bot.store.people import communities
from bot.store.people.communities import EVERYWHERE, Community
from bot.store.people.people import roles_of
from bot.store.schema import ApprovalRow, CaseRow
from core.errors import NotAllowed
from core.i18n.sentences import Sentence, joined, sentence
from core.moderation.approval import CaseState
from core.moderation.roles import OnCase, may_on_case

_AUTHOR: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class SendLimits:
    """How many replies may be posted in one community; one per author in 24 hours and one per conversation are fixed.

    They keep Antiphon from being used to flood a community, or against one person (reliability, T22).
    """

    per_hour: int = 10
    per_day: int = 50


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a reply is not sent. Either its case goes to ``to``, or it waits, until ``until`` where that is known."""

    reason: str
    to: CaseState | None = CaseState.NEEDS_PERSON
    until: datetime | None = None


async def obstacle(session: Session, entry: Entry, limits: SendLimits) -> Obstacle | None:
    """What keeps a reply from being sent now; ``None`` if nothing does.

    The caller holds the lock of the community, so that two replies cannot both be the last that a limit allows. Checks
    that end a send come before checks that let it wait.
    """
    approval = entry.approval
    if session.moment >= approval.expires_at:
        return Obstacle(sentence("The approval is too old: nothing could be posted while it held."), CaseState.EXPIRED)
    try:
        entry.reply()
    except NotAllowed as err:
        return Obstacle(joined(err.message))
    community = await communities.load(session, entry.case.community_id)
    if not community.is_posting:
        return Obstacle(sentence("The community is in shadow mode: this would be posted now."), CaseState.SHADOWED)
    if community.rules_version != approval.policy_version:
        return Obstacle(sentence("The rules of the community were changed after the approval."))
    return (
        await _people(session, entry)
        or await _other_reply(session, entry)
        or await _author(session, entry)
        or await _conversation(session, entry)
        or await _paused(session, community)
        or await _rate(session, entry, limits)
    )


async def _people(session: Session, entry: Entry) -> Obstacle | None:
    """Every person who approved must still be allowed to, at this moment (invariant I7)."""
    for who in filter(None, (entry.approval.moderator, entry.approval.seconded_by)):
        if not may_on_case(await roles_of(session, entry.case.community_id, who), OnCase.APPROVE):
            return Obstacle(sentence("A person who approved this reply may not approve any more."))
    return None


async def _other_reply(session: Session, entry: Entry) -> Obstacle | None:
    others = and_(CaseRow.id == entry.case.id, ApprovalRow.id != entry.approval.id)
    if await reached(session, others):
        return Obstacle(sentence("Another reply to this post was sent before; look on the platform."))
    return None


async def _author(session: Session, entry: Entry) -> Obstacle | None:
    """One reply per author in 24 hours, wherever they write."""
    author = entry.case.post.author
    theirs = and_(CaseRow.author == author, ApprovalRow.id != entry.approval.id)
    if author and _within(session, await reached(session, theirs), _AUTHOR):
        return Obstacle(sentence("The author was given a reply in the last 24 hours."))
    return None


async def _conversation(session: Session, entry: Entry) -> Obstacle | None:
    """One reply per conversation: the posts of a channel that go back to the same message."""
    post = entry.case.post
    same = and_(
        CaseRow.community_id == entry.case.community_id,
        CaseRow.channel == post.ref.channel,
        CaseRow.root == post.root,
        ApprovalRow.id != entry.approval.id,
    )
    if await reached(session, same):
        return Obstacle(sentence("The conversation was given a reply before."))
    return None


async def _paused(session: Session, community: Community) -> Obstacle | None:
    scopes = await communities.paused(session, [community.id])
    if not scopes:
        return None
    if EVERYWHERE in scopes:
        return Obstacle(sentence("Posting is paused everywhere."), to=None)
    return Obstacle(sentence("Posting is paused in this community."), to=None)


async def _rate(session: Session, entry: Entry, limits: SendLimits) -> Obstacle | None:
    """The caps of a community; the reply waits until the oldest counted one is old enough."""
    theirs = and_(CaseRow.community_id == entry.case.community_id, ApprovalRow.id != entry.approval.id)
    recent = await reached_since(session, theirs, session.moment - timedelta(days=1))
    for cap, window, said in (
        (limits.per_hour, timedelta(hours=1), sentence("{count} replies were posted here in the last hour.")),
        (limits.per_day, timedelta(days=1), sentence("{count} replies were posted here in the last day.")),
    ):
        counted = _within(session, recent, window)
        if len(counted) >= cap:
            until = counted[len(counted) - cap] + window
            return Obstacle(Sentence(said.template, {"count": len(counted)}), to=None, until=until)
    return None


def _within(session: Session, sent: list[datetime | None], window: timedelta) -> list[datetime]:
    """The replies sent in the last ``window``; one whose time is unknown counts as sent just now."""
    moments = [session.moment if moment is None else moment for moment in sent]
    return [moment for moment in moments if moment > session.moment - window]
