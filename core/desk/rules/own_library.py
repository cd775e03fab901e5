"""What a community has to reply with: prepared replies and argument cards, and the port by which people work on them.

``core.desk.review.own_library`` implements the port over the decisions that the command line makes, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from core.desk.rules.origins import ReviewOfPrepared
from core.desk.rules.own_cards import WrittenCard
from core.desk.rules.roles import Person
from core.engine.cards.bank import CardVerdict, OwnReply
from core.models import Intent, TargetGroup


@dataclass(frozen=True, slots=True)
class PreparedReply:
    """A prepared reply as a community has it.

    ``intent`` is ``None`` for a card's claim, ``stereotype`` for a whole group. ``is_own``: the community added it.
    ``is_hidden``: one of the project's that the community took out of its drafts.
    """

    id: str
    language: str
    target_group: TargetGroup
    stereotype: str | None
    intent: Intent | None
    text: str
    is_own: bool
    is_hidden: bool = False
    review: ReviewOfPrepared | None = None


@dataclass(frozen=True, slots=True)
class CommunityCard:
    """A card that a community wrote, who proposed it, and what a second person said of it.

    Nobody is the ``proposer`` of a card whose proposer was erased. Drafts start from it where ``is_accepted``.
    """

    card: WrittenCard
    proposer: ReviewOfPrepared | None
    verdict: CardVerdict | None
    reviewer: ReviewOfPrepared | None
    is_accepted: bool


class OwnLibrary(Protocol):
    """A community's prepared replies and cards, for the people of its platform, who are asked for their roles.

    Those who may see its statistics read them, those who may configure it change them: ``NotAllowed`` for others.
    ``BadInput`` says what is wrong with a text, or that there is no such reply or card. ``note`` is their reason.
    """

    async def replies(self, platform: str, community: str, by: Person) -> list[PreparedReply]:
        """All prepared replies: its own first, then the project's, including those that it took out."""
        ...

    async def add_reply(self, platform: str, community: str, by: Person, reply: OwnReply, note: str = "") -> str:
        """Add a reply of its own, which ``core.desk.rules.own_replies`` checked; gives its id."""
        ...

    async def review_reply(self, platform: str, community: str, by: Person, id_: str) -> None:
        """Record that this person has read a reply and stands for it."""
        ...

    async def remove_reply(
        self, platform: str, community: str, by: Person, id_: str, note: str = "", *, is_undone: bool = False
    ) -> None:
        """Delete one of its own, or use one of the project's no more; ``is_undone`` uses that again."""
        ...

    async def cards(self, platform: str, community: str, by: Person) -> list[CommunityCard]:
        """The cards that it wrote."""
        ...

    async def propose_card(
        self, platform: str, community: str, by: Person, row: Mapping[str, Any], note: str = ""
    ) -> bool:
        """Check and keep a card as it is written down, or a new version of one; whether anything changed."""
        ...

    async def review_card(
        self, platform: str, community: str, by: Person, id_: str, verdict: CardVerdict, digest: str
    ) -> None:
        """Accept or decline the version of a card that was read; ``BadInput`` for the person who proposed it."""
        ...

    async def remove_card(self, platform: str, community: str, by: Person, id_: str, note: str = "") -> None:
        """Delete a card."""
        ...
