"""A sitting at the terminal over the real desk: what a person types, what they are shown, and what becomes of it."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
from rich.console import Console

from adapters.sample.community import SampleCommunity
from bot.cli.terminal.render import DraftsAsTheyCome
from bot.cli.terminal.sitting import Room, Sitting
from bot.communities.decisions import CommunityDesk
from bot.compose.application import admit
from bot.compose.desk import build_casework, build_desk
from bot.drafting.queue import DraftQueue
from bot.drafting.worker import Worker, unheard
from bot.sending.outbox import Outbox
from bot.store.engine.database import Database
from core.engine import OnProgress
from core.models import Draft, FlaggedPost, Intent, Priority, Progress, Scores, Suggestion
from core.moderation.approval import CaseState
from core.request import Request
from tests.fakes.desk.decisions import BOLD, OWN_TEXT
from tests.fakes.desk.people import COMMUNITY, COMMUNITY_ID, KEEPER, MODERATOR, PLATFORM
from tests.fakes.desk.workers import ToldEngine, drafting
from tests.fakes.engine.suggestions import DRAFT_TEXTS
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.edit_reader import FakeEditReader, read_as
from tests.fakes.ports.keyboard import ScriptedKeyboard

pytestmark = pytest.mark.parametrize("database_server", ["sqlite"], indirect=True)
"""What people read does not depend on the database."""

FIRST, BETTER = "A first try.", "A better try."
PASTED = "They are all the same.\n\nAnd they never pay."
FOREIGN = "Read https://example.com/rules first."


class _Engine(ToldEngine):
    """Shows two drafts on its way, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.drafts = DRAFT_TEXTS
        self.posts: list[FlaggedPost] = []

    async def suggest(self, request: Request, on_progress: OnProgress = unheard) -> Suggestion:
        self.posts.append(request.post)
        for seconds, text in ((3.2, FIRST), (8.9, BETTER)):
            on_progress(Progress("draft", text, seconds, Draft(1, text, Intent.POSITIVE, Scores())))
        return await super().suggest(request, on_progress)


@dataclass
class _Terminal:
    """A sitting over a database of its own, and what is seen of it."""

    database: Database
    clock: FakeClock
    flags: tuple[str, ...] = ("103",)
    engine: _Engine = field(default_factory=_Engine)
    keyboard: ScriptedKeyboard = field(default_factory=ScriptedKeyboard)
    community: SampleCommunity = field(default_factory=SampleCommunity)
    reader: FakeEditReader = field(default_factory=lambda: FakeEditReader(read_as(0.01)))

    def __post_init__(self) -> None:
        self.screen = io.StringIO()
        self.console = Console(file=self.screen, width=200)

    @property
    def shown(self) -> str:
        """All that was printed."""
        return self.screen.getvalue()

    def sitting(self) -> Sitting:
        """The sitting, over a desk with an undo window of 15 seconds."""
        desk = build_desk(self.database, undo_seconds=15, edit_reader=self.reader)
        outbox = Outbox(self.database, {PLATFORM: self.community})
        drafts = DraftsAsTheyCome(self.console)
        worker = Worker(DraftQueue(self.database, "terminal"), drafting(self.database, self.engine), drafts)
        let_in = partial(admit, self.database, PLATFORM, COMMUNITY)
        room = Room(self.community, build_casework(desk, outbox), desk.queries, worker, outbox, let_in)
        return Sitting(self.console, room, MODERATOR, drafts, self.flags)

    async def types(self, *answers: str | Callable[[], str]) -> str:
        """A person types this and then ends the input; what they were shown."""
        self.keyboard.types(*answers)
        before = len(self.shown)
        await self.sitting().ask(self.keyboard)
        assert not self.keyboard.script, "it ended before all was typed"
        return self.shown[before:]

    def passes(self, seconds: float) -> Callable[[], str]:
        """A person who types nothing while time passes."""

        def wait() -> str:
            self.clock.advance(seconds)
            return ""

        return wait

    def replies(self) -> list[str]:
        """What the bot posted."""
        return [post.text for post in self.community.thread() if post.author == "antiphon"]


@pytest.fixture
def server() -> None:
    """SQLite, as a terminal has it."""


@pytest.fixture
async def terminal(database: Database, clock: FakeClock) -> _Terminal:
    await admit(database, PLATFORM, COMMUNITY, MODERATOR)
    return _Terminal(database, clock)


async def test_the_post_is_shown_at_once_then_each_draft_as_it_comes(terminal: _Terminal) -> None:
    """A person who waits a minute for drafts reads the post meanwhile, and then the first draft."""
    shown = await terminal.types("", "q")
    places = [shown.index(text) for text in ("Enjoy the market", FIRST, BETTER, "Draft 1", DRAFT_TEXTS[0])]
    assert places == sorted(places)
    assert "The first draft, after 3 s" in shown
    assert "A better draft, after 9 s" in shown
    assert "2 of 5, moderate (1 is mild, 5 calls for violence)" in shown


