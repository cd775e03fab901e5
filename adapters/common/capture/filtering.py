"""What the filter of watched channels says of a text.

Owns the order of its questions, the dearest last, and the count of what it read. Must never flag anything.
"""

from __future__ import annotations

from adapters.common.capture.looked_at import LookedAt
from adapters.common.desk import DeskAccess
from core.models import TargetGroup
from core.moderation.community.careful_watch import careful_threshold
from core.moderation.community.policy import CommunityPolicy
from core.ports import HateDetector
from core.wording.targets.groups import groups_named


class Filter:
    """Reads texts as each community asks.

    Args:
        detector: tells how likely a text is hateful; with ``None`` nothing is found.
    """

    def __init__(self, desk: DeskAccess, detector: HateDetector | None) -> None:
        self._desk = desk
        self._detector = detector
        self.looked_at = LookedAt(desk)

    async def score_of_a_find(self, community: str, text: str, policy: CommunityPolicy) -> float | None:
        """The score of a text that the filter finds; ``None`` for all others.

        It reads the text's language, the text is about a group that the community looks out for, and the filter is as
        sure as the community asks and its moderators' words make it. Only of a likely find is the desk asked for these.
        """
        detector = self._detector
        language = None if detector is None else await detector.language_of(text, policy.language)
        if detector is None or language is None:
            return None
        self.looked_at.add(community)
        if not is_about(text, policy.groups):
            return None
        score = await detector.score(text, language)
        if score <= detector.threshold(policy.one_in):
            return None
        labels = await self._desk.labels.of(community)
        return score if score > careful_threshold(policy.one_in, labels, detector.threshold) else None


def is_about(text: str, groups: tuple[TargetGroup, ...]) -> bool:
    """Whether a text names one of the groups, or, if "others" is among them, no known group at all."""
    if not groups:
        return True
    named = groups_named(text)
    return bool(named & set(groups)) or (TargetGroup.OTHER in groups and not named)
