"""``antiphon run``: the sample community and the application around one person at a terminal.

Owns how the parts are put together for it. ``bot.cli.terminal.sitting`` holds the conversation.
"""

from __future__ import annotations

import getpass
import sys
from functools import partial

from rich.console import Console
from rich.text import Text

from adapters.sample.community import SampleCommunity
from bot.cli.terminal.keyboard import TypedKeyboard, line_editor
from bot.cli.terminal.render import DraftsAsTheyCome, show_thread
from bot.cli.terminal.sitting import Room, Sitting
from bot.compose.application import Application, admit, open_application
from bot.compose.asking import check_reachable
from bot.compose.engine import OnPreparing, open_engine
from bot.compose.settings.settings import Settings
from bot.serving.platforms import Connection, in_process
from bot.serving.running import connected
from core.moderation.roles import Person


async def review_in_terminal(
    console: Console, settings: Settings, profile: str, on_preparing: OnPreparing | None = None
) -> None:
    """Let the person at the keyboard look at the sample posts and at posts of their own, and decide about each.

    Without a keyboard (standard input is not a terminal) drafts for the sample posts are made and wait in review. Cases
    live in the configured database: what was decided in an earlier run is not asked again.
    """
    chosen = settings.profile_named(profile)  # a wrong name is told before anything is shown or loaded
    community, drafts = SampleCommunity(), DraftsAsTheyCome(console)
    console.print(Text("This is a sample community inside this process: what is posted here is seen by nobody else."))
    await check_reachable(settings)
    async with (
        open_engine(settings, on_preparing) as engine,
        open_application(engine, settings, [in_process(community)], chosen, drafts) as application,
        connected(application, Connection(community)),
    ):
        person = operator()
        room = _room(application, community)
        await room.admit(person)
        sitting = Sitting(console, room, person, drafts)
        if sys.stdin.isatty():
            keyboard = TypedKeyboard(console, line_editor())
            with keyboard.opened():
                await sitting.ask(keyboard)
        else:
            await sitting.show_all()
        await community.close()
    show_thread(console, community.thread())


def operator() -> Person:
    """Who sits at the keyboard, as the system knows them."""
    user = getpass.getuser()
    return Person("sample", user, user)


def _room(application: Application, community: SampleCommunity) -> Room:
    return Room(
        community,
        application.casework,
        application.desk.queries,
        application.worker,
        application.outbox,
        partial(admit, application.database, community.name, community.community),
    )
