"""What speaks against a reply: asked when its text is proposed, when it is approved, and when it is sent.

Before a send everything is read again in the transaction that commits the intent (reliability, 1.2): what an earlier
transaction found does not count.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from sqlalchemy import and_

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.policy import NO_RULES, PlaceRules, without_consent
from core.desk.rules.roles import OnCase, may_on_case
from core.desk.schema import ApprovalRow, CaseRow, Original
from core.desk.store import communities
from core.desk.store.cases import Case
from core.desk.store.outbox import Entry, original, reached, reached_since
from core.desk.store.people import roles_of
from core.errors import NotAllowed
from core.i18n.sentences import Sentence, joined, sentence

CHANGED: Final = sentence("The post that the reply answers was changed after it was flagged.")
GONE: Final = sentence("The post that the reply answers is gone.")
PAUSED_HERE: Final = sentence("Posting is paused in this community.")
PAUSED_EVERYWHERE: Final = sentence("Posting is paused everywhere.")
_CLOSE: Final = sentence("Close the case.")
_FLAG_AGAIN: Final = sentence("Flag the post again: Antiphon then reads its new words and drafts replies to them.")
_AUTHOR: Final = timedelta(hours=24)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SendLimits:
    """How many replies may be posted in one community; one per author in 24 hours and one per conversation are fixed.

    They keep Antiphon from being used to flood a community, or against one person (reliability, T22).

    Attributes:
        asked_first: the platforms, by name, each of whose places must have agreed before anything is posted there.
    """

    per_hour: int = 10
    per_day: int = 50
    asked_first: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a reply is not sent. Either its case goes to ``to``, or it waits, until ``until`` where that is known.

    ``remedy`` says what a person can do who wants to approve it.
    """

    reason: str
    to: CaseState | None = CaseState.NEEDS_PERSON
    until: datetime | None = None
    remedy: str = ""


async def case_obstacle(
    session: Session, case: Case, community: communities.Community, limits: SendLimits, *, apart: str = ""
) -> Obstacle | None:
    """What keeps any reply to a post from being sent now, whatever its text; ``None`` if nothing does.

    Checks that end a send come before checks that let it wait.

    Args:
        apart: the approval that is looked at, which is no obstacle to itself.
    """
    return (
        await original_obstacle(session, case)
        or _consent(case, community, limits)
        or await _other_reply(session, case, apart)
        or await _author(session, case, apart)
        or await _conversation(session, case, apart)
        or await _paused(session, community)
        or await _place_rate(session, case, community, apart)
        or await _rate(session, case, limits, apart)
    )


def refuse(objection: Obstacle | None) -> None:
    """Refuse, with ``NotAllowed``, an approval of what would certainly not be sent."""
    if objection is not None and objection.to is not None:
        raise NotAllowed(objection.reason, remedy=objection.remedy)


