"""How a community wants Antiphon to behave: where cards go, who is what, what is watched, how replies sound.

Owns the keys, their defaults and their ranges; plain values. Knows no platform: channels and roles are the platform's
own ids, as text. Whether a community posts, discloses or is paused is no part of it (``bot.community_desk``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from core.errors import BadInput
from core.models import Intent, TargetGroup
from core.roles import Role

MAX_TONE: Final = 120
MAX_KEYWORDS: Final = 200
MAX_KEYWORD: Final = 60


@dataclass(frozen=True, slots=True)
class CommunityPolicy:
    """What managers set for their community.

    Attributes:
        review_channel: where cards for moderators are shown; "" shows none, and cases wait on the desk.
        roles: which of Antiphon's roles the platform's own give, by the id of the platform's role.
        watched_channels: where every post is looked at by a filter; none by default.
        threshold: how likely a watched post must be hateful before it is flagged, in [0, 1].
        groups: the target groups that the filter looks out for; none for all.
        keywords: words of which one flags a watched post whatever its score, matched whole and caseless.
        reaction: the emoji that flags a post; "" for none.
        language: of cards, and of replies where a post's own cannot be told, as ISO 639-1; ``None`` for the configured.
        tone: how replies sound, in a few words; "" for the configured style.
        intents: the kinds of reply to draft, the preferred first; none for the configured.
        publishers: whose documents are preferred as evidence; none for any.
        evidence_since: the first year of publication of evidence; ``None`` for any.
    """

    review_channel: str = ""
    roles: dict[str, Role] = field(default_factory=dict)
    watched_channels: tuple[str, ...] = ()
    threshold: float = 0.9
    groups: tuple[TargetGroup, ...] = ()
    keywords: tuple[str, ...] = ()
    reaction: str = ""
    language: str | None = None
    tone: str = ""
    intents: tuple[Intent, ...] = ()
    publishers: tuple[str, ...] = ()
    evidence_since: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise BadInput(f"A threshold of {self.threshold} is none.", remedy="Name a number from 0 to 1.")
        if len(self.tone) > MAX_TONE:
            raise BadInput("The tone is too long.", remedy=f"Say it in {MAX_TONE} characters.")
        if len(self.keywords) > MAX_KEYWORDS:
            raise BadInput("There are too many keywords.", remedy=f"Name at most {MAX_KEYWORDS}.")
        if any(not word.strip() or len(word) > MAX_KEYWORD for word in self.keywords):
            raise BadInput("A keyword is empty or too long.", remedy=f"Use 1 to {MAX_KEYWORD} characters.")
        if self.language is not None and not (len(self.language) == 2 and self.language.isalpha()):
            raise BadInput(f"{self.language!r} is no language.", remedy="Use a code of two letters, such as en or eu.")
