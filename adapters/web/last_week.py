"""What of the last seven days a community's rules would have captured: a look before they are changed.

Only posts that came to the desk are looked at, since no other message is kept. What people and the platform's own
alerts flag comes whatever the filter looks for.
"""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import TypeAlias

from adapters.common.capture.watch import BY_FILTER, BY_KEYWORD, is_about
from core.desk.review.dashboard import KeptPost
from core.desk.rules.careful_watch import FindLabel, careful_threshold
from core.desk.rules.policy import CommunityPolicy
from core.engine.ports import HateDetector
from core.engine.wording.keywords import has_keyword


class Fate(StrEnum):
    """What becomes of a post: found again, not found any more, flagged by somebody, or flagged and found as well."""

    AGAIN = "again"
    LOST = "lost"
    FLAGGED = "flagged"
    ALSO = "also"


WeekFates: TypeAlias = list[tuple[KeptPost, Fate]]
"""Posts, each with what becomes of it."""


async def last_week(
    posts: Sequence[KeptPost],
    now: CommunityPolicy,
    new: CommunityPolicy,
    detector: HateDetector | None,
    labels: Sequence[FindLabel],
) -> WeekFates:
    """What would have become of some posts, each with its fate, in their order.

    Args:
        now: the policy as it is; ``new``, as it would be.
        labels: what moderators said of finds, which moves how sure the filter must be.

    Raises:
        AntiphonError: the filter cannot be loaded.
    """
    return [(post, await _fate(post, now, new, detector, labels)) for post in posts]


async def _fate(
    post: KeptPost,
    now: CommunityPolicy,
    new: CommunityPolicy,
    detector: HateDetector | None,
    labels: Sequence[FindLabel],
) -> Fate:
    was_found = post.flagged_how in (BY_FILTER, BY_KEYWORD)
    is_watched = post.channel in new.watched_channels
    if (
        was_found and post.channel not in now.watched_channels
    ):  # a thread is watched with its channel, which is not kept
        is_watched = bool(new.watched_channels)
    is_found = is_watched and await finds(post.text, new, detector, labels, post.score)
    if was_found:
        return Fate.AGAIN if is_found else Fate.LOST
    return Fate.ALSO if is_found else Fate.FLAGGED


async def finds(
    text: str,
    policy: CommunityPolicy,
    detector: HateDetector | None,
    labels: Sequence[FindLabel],
    score: float | None = None,
) -> bool:
    """Whether a text in a watched channel is found, as ``adapters.common.capture.watch`` does it.

    Args:
        score: that of the filter, where it is known already.
    """
    if bool(policy.keywords) and await asyncio.to_thread(has_keyword, text, policy.keywords):
        return True
    language = None if detector is None else await detector.language_of(text, policy.language)
    if detector is None or language is None:
        return False
    if policy.groups and not await asyncio.to_thread(is_about, text, policy.groups):
        return False
    found = await detector.score(text, language) if score is None else score
    return found > careful_threshold(policy.one_in, labels, detector.threshold)
