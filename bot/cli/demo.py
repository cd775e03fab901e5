"""``antiphon demo``: three flagged posts of the sample community, from flag to reply, without asking anything.

A script decides in a moderator's place: it approves, declines, and edits and approves. It uses a database of its own
that is thrown away, and the same parts as ``antiphon run``.
"""

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from adapters.common.cards.states import headline
from adapters.common.words.markup import no_address
from adapters.sample import SAMPLE_FLAGS, SampleCommunity
from adapters.web.speech import reader_for
from bot.cli.render import DraftsAsTheyCome, show_suggestion, show_thread
from bot.compose.application import Application, admit, open_application
from bot.compose.engine import OnPreparing, open_engine
from bot.compose.models import check_reachable
from bot.serve.platforms import Connection, in_process
from bot.serve.supervision import connected
from bot.settings import Settings
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person
from core.desk.store.cases import Case
from core.errors import Unavailable

MODERATOR = Person("sample", "demo script", "demo script")
INTRODUCTION = (
    "This demo shows three invented posts of a sample community, from flag to reply. The moderator here is a script: "
    "it edits a draft and approves it, whatever it says, and leaves a post without a reply where Antiphon has no draft "
    "that it is sure of. In earnest a person decides about each. "
    "Nothing is posted outside of this process. To decide yourself, or to paste a post of your own: antiphon run"
)
SIGNATURE = "If you want to talk about it, write to the moderators."

Decision = Callable[[Console, Application, Case], Awaitable[None]]


async def demo(console: Console, settings: Settings, profile: str, on_preparing: OnPreparing | None = None) -> bool:
    """Run the demo to its end; ``False`` if there was no draft for any of the posts.

    Raises:
        AntiphonError: a part that it needs cannot be had.
    """
    chosen = settings.profile_named(profile)  # a wrong name is told before anything is shown or loaded
    community, were_drafted, drafts = SampleCommunity(), list[bool](), DraftsAsTheyCome(console)
    console.print(Text(INTRODUCTION), soft_wrap=True)
    await check_reachable(settings)
    with tempfile.TemporaryDirectory(prefix="antiphon-demo-") as folder:
        async with (
            open_engine(settings, on_preparing) as engine,
            open_application(
                engine,
                settings,
                [in_process(community)],
                chosen,
                drafts,
                database_path=Path(folder) / "demo.db",
                undo_seconds=0,
                attempts=1,
            ) as application,
            connected(application, Connection(community)),
        ):
            await admit(application.database, community.name, community.community, MODERATOR)
            for message, decide in zip(SAMPLE_FLAGS, (approve_best, decline, edit_and_approve), strict=True):
                drafts.next_post()
                were_drafted.append(await review(console, application, community, message, decide))
        await community.close()
    show_thread(console, community.thread())
    return any(were_drafted)


async def review(
    console: Console, application: Application, community: SampleCommunity, message: str, decide: Decision
) -> bool:
    """One flagged post: drafted by the worker, shown, decided on, and posted if it was approved.

    Returns:
        Whether there was a draft to decide on.

    Raises:
        Unavailable: the engine could not work on the post.
    """
    post = community.flag(message, by="demo volunteer")
    console.print(Rule(Text(f"Flagged: message {message} by {post.author}")))
    console.print(Text(post.text, style="italic"))
    card = await application.desk.intake.take_flag(post)
    await application.worker.step()
    case = await application.desk.queries.case(card.case_id)
    stored = await application.desk.queries.suggestion(case.id)
    reason = (await application.desk.queries.history(case.id))[-1].reason
    if stored is None:
        raise Unavailable(reason)
    reviews = await application.desk.queries.reviews(case.community_id, stored.suggestion.drafts)
    show_suggestion(console, stored.suggestion, reviews)
    if not stored.suggestion.has_answer:
        await leave(console, application, case)
        return False
    await decide(console, application, case)
    if await application.outbox.send_due():
        card = await application.casework.look(case.id, MODERATOR)
        console.print(Text(headline(card, reader_for("en", no_address)), style="bold"))
    return True


async def approve_best(console: Console, application: Application, case: Case) -> None:
    await _approve(application, case)
    console.print(Text(f"The {MODERATOR.name} approves draft 1 as it stands.", style="bold"))


async def leave(console: Console, application: Application, case: Case) -> None:
    """Leave a post without a reply for which there is no draft."""
    await application.desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.SILENCE)
    text = f"The {MODERATOR.name} leaves the post without a reply. A person could write their own."
    console.print(Text(text, style="bold"), soft_wrap=True)


async def decline(console: Console, application: Application, case: Case) -> None:
    await application.desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.OFF_TONE)
    console.print(Text(f"The {MODERATOR.name} declines: off tone. Nothing is posted.", style="bold"))


async def edit_and_approve(console: Console, application: Application, case: Case) -> None:
    """Add a sentence to the first draft and approve the whole text."""
    edited = await _approve(application, case, SIGNATURE)
    console.print(Text(f"The {MODERATOR.name} edits draft 1 and approves exactly this: {edited}", style="bold"))


async def _approve(application: Application, case: Case, added: str = "") -> str:
    """Approve the first draft and what is added to it; returns both."""
    shown = await application.casework.propose(case.id, case.version, MODERATOR, rank=1)
    if added:
        edited = f"{shown.reply} {added}"
        shown = await application.casework.propose(case.id, case.version, MODERATOR, rank=1, text=edited)
    await application.casework.approve(shown.id, MODERATOR)
    return shown.reply
