"""``antiphon demo`` and ``antiphon run``: the sample community, where a script decides, or a person at the dashboard.

The demo shows three flagged posts, from flag to reply, and asks nothing. Its script approves, declines, and edits and
approves. It uses a database of its own that is thrown away, and the same parts as ``antiphon run``.

A post that was pasted in a run stands in the sample community as if a member had written it, and is there again in the
next run while it waits for a decision.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
import tempfile
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from uuid import uuid4

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from adapters.common.cards.states import headline
from adapters.common.words.markup import no_address
from adapters.sample import SAMPLE_FLAGS, SAMPLE_THREAD, SampleCommunity, SamplePost
from adapters.web.speech import reader_for
from bot.cli.doctor.checks import DoctorSetupChecks
from bot.cli.render import DraftsAsTheyCome, show_suggestion, show_thread
from bot.compose.application import Application, admit, open_application
from bot.compose.engine import OnPreparing, open_engine
from bot.compose.operations import ending_at_once, ending_in_order
from bot.compose.models import check_reachable
from bot.compose.web import dashboard
from bot.serve.platforms import Connection, in_process
from bot.serve.supervision import connected, serve
from bot.settings import Settings
from core.desk.communities.accounts import WebAccounts
from core.desk.rules.closures import CloseReason
from core.desk.rules.desk_ports import Casework
from core.desk.rules.input_checks import check_text
from core.desk.rules.roles import Person
from core.desk.store.cases import Case
from core.engine.reading.signals import check_text as check_post
from core.errors import AntiphonError, Unavailable
from core.models import Priority

MODERATOR = Person("sample", "demo script", "demo script")
INTRODUCTION = (
    "This demo shows three invented posts of a sample community, from flag to reply. The moderator here is a script: "
    "it edits a draft and approves it, whatever it says, and leaves a post without a reply where Antiphon has no draft "
    "that it is sure of. In earnest a person decides about each. "
    "Nothing is posted outside of this process. To decide yourself, or to paste a post of your own: antiphon run"
)
SIGNATURE = "If you want to talk about it, write to the moderators."

Decision = Callable[[Console, Application, Case], Awaitable[None]]
_OWN: Final = "own-"
_PASTED_BY: Final = "pasted by you"
_SECOND: Final = Person("sample", "second person", "second person")


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
    """Approve the first draft as it is."""
    await _approve(application, case)
    console.print(Text(f"The {MODERATOR.name} approves draft 1 as it stands.", style="bold"))


async def leave(console: Console, application: Application, case: Case) -> None:
    """Leave a post without a reply for which there is no draft."""
    await application.desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.SILENCE)
    text = f"The {MODERATOR.name} leaves the post without a reply. A person could write their own."
    console.print(Text(text, style="bold"), soft_wrap=True)


async def decline(console: Console, application: Application, case: Case) -> None:
    """Decline with a reason; nothing is posted."""
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


class SampleTown:
    """The sample community, whose posts are flagged, and to which a person adds posts of their own."""

    def __init__(self, community: SampleCommunity, casework: Casework, flags: Sequence[str] = SAMPLE_FLAGS) -> None:
        self._community, self._casework, self._flags = community, casework, flags

    async def play(self, person: Person) -> None:
        """Flag the sample posts, and put the person's own ones of an earlier run that still wait back."""
        page, pages = 0, 1
        while page < pages:
            listing = await self._casework.open_cases(self._community.name, self._community.community, person, page)
            for row in listing.cases:
                post = (await self._casework.card(row.case_id, person)).post
                if post.ref.message.startswith(_OWN) and post.text:
                    self._community.add(_PASTED_BY, post.text, message_id=post.ref.message)
            page, pages = page + 1, listing.pages
        for message in self._flags:
            await self._casework.intake.take_flag(self._community.flag(message, by="sample volunteer"))

    async def paste(self, text: str, by: Person) -> str:
        """Let somebody's own post stand there, and flag it; the id of its case.

        Raises:
            BadInput: it has no words, or too many.
        """
        check_text(text)
        check_post(text)
        message = self._community.add(_PASTED_BY, text, message_id=f"{_OWN}{uuid4().hex[:8]}").id
        # A person who pastes a post wants drafts for it; the sample thread is not what was said before it.
        post = replace(self._community.flag(message, by=by.user), priority=Priority.ASKED, thread=())
        try:
            return (await self._casework.intake.take_flag(post)).case_id
        except AntiphonError:
            self._community.delete(message)
            raise


async def review_on_page(
    console: Console,
    settings: Settings,
    profile: str,
    on_preparing: OnPreparing | None = None,
    posts: Sequence[SamplePost] = SAMPLE_THREAD,
    flags: Sequence[str] = SAMPLE_FLAGS,
) -> None:
    """Serve the sample community and its dashboard until Ctrl-C; what is not decided waits for the next run.

    Args:
        posts: what stands in the community at the beginning.
        flags: the ids of those that are flagged at once.
    """
    chosen = settings.profile_named(profile)  # a wrong name is told before anything is shown or loaded
    community, stop = SampleCommunity(posts), asyncio.Event()
    await check_reachable(settings)
    with ending_at_once():
        async with open_engine(settings, on_preparing) as engine:
            served = [in_process(community)]
            async with open_application(engine, settings, served, chosen) as running:
                town = SampleTown(community, running.casework, flags)
                with ending_in_order(stop, lambda: console.print(Text("Stopping. What is not decided waits."))):
                    checks = DoctorSetupChecks(settings, running.database)
                    async with dashboard(settings, running, checks, town.paste) as (address, accounts):
                        serving = asyncio.create_task(serve(running, stop, settings.desk.drain_seconds))
                        try:
                            await _begin(console, running, community, town, address, accounts)
                        except AntiphonError:
                            if not stop.is_set():  # once it stops, the community is closed while it is being filled
                                stop.set()
                                raise
                        except BaseException:
                            stop.set()
                            raise
                        finally:
                            await serving
        show_thread(console, community.thread())


async def _begin(
    console: Console,
    running: Application,
    community: SampleCommunity,
    town: SampleTown,
    address: str,
    accounts: WebAccounts,
) -> None:
    """Let two people in, flag the sample posts, and say where to look."""
    first = Person(community.name, getpass.getuser(), getpass.getuser())
    links = []
    for name, person in ((first.user, first), (_SECOND.user, _SECOND)):
        await admit(running.database, community.name, community.community, person)
        await accounts.keep(name, "", (person,))
        links.append(f"{address}/link/{await accounts.link(name)}")
    await town.play(first)
    text = "This is a sample community inside this process: what is posted here is seen by nobody else."
    console.print(Text(text), soft_wrap=True)
    console.print(Text(f"Open this link, which logs you in once, within ten minutes: {links[0]}"), soft_wrap=True)
    why = "Where two persons must approve, be the second one with this link, in a private window:"
    console.print(Text(f"{why} {links[1]}"), soft_wrap=True)
    console.print(Text("Ctrl-C stops."))
    if sys.stdout.isatty() and (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"
    ):
        await asyncio.to_thread(webbrowser.open, links[0])
