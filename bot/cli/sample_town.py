"""``antiphon run``: the sample community, and the dashboard at which the person who started it decides.

A post that was pasted stands in the sample community as if a member had written it, and is there again in the next run
while it waits for a decision.
"""

import asyncio
import getpass
import os
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import uuid4

from rich.console import Console
from rich.text import Text

from adapters.sample import SAMPLE_FLAGS, SAMPLE_THREAD, SampleCommunity, SamplePost
from bot.cli.doctor.checks import DoctorSetupChecks
from bot.cli.render import show_thread
from bot.compose.application import Application, admit, open_application
from bot.compose.engine import OnPreparing, open_engine
from bot.compose.models import check_reachable
from bot.compose.operations import ending_at_once, ending_in_order
from bot.compose.web import dashboard
from bot.serve.platforms import in_process
from bot.serve.supervision import serve
from bot.settings import Settings
from core.desk.communities.accounts import WebAccounts
from core.desk.review.casework import Casework
from core.desk.rules.input_checks import check_text
from core.desk.rules.roles import Person
from core.engine.reading.signals import check_text as check_post
from core.errors import AntiphonError
from core.models import Priority

_OWN: Final = "own-"
_PASTED_BY: Final = "pasted by you"
_SECOND: Final = Person("sample", "second person", "second person")


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
                    checks = DoctorSetupChecks(settings, running.database).look
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
