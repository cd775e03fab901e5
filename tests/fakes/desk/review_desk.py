"""The real desk of one community over SQLite, what it was asked, and cases that real acts bring into a state."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bot.compose.desk import build_casework, build_desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card, short_number
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person, Role
from core.desk.schema import Change
from core.desk.sending.outbox import Outbox
from core.desk.store import communities
from core.desk.views.cards import build
from core.errors import PlatformUnavailable
from core.models import Action, Claim, Cost, FlaggedPost, PostRef, Reading, Suggestion
from tests.fakes.desk.decisions import take
from tests.fakes.desk.people import SECRET
from tests.fakes.desk.sending import FakeRoles, FaultyCommunity
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.compiled import share_compiled_statements
from tests.fakes.machine.sqlite_at_once import call_at_once

share_compiled_statements()

_OF_A_CASE: Final = ("card", "look", "numbered", "propose", "approve")
_DECISIONS: Final = ("hold", "release", "undo", "redraft", "close", "reopen", "settle", "split_out", "retract")
_OTHERS: Final = ("posts", "find", "open_cases", "card_gone", "refused", "original_changed")


_MADE: Final[dict[str, tuple[str, bytes]]] = {}
"""Files with one case in review, and its id, by the card: the same acts on an empty desk are done once."""


class RecordedDesk(Casework):
    """The front desk that it is given, which remembers what people decided, and fails or waits where a test says so.

    Attributes:
        decided: what the desk carried out: the decision, whose it was (the platform's id), and how; oldest first.
        gone: the cards of which it was told that they are gone.
        trouble: raised once, by the next call about a case.
        slow_seconds: how much longer than it does it takes to read a card.
    """

    def __init__(self, front: Casework) -> None:
        self.decided: list[tuple[str, str, object]] = []
        self.gone: list[PostRef] = []
        self.trouble: Exception | None = None
        self.slow_seconds = 0.0
        self.intake = front.intake
        for name in (*_OF_A_CASE, *_DECISIONS, *_OTHERS):
            setattr(self, name, self._recorded(name, getattr(front, name)))

    def _recorded(self, name: str, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        shape = inspect.signature(call)

        async def recorded(*args: Any, **how: Any) -> Any:
            if name not in _OTHERS and self.trouble is not None:
                trouble, self.trouble = self.trouble, None
                raise trouble
            if self.slow_seconds and name in ("card", "look", "numbered"):
                await asyncio.sleep(self.slow_seconds)
            said = shape.bind(*args, **how)
            said.apply_defaults()
            made = await call(*args, **how)
            self._remember(name, said.arguments, made)
            return made

        return recorded

    def _remember(self, name: str, said: Mapping[str, Any], made: Any) -> None:
        if name == "card_gone":
            self.gone.append(said["ref"])
        elif name == "approve" and made.waits_for_second is None:
            self.decided.append((name, said["by"].user, made.card.approved.text))
        elif name in _DECISIONS:
            how = {
                "redraft": lambda: said["claim"] or said["intent"],
                "close": lambda: (said["reason"], said["note"]),
                "retract": lambda: (said["reason"], said["note"]),
                "settle": lambda: said["is_posted"],
            }
            self.decided.append((name, said["by"].user, how.get(name, lambda: None)()))


class ReviewDesk:
    """A desk for one chat platform, and what brings cases into a state.

    Attributes:
        chat: the platform, as far as the desk asks it; no client is connected to it.
        roles: by the platform's user id, what the platform says that somebody is.
        casework: the desk as a client knows it. What ``case`` does is not recorded there.
        case_id: the case that was brought last.
    """

    def __init__(self, file: Path, database: Database, clock: FakeClock, platform: str) -> None:
        self.file, self.database, self.clock = file, database, clock
        self.chat = FaultyCommunity(clock, name=platform, max_characters=2000)
        self.roles: dict[str, Role] = {}
        source = FakeRoles()
        source.held = self.roles
        self._asked = {platform: source}
        self.desk = build_desk(database, undo_seconds=15, role_sources=self._asked, platforms={platform: self.chat})
        self.queue = DraftQueue(database, "worker-1")
        self.outbox = Outbox(database, {platform: self.chat}, role_sources=self._asked, poll_seconds=0.001)
        self._front = build_casework(self.desk, self.outbox)
        self.casework = RecordedDesk(self._front)
        self.case_id = ""
        self.ane, self.jon = Person(platform, "701", "Ane"), Person(platform, "702", "Jon")
        self.roles |= {self.ane.user: Role.MODERATOR, self.jon.user: Role.MODERATOR}

    @property
    def number(self) -> str:
        """The number by which people know the last case."""
        return short_number(self.case_id)

    async def now(self, case_id: str = "") -> Card:
        """The whole card of a case, the last one if none is named, as the review channel gets it."""
        return await self.database.run("build a card", lambda session: build(session, case_id or self.case_id))

    async def moved(self, **changes: Any) -> Card:
        """Let somebody ask for other drafts of the last case, which come at once, with other fields of its card.

        An approval is taken back before.
        """
        now = await self.now()
        if now.state is CaseState.APPROVED:
            now = await self._front.undo(now.case_id, now.version, self.jon)
        await self._front.redraft(now.case_id, now.version, self.jon)
        self.clock.advance(1)
        taken = await take(self.queue)
        await self.queue.store(taken, suggestion_like(replace(now, **changes), taken.case.post))
        return await self.now()

    async def set_up(self, like: Card) -> None:
        """Let the community of a card speak a language, and post, or not, as the card says."""

        async def work(session: Session) -> None:
            found = await communities.ensure(session, self.chat.name, like.community)
            what = Change.SHADOW if like.is_shadow else Change.POSTING
            policy = {"language": like.community_language}
            await communities.change(session, found.id, actor="test", reason="set up", what=what, policy=policy)
            if like.is_paused:
                await communities.pause(session, found.id, "test")

        await self.database.run("set a community up", work)

    async def case(self, like: Card) -> Card:
        """Bring a post of the community into the state of a card by what people, workers and the platform do.

        It is the first that happens at this desk, or comes after another case. Taken from ``like``: post, reading,
        drafts, evidence, claims, notes, whether two persons are needed, who approved a text first, who holds the case,
        and how things stand in the community.

        Raises:
            ValueError: nothing here brings a case into that state.
        """
        post = replace(like.post, root=like.post.ref.message)
        self.chat.place = (post.ref.community, post.ref.channel)
        self.chat.add(post.author, post.text, message_id=post.ref.message)
        key = repr(like)
        if self.case_id or like.state is not CaseState.IN_REVIEW:
            return await self._made(like, post)
        if key in _MADE:
            self.case_id, image = _MADE[key]
            await self.database.engine.dispose()
            self.file.write_bytes(image)
            return await self.now()
        made = await self._made(like, post)
        await self.database.engine.dispose()  # which leaves all in one file
        _MADE[key] = (made.case_id, self.file.read_bytes())
        return made

    async def _made(self, like: Card, post: FlaggedPost) -> Card:
        await self.set_up(like)
        folds = like.state is CaseState.FOLDED
        intake = build_desk(self.database, campaign_hours=24).intake if folds else self.desk.intake
        self.case_id = (await intake.flag(post)).id
        if folds:
            again = replace(post, ref=replace(post.ref, message=f"{post.ref.message}1"), root="", flagged_by="901")
            self.case_id = (await intake.flag(again)).id
        elif like.state is not CaseState.QUEUED:
            taken = await take(self.queue)
            await self.queue.store(taken, suggestion_like(like, taken.case.post))
            await self.go_on(like)
        made = await self.now()
        if made.state is not like.state:
            raise ValueError(f"The case is {made.state}, not {like.state}.")
        return made

    async def go_on(self, like: Card) -> None:
        """Let happen to the last case, which has drafts, what happens until it is as a card says."""
        if like.holder is not None:
            await self._front.hold(self.case_id, self.ane)
        for text in like.first_texts:
            await self.approve(self.ane, text)
        if like.approved is not None:
            await self.approve(self.ane)
            if len(like.approved.by) > 1:
                await self.approve(self.jon)
        if like.state not in (CaseState.IN_REVIEW, CaseState.APPROVED):
            await self._end(like)
        if like.is_original_gone:
            await self._front.original_changed((await self.now()).post.ref, None)

    async def approve(self, by: Person, text: str | None = None) -> None:
        """Approve the first draft of the last case, or another text."""
        version = (await self.now()).version
        shown = await self._front.propose(self.case_id, version, by, rank=None if text else 1, text=text)
        await self._front.approve(shown.id, by)

    async def _end(self, like: Card) -> None:
        now = await self.now()
        if like.state is CaseState.NO_REPLY:
            await self._front.close(self.case_id, now.version, self.ane, CloseReason.NOT_HATEFUL)
        elif like.may_be_posted:
            self.chat.resend = 0.0
            self.chat.lose_answers(arrive=False)
            self.chat.find_fault = PlatformUnavailable("Nobody can look.", remedy="Look yourself.")
        elif like.state is CaseState.FAILED:
            self.chat.arrives = False
            self.chat.send_fault = PlatformUnavailable("The channel is closed to us.", remedy="Open it.")
        elif like.state is CaseState.NEEDS_PERSON and like.approved is not None:
            self.chat.delete(now.post.ref.message)
        self.clock.advance(16)
        while await self.outbox.send_due() or await self.outbox.recover():
            self.clock.advance(600)
        self.chat.mend()


def suggestion_like(card: Card, post: FlaggedPost) -> Suggestion:
    """What an engine says about a post whose card then shows what this one does."""
    needs_two = card.why_two or (card.approved is not None and len(card.approved.by) > 1)
    advice = Action.SUPPORT_TARGET if needs_two else card.advice or Action.REPLY
    kinds = ("welfare",) if card.is_gist_ours else ()
    return Suggestion(
        post=post,
        reading=Reading(
            language=card.language,
            target_group=card.target_group,
            offensiveness=None,
            speaker_intent=None,
            power_dynamics=None,
            implied_meaning=card.gist,
            emotional_reaction=None,
            cognitive_reaction=None,
            severity=card.severity,
            recommended_action=advice,
            reason=card.advice_reason,
            stereotypes=kinds,
        ),
        claims=tuple(Claim(text, None) for text in card.claims),
        claim=card.argued,
        queries=(),
        evidence=card.evidence,
        drafts=card.drafts,
        cost=Cost("quick", 2.5, 1.25, 9, 4, 1200, 300, 2, "target reached"),
        degraded=card.notes,
    )


@asynccontextmanager
async def review_desk(file: Path, platform: str) -> AsyncIterator[ReviewDesk]:
    """The desk over a SQLite file that no other test uses, by a clock that stands still."""
    clock = FakeClock()
    database = await Database.open(file, secret=SECRET, clock=clock)
    await call_at_once(database.engine)
    try:
        yield ReviewDesk(file, database, clock, platform)
    finally:
        await database.close()
