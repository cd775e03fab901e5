"""Campaigns: near-identical posts of one community, of which the first one's case is drafted and reviewed for all.

A post finds its campaign by bands. They are kept in the database, so that all processes fold alike, before and after a
restart. They are hashed under the installation's secret, since the bands of a short post give away its text.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from sqlalchemy import and_, delete, insert, or_, select, update

from core.desk.database.connection import Session
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.careful_watch import LABEL_DAYS
from core.desk.schema import CampaignBandRow, CampaignRow, CaseRow
from core.desk.store.captures import NewCase
from core.desk.store.cases import Case, touch, transition
from core.engine.wording.near_duplicates import NEAR_IDENTICAL, Likeness, likeness_of, unbanded_likeness_of

_BAND_BYTES: Final = 10
_MOST_COMPARED: Final = 50
"""A post is compared with at most this many campaigns: those that share most of its bands, and of these the newest."""
_REMEMBERED: Final = timedelta(days=LABEL_DAYS)
"""How long posts join the case of a post that is not hateful; less where its words are erased before."""
_AT_ONCE: Final = 500
"""Campaigns in one statement: the databases take some 32,000 values, and many campaigns may share a band."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """Near-identical posts; the case ``lead_case_id`` is decided for all ``posts`` of them."""

    id: str
    community_id: str
    lead_case_id: str
    posts: int


@dataclass(slots=True)
class _Open:
    id: str
    community_id: str
    lead_case_id: str
    likeness: Likeness
    joined: int = 0
    hashes: tuple[str, ...] = ()


@dataclass(slots=True)
class Folds:
    """Which new cases join which campaign; written once the cases are there (``write``)."""

    lead_of: dict[str, str] = field(default_factory=dict)
    """The lead's case, by the case that joins its campaign."""
    campaign_of: dict[str, str] = field(default_factory=dict)
    """The campaign, by the case that joins it."""
    begun: list[_Open] = field(default_factory=list)
    grown: dict[str, _Open] = field(default_factory=dict)


async def fold(
    session: Session, new: Sequence[tuple[NewCase, Likeness]], window: timedelta, *, apart: Sequence[str] = ()
) -> Folds:
    """Decide, in their order, which new cases join a campaign; each of the others begins one.

    A campaign can be joined for ``window`` from its first post on, and while its lead is not closed; that of a post
    which a moderator said is not hateful as long as that is remembered.

    Args:
        apart: the ids of cases that do not join a campaign, whatever their posts say.
    """
    folding = Folds()
    hashes = {case.id: _hashes(session, case, likeness) for case, likeness in new}
    near: dict[tuple[str, str], list[_Open]] = {}
    for campaign in await _candidates(session, new, hashes, window):
        _remember(near, campaign)
    for case, likeness in new:
        alike = {own.id: own for mark in hashes[case.id] for own in near.get((case.community_id, mark), ())}
        closeness, best = max(
            ((likeness.to(own.likeness), own) for own in alike.values()), key=lambda pair: pair[0], default=(0.0, None)
        )
        if best is not None and closeness >= NEAR_IDENTICAL and case.id not in apart:
            best.joined += 1
            folding.lead_of[case.id], folding.campaign_of[case.id] = best.lead_case_id, best.id
            folding.grown[best.id] = best
        elif likeness.bands:
            begun = _Open(uuid4().hex, case.community_id, case.id, likeness, hashes=hashes[case.id])
            folding.begun.append(begun)
            _remember(near, begun)
    return folding


