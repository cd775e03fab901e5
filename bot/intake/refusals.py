"""What is checked before a post becomes a case.

Owns the refusals at the door: a post without a place, broken text, a private message, a person who flags too many
posts, or one who asks for a draft at once without a role. Posts that a machine detects are never refused for their
number: work is shed after capture, not before (reliability, I16).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import astuple
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from sqlalchemy import select

from bot.store.engine.database import Session
from bot.store.people.communities import id_of
from bot.store.people.people import known_pseudonym, roles_of
from bot.store.schema import CaseRow
from core.errors import BadInput, LimitReached, NotAllowed
from core.i18n.sentences import sentence
from core.models import FlaggedPost, Priority
from core.moderation.community.draft_options import check_wish
from core.moderation.input_checks import check_text
from core.moderation.roles import OnCase, may_on_case

_WINDOW: Final = timedelta(hours=1)
_MINUTE: Final = timedelta(minutes=1)


def check_flag(post: FlaggedPost) -> None:
    """Refuse a post that can never be answered.

    Raises:
        BadInput: it has no place or its text is broken.
        NotAllowed: it is not public.
    """
    if not (post.ref.platform.strip() and post.ref.message.strip()):
        raise BadInput("A flagged post needs its platform and message id.", remedy="Mend the adapter.")
    named = (*astuple(post.ref), post.root, post.author, post.author_name, post.flagged_by, post.flagged_how)
    for text in (
        *named,
        post.wish.tone,
        post.text,
        *(said for turn in post.thread for said in (turn.author, turn.text)),
        *(said for part in post.words.parts for said in (part.author, part.name, part.text)),
    ):
        check_text(text)
    check_wish(post.wish)
    if post.is_private:
        raise NotAllowed(
            sentence("Antiphon does not answer direct messages or private channels."),
            remedy=sentence("Report the message to the platform, or tell the moderators about it."),
        )


async def check_askers(session: Session, posts: Collection[FlaggedPost]) -> None:
    """Refuse a draft at once to a person who may only flag: anybody may flag, but only volunteers and above may ask.

    Raises:
        NotAllowed: with what they can do instead.
    """
    for post in posts:
        if post.priority is not Priority.ASKED:
            continue
        who = await known_pseudonym(session, post.ref.platform, post.flagged_by)
        place = await id_of(session, post.ref.platform, post.ref.community)
        if who is None or not may_on_case(await roles_of(session, place, who), OnCase.FLAG):
            raise NotAllowed(
                sentence("A draft at once is for volunteers and moderators of the community."),
                remedy=sentence("Flag the post for the moderators instead, or ask a manager for the role volunteer."),
            )


async def check_flaggers(session: Session, posts: Sequence[FlaggedPost], flags_per_hour: int | None) -> None:
    """Refuse new posts of a person who flagged as many as they may in the last hour.

    Those who are not named, such as the administrators who hide behind their group, count for their community.

    Args:
        posts: flagged posts that have no case yet.

    Raises:
        LimitReached: the limit is reached; the remedy says in how many minutes one more may be flagged.
    """
    people = [
        (post.ref.platform, post.flagged_by, "" if post.flagged_by else post.ref.community)
        for post in posts
        if post.priority is not Priority.DETECTED
    ]
    if flags_per_hour is None:
        return
    for (platform, user, community), more in Counter(people).items():
        place = await id_of(session, platform, community) if community else ""
        reached = await _reached(session, platform, user, place, flags_per_hour - more)
        if reached is not None:
            raise LimitReached(
                sentence(
                    "You flagged {count} posts in the last hour; one person may not flag more.", count=flags_per_hour
                ),
                remedy=sentence(
                    "Minutes to wait: {minutes}. Or ask a moderator to look.",
                    minutes=max(1, ceil((reached + _WINDOW - session.moment) / _MINUTE)),
                ),
            )


async def _reached(session: Session, platform: str, user: str, place: str, before: int) -> datetime | None:
    """When a person made the flag with ``before`` newer ones, in the last hour; ``None`` if there is no such flag.

    Args:
        place: the community that counts alone, for somebody who is not named; "" for every one.
    """
    if before < 0:
        return session.moment
    who = await known_pseudonym(session, platform, user)
    earlier = (
        select(CaseRow.created_at)
        .where(CaseRow.flagged_by == who, CaseRow.priority > int(Priority.DETECTED))
        .where(CaseRow.created_at > session.moment - _WINDOW)
        .order_by(CaseRow.created_at.desc())
        .offset(before)
        .limit(1)
    )
    return await session.scalar(earlier.where(CaseRow.community_id == place) if place else earlier)
