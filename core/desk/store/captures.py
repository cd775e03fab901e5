"""Cases made of flagged posts, many in one transaction, with pseudonyms in place of everybody's name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final
from uuid import uuid4

from sqlalchemy import insert, or_, select

from core.desk.database.connection import Session
from core.desk.rules.approval import CLOSED, CaseState, text_hash
from core.desk.schema import CaseRow, CommunityRow
from core.desk.store import communities
from core.desk.store.audit import AuditEntry, record_all
from core.desk.store.cases import Case, wish_to_json, words_to_json
from core.desk.store.people import pseudonyms
from core.models import FlaggedPost, PostRef

_NAME: Final = 100
"""How much of an author's name is kept."""


@dataclass(frozen=True, slots=True)
class NewCase:
    """A post that will become a case.

    ``remark`` is added to the reason of its first audit line; ``most_characters`` is the longest reply that its
    platform takes, 0 where nobody knows it.
    """

    id: str
    post: FlaggedPost
    community_id: str
    campaign_id: str | None = None
    remark: str = ""
    most_characters: int = 0


def new_case(post: FlaggedPost, ids: Mapping[tuple[str, str], str], most_characters: int = 0) -> NewCase:
    """A case for a post, with an id, in a community that ``lock_communities`` named."""
    community = ids[post.ref.platform, post.ref.community]
    return NewCase(uuid4().hex, post, community, most_characters=most_characters)


async def lock_communities(session: Session, refs: Sequence[PostRef]) -> dict[tuple[str, str], str]:
    """Keep others from capturing in these communities until the transaction ends; make those that are new.

    Returns:
        Their ids, by platform and name.
    """
    ids = await communities.ids_of(session, {(ref.platform, ref.community) for ref in refs})
    locked = await _locked(session, ids.values())
    missing = sorted(place for place, own in ids.items() if own not in locked)
    for place in missing:
        ids[place] = (await communities.ensure(session, *place)).id
    if missing:
        await _locked(session, ids.values())
    return ids


async def _locked(session: Session, ids: Collection[str]) -> set[str]:
    query = select(CommunityRow.id).where(CommunityRow.id.in_(sorted(set(ids)))).order_by(CommunityRow.id)
    return set(await session.scalars(query.with_for_update(key_share=True)))


async def capture_all(session: Session, new: Sequence[NewCase]) -> list[Case]:
    """Make the cases, in ``captured``, each with its first audit line; returns them in their order.

    The caller has locked their communities and found that none of the posts has a case.
    """
    by_user = await pseudonyms(session, {(case.post.ref.platform, user) for case in new for user in _users(case.post)})
    hidden = [_pseudonymised(case.post, by_user) for case in new]
    rows = [_row(session, case, post) for case, post in zip(new, hidden, strict=True)]
    await session.execute(insert(CaseRow), rows)
    first = [
        AuditEntry(
            version=1,
            from_state=None,
            to_state=CaseState.CAPTURED,
            actor=post.flagged_by,
            reason="; ".join(part for part in (_how_flagged(post), case.remark) if part),
            at=session.moment,
        )
        for case, post in zip(new, hidden, strict=True)
    ]
    await record_all(session, first, [case.id for case in new])
    now = session.moment
    return [
        Case(
            id=case.id,
            version=1,
            state=CaseState.CAPTURED,
            post=post,
            community_id=case.community_id,
            created_at=now,
            updated_at=now,
            campaign_id=case.campaign_id,
            most_characters=case.most_characters,
        )
        for case, post in zip(new, hidden, strict=True)
    ]


def _how_flagged(post: FlaggedPost) -> str:
    return f"flagged: {post.flagged_how}{', late' if post.is_late else ''}"


def _row(session: Session, case: NewCase, hidden: FlaggedPost) -> dict[str, object]:
    return {
        "id": case.id,
        **asdict(hidden.ref),
        "community_id": case.community_id,
        "root": hidden.root or hidden.ref.message,
        "text": hidden.text,
        "target_sha256": text_hash(hidden.compared),
        "revision": hidden.revision,
        "is_from_elsewhere": hidden.is_from_elsewhere,
        "author": hidden.author,
        "author_name": hidden.author_name,
        "flagged_by": hidden.flagged_by,
        "flagged_how": hidden.flagged_how,
        "is_late": hidden.is_late,
        "priority": int(hidden.priority),
        "thread": [asdict(message) for message in hidden.thread],
        "words": words_to_json(hidden.words),
        "wish": wish_to_json(hidden.wish),
        "state": CaseState.CAPTURED,
        "version": 1,
        "campaign_id": case.campaign_id,
        "created_at": session.moment,
        "updated_at": session.moment,
        "score": hidden.score,
        "most_characters": case.most_characters,
    }


def _users(post: FlaggedPost) -> Iterator[str]:
    """Everybody whose name is in a post."""
    yield post.flagged_by
    others = (*(message.author for message in post.thread), *(part.author for part in post.words.parts))
    yield from filter(None, (post.author, *others))


def _pseudonymised(post: FlaggedPost, by_user: dict[tuple[str, str], str]) -> FlaggedPost:
    """The post with a pseudonym in place of everybody's id; nobody stays nobody."""

    def hide(user: str) -> str:
        return by_user[post.ref.platform, user] if user else ""

    thread = tuple(replace(message, author=hide(message.author)) for message in post.thread)
    parts = tuple(replace(part, author=hide(part.author), name=part.name[:_NAME]) for part in post.words.parts)
    return replace(
        post,
        author=hide(post.author),
        author_name=post.author_name[:_NAME],
        flagged_by=by_user[post.ref.platform, post.flagged_by],
        thread=thread,
        words=replace(post.words, parts=parts),
    )


async def followed(session: Session, platform: str, most: int) -> list[PostRef]:
    """The posts of cases that are open, or whose reply is posted, at most so many; the newest case last."""
    query = (
        select(CaseRow.community, CaseRow.channel, CaseRow.message)
        .where(CaseRow.platform == platform, CaseRow.erased_at.is_(None))
        .where(or_(CaseRow.state.not_in(CLOSED), CaseRow.state == CaseState.POSTED))
        .order_by(CaseRow.created_at.desc(), CaseRow.id)
        .limit(most)
    )
    refs = [PostRef(platform, *place) for place in await session.execute(query)]
    return refs[::-1]