async def test_a_reply_is_posted_once_its_window_is_over(terminal: _Terminal) -> None:
    """The letter alone means draft 1; the text is shown exactly, and the state is said in words."""
    terminal.keyboard.meanwhile.append(terminal.passes(15))
    shown = await terminal.types("", "a", "y", "q")
    (posted,) = terminal.replies()
    assert posted.startswith(f"{DRAFT_TEXTS[0]}\n")
    assert posted in shown
    assert "The reply is posted." in shown
    assert terminal.keyboard.consents == ["y = Yes, post this reply, Enter = back"]


async def test_an_approval_is_taken_back_without_leaving(terminal: _Terminal) -> None:
    """And the same drafts wait again."""
    terminal.keyboard.meanwhile.append("u")
    shown = await terminal.types("", "a 2", "y", "l", "q")
    assert "Taken back. Nothing is sent; the case is in review again." in shown
    assert terminal.replies() == []
    assert terminal.keyboard.questions[-2].startswith("a = approve")


@pytest.mark.parametrize("answer", ["", "n", "a"])
async def test_nothing_but_yes_approves(terminal: _Terminal, answer: str) -> None:
    """The end of the input neither."""
    assert "Nothing is approved." in await terminal.types("", "a", answer)
    assert terminal.replies() == []


@pytest.mark.parametrize(
    ("closing", "state"),
    [
        (("n",), CaseState.NO_REPLY),
        (("s",), CaseState.NO_REPLY),
        (("d off tone",), CaseState.DECLINED),
        (("d wrong fact: it is older",), CaseState.DECLINED),
        (("d we know them",), CaseState.DECLINED),
        (("d", "4"), CaseState.DECLINED),
        (("d", "10", "we know them"), CaseState.DECLINED),
    ],
)
async def test_a_closing_is_taken_back_too(terminal: _Terminal, closing: tuple[str, ...], state: CaseState) -> None:
    """For the seconds in which the desk allows it; afterwards it says so."""
    shown = await terminal.types("", *closing, "u", "l", "q")
    assert "Closed: " in shown
    assert "the case is in review again" in shown
    shown = await terminal.types("", *closing, terminal.passes(16), "u", "q")
    assert "can be undone for 15 seconds only" in shown
    desk = build_desk(terminal.database)
    assert [case.state for case in await desk.queries.cases()] == [state]


async def test_a_note_is_kept(terminal: _Terminal) -> None:
    """Also beside a reason that is counted."""
    await terminal.types("", "d wrong fact: the figure is of 2009", "q")
    desk = build_desk(terminal.database)
    (case,) = await desk.queries.cases()
    entry = (await desk.queries.history(case.id))[-1]
    assert (entry.reason, entry.note) == ("declined: wrong fact", "the figure is of 2009")


async def test_an_edit_begins_with_the_draft_and_keeps_what_was_refused(terminal: _Terminal) -> None:
    """What is wrong is said before anybody is asked to post it, and the text need not be typed again."""
    terminal.keyboard.meanwhile.append(terminal.passes(15))
    shown = await terminal.types("", "e 2", FOREIGN, OWN_TEXT, "e", f"{OWN_TEXT} Truly.", "y", "q")
    assert terminal.keyboard.edited == [DRAFT_TEXTS[1], FOREIGN, OWN_TEXT]
    assert len(terminal.keyboard.consents) == 2
    assert shown.index("which is not a source of this case") < shown.index("Exactly this would be posted")
    (posted,) = terminal.replies()
    assert posted.startswith(f"{OWN_TEXT} Truly.\n")


@pytest.mark.parametrize("emptied", ["", "  "])
async def test_an_empty_edit_is_never_offered_for_posting(terminal: _Terminal, emptied: str) -> None:
    """It goes back."""
    shown = await terminal.types("", "w", emptied, "q")
    assert "an empty text cannot be posted" in shown
    assert terminal.keyboard.consents == []


async def test_what_the_reader_finds_is_said_before_the_question(terminal: _Terminal) -> None:
    """As of an insult that a moderator typed; it stops nobody."""
    terminal.reader.says = read_as(0.95)
    shown = await terminal.types("", "w", "You idiot, we all live here.", "", "q")
    assert "Check: Antiphon would not have suggested this:" in shown
    assert terminal.keyboard.consents == ["y = Yes, post this reply, e = change it once more, Enter = back"]