async def obstacle(session: Session, entry: Entry, limits: SendLimits) -> Obstacle | None:
    """What keeps a reply from being sent now; ``None`` if nothing does.

    The caller holds the lock of the community, so that two replies cannot both be the last that a limit allows.
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
    return await _people(session, entry) or await case_obstacle(
        session, entry.case, community, limits, apart=approval.id
    )


async def _people(session: Session, entry: Entry) -> Obstacle | None:
    """Every person who approved must still be allowed to, at this moment (invariant I7)."""
    for who in filter(None, (entry.approval.moderator, entry.approval.seconded_by)):
        if not may_on_case(await roles_of(session, entry.case.community_id, who), OnCase.APPROVE):
            return Obstacle(sentence("A person who approved this reply may not approve any more."))
    return None


async def original_obstacle(session: Session, case: Case) -> Obstacle | None:
    """What the platform said of the post since it was flagged."""
    heard = await original(session, case.id)
    if heard is Original.UNCHANGED:
        return None
    is_gone = heard is Original.DELETED
    return Obstacle(GONE if is_gone else CHANGED, remedy=_CLOSE if is_gone else _FLAG_AGAIN)


def _consent(case: Case, community: communities.Community, limits: SendLimits) -> Obstacle | None:
    """Where each place decides for itself, somebody who runs it must have said yes, and not taken it back."""
    ref = case.post.ref
    if ref.platform not in limits.asked_first or _rules_of(case, community).consent:
        return None
    return Obstacle(without_consent(ref.channel), remedy=sentence("Ask those who run it, and note their yes."))


def _rules_of(case: Case, community: communities.Community) -> PlaceRules:
    return communities.policy_of(community).places.get(case.post.ref.channel, NO_RULES)


async def _other_reply(session: Session, case: Case, apart: str) -> Obstacle | None:
    others = and_(CaseRow.id == case.id, ApprovalRow.id != apart)
    if await reached(session, others):
        return Obstacle(sentence("Another reply to this post was sent before; look on the platform."), remedy=_CLOSE)
    return None


async def _author(session: Session, case: Case, apart: str) -> Obstacle | None:
    """One reply per author in 24 hours, wherever they write.

    The sentence is the same wherever the other reply stands: what happened in another community is nobody's business
    here. Only of a reply here is told when the time is over.
    """
    author = case.post.author
    theirs = and_(CaseRow.author == author, ApprovalRow.id != apart)
    if not author or not _within(session, await reached(session, theirs), _AUTHOR):
        return None
    here = and_(theirs, CaseRow.community_id == case.community_id)
    moments = _within(session, await reached(session, here), _AUTHOR)
    remedy = sentence("Close the case, or approve a reply tomorrow.")
    if moments:
        hours = ceil((max(moments) + _AUTHOR - session.moment) / _HOUR)
        remedy = sentence("Close the case, or approve a reply later. Hours to wait: {hours}.", hours=hours)
    return Obstacle(sentence("Antiphon sends one person one reply in 24 hours at most."), remedy=remedy)


async def _conversation(session: Session, case: Case, apart: str) -> Obstacle | None:
    """One reply per conversation: the posts that go back to the same message, in whatever channel each stands.

    A message is known by its id within the community as the platform names it; a community that got another name may
    have the same ids anew.
    """
    post = case.post
    same = and_(
        CaseRow.community_id == case.community_id,
        CaseRow.community == post.ref.community,
        CaseRow.root == (post.root or post.ref.message),
        ApprovalRow.id != apart,
    )
    if await reached(session, same):
        return Obstacle(
            sentence("The conversation was given a reply before."),
            remedy=sentence("Close the case: Antiphon answers a conversation once."),
        )
    return None


async def _paused(session: Session, community: communities.Community) -> Obstacle | None:
    scopes = await communities.paused(session, [community.id])
    if not scopes:
        return None
    return Obstacle(PAUSED_EVERYWHERE if communities.EVERYWHERE in scopes else PAUSED_HERE, to=None)


async def _place_rate(session: Session, case: Case, community: communities.Community, apart: str) -> Obstacle | None:
    """The cap of a place that has rules of its own."""
    place = case.post.ref.channel
    if place not in communities.policy_of(community).places:
        return None
    cap = _rules_of(case, community).replies_a_day
    theirs = and_(
        CaseRow.community_id == case.community_id,
        CaseRow.channel == place,
        ApprovalRow.id != apart,
    )
    recent = await reached_since(session, theirs, session.moment - _DAY)
    return _full(
        _within(session, recent, _DAY),
        cap,
        _DAY,
        lambda count: sentence("{count} replies were posted to {place} in the last day.", count=count, place=place),
    )


async def _rate(session: Session, case: Case, limits: SendLimits, apart: str) -> Obstacle | None:
    """The caps of a community."""
    theirs = and_(CaseRow.community_id == case.community_id, ApprovalRow.id != apart)
    recent = await reached_since(session, theirs, session.moment - _DAY)
    return _full(
        _within(session, recent, _HOUR),
        limits.per_hour,
        _HOUR,
        lambda count: sentence("{count} replies were posted here in the last hour.", count=count),
    ) or _full(
        _within(session, recent, _DAY),
        limits.per_day,
        _DAY,
        lambda count: sentence("{count} replies were posted here in the last day.", count=count),
    )


def _full(counted: list[datetime], cap: int, window: timedelta, reason: Callable[[int], Sentence]) -> Obstacle | None:
    """What a reply beyond a cap waits for: that the oldest one that counts is old enough.

    Args:
        counted: when replies were sent within the window, the oldest first.
        reason: why it waits, by how many were sent.
    """
    if len(counted) < cap:
        return None
    return Obstacle(reason(len(counted)), to=None, until=counted[len(counted) - cap] + window)


def _within(session: Session, times: list[datetime | None], window: timedelta) -> list[datetime]:
    """The replies sent in the last ``window``; one whose time is unknown counts as sent just now."""
    moments = [session.moment if moment is None else moment for moment in times]
    return [moment for moment in moments if moment > session.moment - window]