async def write(session: Session, folding: Folds) -> None:
    """Store what ``fold`` decided, after the cases were made."""
    now = session.moment
    campaigns = [_row(session, own.id, own.community_id, own.lead_case_id) for own in folding.begun]
    bands = [
        {"community_id": own.community_id, "band": mark, "campaign_id": own.id, "begun_at": now}
        for own in folding.begun
        for mark in own.hashes
    ]
    if campaigns:
        await session.execute(insert(CampaignRow), campaigns)
        await session.execute(insert(CampaignBandRow), bands)
    for own in sorted(folding.grown.values(), key=lambda own: own.id):
        await _grow(session, own.id, own.joined)
        await touch(session, own.lead_case_id)
        await session.execute(
            update(CaseRow)
            .where(CaseRow.id == own.lead_case_id, CaseRow.campaign_id.is_(None))
            .values(campaign_id=own.id)
        )


async def _candidates(
    session: Session,
    new: Sequence[tuple[NewCase, Likeness]],
    hashes: dict[str, tuple[str, ...]],
    window: timedelta,
) -> list[_Open]:
    """The open campaigns that share most bands with one of the new cases, with all of their bands that matter here."""
    all_marks = sorted({mark for marks in hashes.values() for mark in marks})
    bands = (
        select(CampaignBandRow.campaign_id, CampaignBandRow.band)
        .where(
            CampaignBandRow.community_id.in_(sorted({case.community_id for case, _ in new})),
            CampaignBandRow.band.in_(all_marks),
        )
        .order_by(CampaignBandRow.begun_at.desc())
    )
    marks, sharing = dict[str, tuple[str, ...]](), dict[str, list[str]]()
    for campaign, mark in await session.execute(bands) if all_marks else ():
        marks[campaign] = (*marks.get(campaign, ()), mark)
        sharing.setdefault(mark, []).append(campaign)
    likely = (Counter(own for mark in of_case for own in sharing.get(mark, ())) for of_case in hashes.values())
    ids = sorted({own for shared in likely for own, _ in shared.most_common(_MOST_COMPARED)})
    # A query of its own: over tables that grew just now, PostgreSQL's plan for one join of all took seconds.
    pairs = list[tuple[datetime, _Open]]()
    for first in range(0, len(ids), _AT_ONCE):
        query = (
            select(CampaignRow.created_at, CampaignRow.id, CampaignRow.community_id, CaseRow.id, CaseRow.text)
            .join(CaseRow, CaseRow.id == CampaignRow.lead_case_id)
            .where(
                CampaignRow.id.in_(ids[first : first + _AT_ONCE]),
                or_(
                    and_(CampaignRow.created_at > session.moment - window, CaseRow.state.not_in(CLOSED)),
                    CaseRow.is_hateful.is_(False),
                ),
                CaseRow.erased_at.is_(None),
            )
        )
        for begun, campaign, community, lead, text in await session.execute(query):
            pairs.append((begun, _Open(campaign, community, lead, unbanded_likeness_of(text), hashes=marks[campaign])))
    return [own for _, own in sorted(pairs, key=lambda pair: (pair[0], pair[1].id))]


def _remember(near: dict[tuple[str, str], list[_Open]], campaign: _Open) -> None:
    for mark in campaign.hashes:
        near.setdefault((campaign.community_id, mark), []).append(campaign)


def _hashes(session: Session, case: NewCase | Case, likeness: Likeness) -> tuple[str, ...]:
    key, place = session.secret[: hashlib.blake2b.MAX_KEY_SIZE], case.community_id.encode()
    return tuple(
        hashlib.blake2b(place + b"\0" + band, digest_size=_BAND_BYTES, key=key).hexdigest() for band in likeness.bands
    )


def _row(session: Session, campaign_id: str, community_id: str, lead_case_id: str) -> dict[str, object]:
    own, now = {"id": campaign_id, "community_id": community_id, "lead_case_id": lead_case_id}, session.moment
    return {**own, "posts": 1, "created_at": now, "updated_at": now}


async def _grow(session: Session, campaign_id: str, posts: int) -> None:
    await session.execute(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id)
        .values(posts=CampaignRow.posts + posts, updated_at=session.moment)
        .execution_options(synchronize_session=False)
    )


async def load(session: Session, campaign_id: str) -> Campaign:
    row = await session.get_one(CampaignRow, campaign_id, populate_existing=True)
    return Campaign(row.id, row.community_id, row.lead_case_id, row.posts)