async def test_two_persons_approve_the_same_bytes(terminal: _Terminal) -> None:
    """Why is said before the first one approves; the second one reads that text, and neither is two persons."""
    terminal.keyboard.meanwhile.append(terminal.passes(15))
    shown = await terminal.types("", "w", BOLD, "y", "f", "", "p Bea", "f", "y", "q")
    assert terminal.keyboard.consents == [
        "y = Yes, and ask a second person, e = change it once more, Enter = back",
        "y = Yes, post this reply, Enter = back",
    ]
    assert "You approved this text already" in shown
    assert "No evidence holds the figure “93%”." in shown
    assert f"{MODERATOR.name} approved this text (f 1 approves the same):\n  | {BOLD}" in shown
    assert "you are the second" in shown
    (posted,) = terminal.replies()
    assert posted.startswith(f"{BOLD}\n")


async def test_the_first_person_under_another_spelling_is_still_one(terminal: _Terminal) -> None:
    """A person who takes the keyboard back is who they were."""
    shown = await terminal.types("", "w", BOLD, "y", f"p {MODERATOR.name.upper()}", "f", "y", "q")
    assert "you are the second" not in shown
    assert terminal.replies() == []


async def test_a_post_of_ones_own_is_drafted_for(terminal: _Terminal) -> None:
    """With all its lines and nothing of the sample thread; its case is decided as any."""
    terminal.keyboard.meanwhile.append(terminal.passes(15))
    shown = await terminal.types("p", PASTED, "a", "y", "q")
    (post,) = terminal.engine.posts
    assert (post.text, post.thread, post.priority) == (PASTED, (), Priority.ASKED)
    assert shown.index("And they never pay.") < shown.index(FIRST)
    assert len(terminal.replies()) == 1


async def test_a_post_of_ones_own_waits_for_the_next_run(terminal: _Terminal) -> None:
    """It is there again, in the thread too, so that a reply to it can be posted."""
    await terminal.types("p", PASTED, "q")
    terminal.community = SampleCommunity()
    terminal.keyboard.meanwhile.append(terminal.passes(15))
    shown = await terminal.types("", "a", "y", "q")
    assert "Posts of your own that still wait from an earlier run: 1." in shown
    assert len(terminal.engine.posts) == 1
    assert len(terminal.replies()) == 1
    assert "still wait" not in await terminal.types("q")


async def test_the_same_post_twice_is_two_cases(terminal: _Terminal) -> None:
    """A person who pastes a post wants drafts for it, whatever became of the last ones."""
    await terminal.types("p", PASTED, "n", "p", PASTED, "q")
    assert len(terminal.engine.posts) == 2


@pytest.mark.parametrize(("pasted", "said"), [("w" * 5001, "reads 5,000 at most"), ("\u200b", "empty")])
async def test_a_post_that_cannot_be_read_is_refused_at_once(terminal: _Terminal, pasted: str, said: str) -> None:
    """Before any model is asked, and the sitting goes on."""
    assert said in await terminal.types("p", pasted, "q")
    assert terminal.engine.posts == []
    assert len(terminal.community.thread()) == len(SampleCommunity().thread())


async def test_another_claim_is_argued(terminal: _Terminal) -> None:
    """By its number or in words of one's own; the case is drafted again at once."""
    await terminal.types("", "c", "2", "c Newcomers always help.", "l", "q")
    assert terminal.engine.claims == [None, "Newcomers work.", "Newcomers always help."]
    assert "There is no 9 in this list. Type a number from 1 to " in await terminal.types("", "c 9", "q")


async def test_a_post_that_could_not_be_drafted_says_why_and_waits(terminal: _Terminal) -> None:
    """It can be looked at again; nothing is lost."""
    terminal.engine.fault = ConnectionError("quotes the post")
    shown = await terminal.types("", "q")
    assert "Needs a person to look at it." in shown
    assert "Drafting failed unexpectedly (ConnectionError)." in shown
    terminal.engine.fault = None
    shown = await terminal.types("", "o", "a", "", "q")
    assert "Exactly this would be posted" in shown


async def test_a_posted_reply_is_taken_away(terminal: _Terminal) -> None:
    """By the same letter, with a reason."""
    terminal.keyboard.meanwhile.append(terminal.passes(15))
    shown = await terminal.types("", "a", "y", "u", "2", "q")
    assert "The reply is taken back." in shown
    assert terminal.replies() == []


async def test_nobody_waits_while_posting_is_paused(terminal: _Terminal) -> None:
    """It is said instead."""
    await CommunityDesk(terminal.database).pause(COMMUNITY_ID, KEEPER)
    shown = await terminal.types("", "a", "y", "q")
    assert "Posting is paused" in shown
    assert terminal.replies() == []


async def test_without_a_keyboard_the_drafts_wait(terminal: _Terminal) -> None:
    """Nobody is asked, so nothing is decided."""
    await terminal.sitting().show_all()
    assert "It waits in review: run this in a terminal to decide." in terminal.shown
    assert DRAFT_TEXTS[0] in terminal.shown
