"""One sitting at the terminal: which post comes next, what is shown of it, and a post of the person's own.

Owns the order of the posts. A post that was pasted stands in the sample community as if a member had written it, and
is there again in the next run while it waits for a decision.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from adapters.sample.community import SampleCommunity
from adapters.sample.posts import SAMPLE_FLAGS
from bot.cli.terminal.choices import HELP, QUIT
from bot.cli.terminal.keyboard import Keyboard
from bot.cli.terminal.render import DraftsAsTheyCome, show_suggestion
from bot.cli.terminal.review import Reviewer, Went, in_words
from bot.drafting.worker import Worker
from bot.review.queries import CaseQueries
from bot.sending.outbox import Outbox
from core.errors import AntiphonError
from core.models import FlaggedPost, Priority
from core.moderation.approval import CLOSED, CaseState
from core.moderation.cards import Card
from core.moderation.case_numbers import short_number
from core.moderation.desk_ports import Casework
from core.moderation.roles import Person
from core.stages.signals import check_text

_OWN: Final = "own-"
_PASTED_BY: Final = "pasted by you"
_PASTE: Final = (
    "Paste the post, with all its lines, and press Enter. Then type a line with only a full stop (.), or press Ctrl-D."
)
_HELP: Final = (
    "  Enter   look at the next post\n"
    "  p       paste a post of your own and see drafts\n"
    "  u       take back what you decided last: a closing for a few seconds, or a posted reply\n"
    "  ?       show this list\n"
    "  q       quit; what is not decided waits for the next run\n"
    "Nothing leaves this machine: replies are posted in the sample community only, and you can copy them from there."
)


@dataclass(frozen=True, slots=True)
class Room:
    """What a sitting needs of the application; ``admit`` lets a person decide in the sample community."""

    community: SampleCommunity
    casework: Casework
    queries: CaseQueries
    worker: Worker
    outbox: Outbox
    admit: Callable[[Person], Awaitable[None]]


class Sitting:
    """Shows posts and their drafts; with a keyboard it asks what to do.

    Args:
        operator: who started Antiphon; admitted already.
        drafts: shows the drafts as they come.
        flags: the messages of the sample community to look at.
    """

    def __init__(
        self,
        console: Console,
        room: Room,
        operator: Person,
        drafts: DraftsAsTheyCome,
        flags: Sequence[str] = SAMPLE_FLAGS,
    ) -> None:
        self._console = console
        self._room = room
        self._operator = operator
        self._drafts = drafts
        self._samples = deque(flags)
        self._waiting = deque[str]()
        self._last = ""

    async def show_all(self) -> None:
        """Draft for all sample posts and show it; nobody is asked, so nothing is decided."""
        while self._samples:
            case_id = await self._next()
            await self._draft(case_id)
            if await self._show(case_id):
                self._say("It waits in review: run this in a terminal to decide.")

    async def ask(self, keyboard: Keyboard) -> None:
        """Let a person look at posts, paste their own and decide, until they quit."""
        room = self._room
        reviewer = Reviewer(self._console, keyboard, room.casework, room.outbox, self._operator, room.admit)
        await self._find_own()
        while True:
            answer = await keyboard.ask(self._question())
            if answer is None or answer.casefold() in QUIT:
                return
            try:
                if await self._carry_out(reviewer, keyboard, answer.casefold()) is Went.QUIT:
                    return
            except AntiphonError as err:
                self._say(str(err), "yellow")

    def _question(self) -> str:
        said = list[str]()
        if self._waiting or self._samples:
            number = len(self._waiting) + len(self._samples)
            said.append(f"Enter = look at the next post ({number} to go)")
        said.append("p = paste a post of your own")
        if self._last:
            said.append("u = take back what you decided last")
        return ", ".join([*said, "? = help", "q = quit"])

    async def _carry_out(self, reviewer: Reviewer, keyboard: Keyboard, answer: str) -> Went:
        if answer == "u" and self._last:
            await reviewer.take_back(self._last)
            card = await self._room.casework.card(self._last, self._operator)
            return Went.DECIDED if card.state in CLOSED else await self._look_at(reviewer, self._last)
        if answer == "p":
            pasted = await self._paste(keyboard)
            return Went.LATER if pasted is None else await self._look_at(reviewer, pasted)
        if not answer and (self._waiting or self._samples):
            return await self._look_at(reviewer, await self._next())
        if answer not in {"", *HELP}:
            self._say(f"Nothing here is called “{answer}”.")
        self._say(_HELP)
        return Went.LATER

    async def _look_at(self, reviewer: Reviewer, case_id: str) -> Went:
        """Draft for a case, show it and ask about it."""
        while True:
            await self._draft(case_id)
            if not await self._show(case_id):
                card = await self._room.casework.card(case_id, self._operator)
                if card.state in CLOSED:
                    return Went.DECIDED
                if card.state in {CaseState.CAPTURED, CaseState.QUEUED, CaseState.DRAFTING}:
                    self._waiting.append(case_id)
                    return Went.LATER
            went = await reviewer.decide(case_id)
            if went is Went.LATER:
                self._waiting.append(case_id)
            if went is Went.DECIDED:
                self._last = case_id
            if went is not Went.REDRAFT:
                return went

    # Posts

    async def _next(self) -> str:
        """The case of the next post, which is shown at once."""
        if self._waiting:
            case_id = self._waiting.popleft()
            card = await self._room.casework.card(case_id, self._operator)
            self._head(case_id, card.post)
            return case_id
        post = self._room.community.flag(self._samples.popleft(), by="sample volunteer")
        return await self._flag(post)

    async def _flag(self, post: FlaggedPost) -> str:
        case = await self._room.casework.flag(post)
        self._head(case.case_id, post)
        return case.case_id

    def _head(self, case_id: str, post: FlaggedPost) -> None:
        is_own = post.ref.message.startswith(_OWN)
        what = "the post that you pasted" if is_own else f"message {post.ref.message} by {post.author}"
        self._console.print(Rule(Text(f"Case {short_number(case_id)}: {what}")))
        self._console.print(Text(post.text, style="italic"))

    async def _paste(self, keyboard: Keyboard) -> str | None:
        """A post of the person's own, as a case; ``None`` if nothing was pasted."""
        text = await keyboard.paste(_PASTE)
        if text is None:
            self._say("Nothing was pasted.")
            return None
        check_text(text)
        community = self._room.community
        message = community.add(_PASTED_BY, text, message_id=f"{_OWN}{uuid4().hex[:8]}").id
        # A person who pastes a post wants drafts for it; the sample thread is not what was said before it.
        post = replace(community.flag(message, by=self._operator.user), priority=Priority.ASKED, thread=())
        try:
            return await self._flag(post)
        except AntiphonError:
            community.delete(message)
            raise

    async def _find_own(self) -> None:
        """Put the person's posts that an earlier run left undecided back into the thread, and before the others."""
        community, page, pages = self._room.community, 0, 1
        while page < pages:
            found = await self._room.casework.open_cases(community.name, community.community, self._operator, page)
            for case in found.cases:
                card = await self._room.casework.card(case.case_id, self._operator)
                if card.post.ref.message.startswith(_OWN) and card.post.text:
                    community.add(_PASTED_BY, card.post.text, message_id=card.post.ref.message)
                    self._waiting.append(case.case_id)
            page, pages = page + 1, found.pages
        if self._waiting:
            self._say(f"Posts of your own that still wait from an earlier run: {len(self._waiting)}.")

    # Drafts

    async def _draft(self, case_id: str) -> None:
        """Draft for a case that is queued, as far as it can be done now."""
        self._drafts.next_post()
        while (await self._card(case_id)).state is CaseState.QUEUED and await self._room.worker.step():
            pass

    async def _card(self, case_id: str) -> Card:
        return await self._room.casework.look(case_id, self._operator)

    async def _show(self, case_id: str) -> bool:
        """Show the drafts of a case, or what it waits for; whether it waits for a decision about its drafts."""
        queries = self._room.queries
        case, stored = await queries.case(case_id), await queries.suggestion(case_id)
        is_in_review = case.state is CaseState.IN_REVIEW
        if stored is not None and (is_in_review or not stored.suggestion.has_answer):
            reviews = await queries.reviews(case.community_id, stored.suggestion.drafts)
            show_suggestion(self._console, stored.suggestion, reviews)
        if not is_in_review or stored is None:
            self._say(in_words(await self._card(case_id)))
            return False
        if await queries.chosen_claim(case_id) not in {None, stored.suggestion.claim}:
            self._say((await queries.history(case_id))[-1].reason, "yellow")
        return True

    def _say(self, said: str, style: str = "") -> None:
        self._console.print(Text(said, style=style), soft_wrap=True)