async def leave(session: Session, case: Case) -> None:
    if case.campaign_id is not None:
        await session.execute(update(CaseRow).where(CaseRow.id == case.id).values(campaign_id=None))
        await _grow(session, case.campaign_id, -1)
        await touch(session, (await load(session, case.campaign_id)).lead_case_id)


async def remember(session: Session, case: Case) -> None:
    """Let posts that say nearly the same as a case's post join its campaign from now on, although it is closed."""
    marks = _hashes(session, case, likeness_of(case.post.text))
    if not marks:
        return
    campaign = await _led_by(session, case.id)
    if campaign is None:
        campaign = uuid4().hex
        await session.execute(insert(CampaignRow), [_row(session, campaign, case.community_id, case.id)])
    await session.execute(delete(CampaignBandRow).where(CampaignBandRow.campaign_id == campaign))
    until = session.moment + _REMEMBERED
    bands = [
        {"community_id": case.community_id, "band": mark, "campaign_id": campaign, "begun_at": until} for mark in marks
    ]
    await session.execute(insert(CampaignBandRow), bands)


async def stop_remembering(session: Session, case_id: str) -> None:
    """Let posts join the campaign of a case only as long as they can join any other."""
    campaign = await _led_by(session, case_id)
    if campaign is not None:
        begun = select(CampaignRow.created_at).where(CampaignRow.id == campaign).scalar_subquery()
        bands = update(CampaignBandRow).where(CampaignBandRow.campaign_id == campaign).values(begun_at=begun)
        await session.execute(bands.execution_options(synchronize_session=False))


async def _led_by(session: Session, case_id: str) -> str | None:
    return await session.scalar(select(CampaignRow.id).where(CampaignRow.lead_case_id == case_id).limit(1))


async def lead_on(session: Session, case_id: str, *, actor: str) -> None:
    """Make another post of the campaign its lead, where this case leads one: its words are gone, or others."""
    campaign = await session.scalar(select(CampaignRow).filter_by(lead_case_id=case_id))
    if campaign is None:
        return
    folded = select(CaseRow.id, CaseRow.version).where(
        CaseRow.campaign_id == campaign.id, CaseRow.state == CaseState.FOLDED, CaseRow.id != case_id
    )
    next_one = (await session.execute(folded.order_by(CaseRow.created_at, CaseRow.id).limit(1))).first()
    if next_one is None:
        return
    await session.execute(delete(CampaignBandRow).where(CampaignBandRow.campaign_id == campaign.id))
    campaign.lead_case_id = next_one.id
    reason = "leads its campaign now"
    await transition(session, next_one.id, next_one.version, CaseState.QUEUED, actor=actor, reason=reason)


async def forget_lead(session: Session, case_id: str) -> None:
    """Forget the signature of a case's post, as when its text is erased; from then on no post joins its campaign."""
    led = select(CampaignRow.id).where(CampaignRow.lead_case_id == case_id).scalar_subquery()
    await session.execute(delete(CampaignBandRow).where(CampaignBandRow.campaign_id.in_(led)))


async def forget_ended(session: Session, window: timedelta) -> None:
    """Forget the signatures of campaigns that no post can join any longer, and delete campaigns of one post.

    The cost grows with the campaigns that ended since the last call.
    """
    is_over = CampaignBandRow.begun_at <= session.moment - window
    ids = sorted(set(await session.scalars(select(CampaignBandRow.campaign_id).where(is_over))))
    unsynced = {"synchronize_session": False}
    await session.execute(delete(CampaignBandRow).where(is_over), execution_options=unsynced)
    for first in range(0, len(ids), _AT_ONCE):
        alone = delete(CampaignRow).where(CampaignRow.id.in_(ids[first : first + _AT_ONCE]), CampaignRow.posts == 1)
        await session.execute(alone, execution_options=unsynced)
