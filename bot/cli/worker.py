"""``antiphon worker``: a process that only drafts, for the database in which others flag, review and post.

It starts a model server first where it is told to. Any number of workers may run, on any machine that reaches the
database; where the database is a SQLite file, on the machine that has the file.
"""

import asyncio
from contextlib import AsyncExitStack
from typing import Annotated

import typer

from bot.cli.command import ConfigOption, ProfileOption, run_to_exit, say
from bot.cli.output import PreparationBar
from bot.compose.application import open_workers
from bot.compose.operations import ending_at_once, ending_in_order, operated
from bot.compose.vllm import open_server
from bot.serve.status import Status
from bot.settings import Settings, load_settings
from core.desk.drafting.worker import work

app = typer.Typer()


@app.command()
def worker(
    slots: Annotated[
        int | None,
        typer.Option(
            "--slots",
            metavar="NUMBER",
            min=1,
            max=64,
            help="How many cases to draft at once; if not given, drafts_at_once of config.toml.",
        ),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Start the model server of the section vllm in config.toml, keep it up, and stop it at the end.",
        ),
    ] = False,
    profile: ProfileOption = "",
    config: ConfigOption = None,
) -> None:
    """Draft replies for the cases of the configured database, until Ctrl-C or SIGTERM."""

    async def begin() -> None:
        settings = load_settings(config)
        async with operated(settings) as status:
            settings.profile_named(profile)  # a wrong name must show before the model is loaded
            await _draft(settings, profile, slots or settings.desk.drafts_at_once, status, serves=serve)

    run_to_exit(begin)


async def _draft(settings: Settings, profile: str, slots: int, status: Status, *, serves: bool) -> None:
    """Draft until a signal comes. A second one, or one before the work began, ends at once, as Ctrl-C always does.

    A model server is started before the workers and stopped after them; their cases wait while it is away.
    """
    stop, drain_seconds = asyncio.Event(), settings.desk.drain_seconds

    def say_end() -> None:
        status.stop()
        say(f"Stopping: what is being drafted has {drain_seconds:g} seconds. Once more to stop at once.")

    with ending_at_once():
        async with AsyncExitStack() as stack:
            if serves:
                settings = await stack.enter_async_context(open_server(settings, say))
            opening = open_workers(settings, profile, slots, status, PreparationBar())
            workers = await stack.enter_async_context(opening)
            with ending_in_order(stop, say_end):
                say(f"Drafting {len(workers)} at once. Ctrl-C stops.")
                await work(workers, stop, drain_seconds)
    say("Stopped. What was not finished is in the queue again.")
