"""What capture needs of ``Casework`` and its intake, in memory: it takes posts in."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.case_cards import Card, DraftProgress, OpenCase, OpenCases
from core.desk.rules.roles import Person
from core.errors import BadInput, NotAllowed
from core.models import Draft, Evidence, FlaggedPost, Intent, PostRef, Receipt, Scores, Source, Verdict

DRAFT = "Most newcomers work and pay taxes."
SOURCE = Source("OECD", "Migration Outlook", 2021, None, "https://example.org/outlook")


class FlagDesk:
    """Takes flags; a test reads ``flagged`` and ``changes``, gives drafts, or lets calls fail with ``errors``."""

    def __init__(self) -> None:
        self.flagged: list[FlaggedPost] = []
        self.changes: list[tuple[PostRef, str | None]] = []
        self.errors: list[Exception] = []
        self.members: list[str] = []
        self.needed = 2
        self.slow_seconds = 0.0
        self.times_read = 0
        self._cards: dict[PostRef, Card] = {}

    @property
    def intake(self) -> FlagDesk:
        return self

    async def take_flag(self, post: FlaggedPost) -> Card:
        """Keep a post; one flagged before keeps its case."""
        if self.slow_seconds:
            await asyncio.sleep(self.slow_seconds)
        self._fail()
        self.flagged.append(post)
        if post.ref not in self._cards:
            number = len(self._cards) + 1
            self._cards[post.ref] = Card(
                case_id=f"case{number}",
                version=1,
                state=CaseState.QUEUED,
                community=post.ref.community,
                post=post,
                opened_at=datetime(2026, 3, 2, tzinfo=UTC),
                waiting=DraftProgress(ahead=number - 1, expected_seconds=40.0),
            )
        return self._cards[post.ref]

    async def take_member_flag(self, post: FlaggedPost) -> Card | None:
        """The first ``needed - 1`` flags of a post are only counted."""
        self.members.append(post.flagged_by)
        return None if len(self.members) < self.needed else await self.take_flag(post)

    def put(self, card: Card) -> None:
        """Keep a case as it is."""
        self._cards[card.post.ref] = card

    async def card(self, case_id: str, by: Person) -> Card:
        self.times_read += 1
        self._fail()
        card = next(card for card in self._cards.values() if card.case_id == case_id)
        if card.post.flagged_by != by.user:
            raise NotAllowed("This is not your case.", remedy="Ask a moderator.")
        return card

    async def look(self, case_id: str, by: Person) -> Card:
        return await self.card(case_id, by)

    async def posts(self, platform: str, most: int) -> list[PostRef]:
        """What was flagged, the newest last."""
        return [post.ref for post in self.flagged][-most:]

    async def open_cases(self, platform: str, community: str, by: Person, page: int = 0) -> OpenCases:
        """The cases that are not closed, ten on a page."""
        found = sorted(
            (card for card in self._cards.values() if card.state not in CLOSED), key=lambda card: card.opened_at
        )
        shown = found[page * 10 : (page + 1) * 10]
        lines = tuple(OpenCase(card.case_id, card.state, card.opened_at, card.holder, None) for card in shown)
        oldest = found[0].opened_at if found else None
        return OpenCases(lines, page, max(1, -(-len(found) // 10)), len(found), oldest)

    async def numbered(self, platform: str, community: str, number: str, by: Person) -> Card:
        """A case by the beginning of its id."""
        found = [card for card in self._cards.values() if card.case_id.lower().startswith(number.lower())]
        if not found:
            raise BadInput(f"There is no case {number} here.", remedy="Look at the list.")
        return found[0]

    async def card_gone(self, ref: PostRef) -> None:
        """Nothing: no card is shown here."""

    async def original_changed(self, ref: PostRef, text: str | None, *, revision: str = "") -> None:
        self._fail()
        self.changes.append((ref, text))

    def give_drafts(self, *, is_preview: bool = False, state: CaseState = CaseState.IN_REVIEW) -> None:
        """Let the engine finish with every case, or show a first draft; ``state`` is what came of it since."""
        receipt = Receipt(DRAFT, "e1", Verdict.SUPPORTED, 0.9)
        draft = Draft(1, DRAFT, Intent.INFORMATIVE, Scores(), (receipt,), ("Check the year.",))
        evidence = Evidence("e1", "A passage.", "Its summary.", SOURCE)
        state = CaseState.DRAFTING if is_preview else state
        self._each(state=state, drafts=(draft,), evidence=(evidence,), is_preview=is_preview)

    def end(self, state: CaseState) -> None:
        """Let every case end in a state, without drafts."""
        self._each(state=state, drafts=())

    def _each(self, **changes: object) -> None:
        self._cards = {ref: replace(card, waiting=None, **changes) for ref, card in self._cards.items()}  # type: ignore[arg-type]  # fields by name

    def _fail(self) -> None:
        if self.errors:
            raise self.errors.pop(0)
