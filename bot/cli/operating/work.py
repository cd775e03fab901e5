"""``antiphon worker``: a process that only drafts, for the database in which others flag, review and post.

Owns how such a process begins and ends. Any number of them may run, on any machine that reaches the database; where it
is a SQLite file, on the machine that has the file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Annotated

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, ProfileOption, err, run_to_exit
from bot.cli.drafting.preparing import PreparationBar
from bot.compose.application import open_workers
from bot.compose.settings import Settings, load_settings
from bot.compose.stopping import ending_at_once, ending_in_order
from bot.drafting.worker import Worker, work

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
    profile: ProfileOption = "",
    config: ConfigOption = None,
) -> None:
    """Draft replies for the cases of the configured database, until Ctrl-C or SIGTERM."""

    async def begin() -> int:
        settings = load_settings(config)
        settings.profile_named(profile)  # a wrong name must show before the model is loaded
        await _draft(settings, open_workers(settings, profile, slots or settings.desk.drafts_at_once, PreparationBar()))
        return 0

    run_to_exit(begin)


async def _draft(settings: Settings, opening: AbstractAsyncContextManager[Sequence[Worker]]) -> None:
    """Draft until a signal comes. A second one, or one before the work began, ends at once, as Ctrl-C always does."""
    stop = asyncio.Event()

    def say_end() -> None:
        seconds = settings.desk.drain_seconds
        err().print(Text(f"Stopping: what is being drafted has {seconds:g} seconds. Once more to stop at once."))

    with ending_at_once():
        async with opening as workers:
            with ending_in_order(stop, say_end):
                err().print(Text(f"Drafting {len(workers)} at once. Ctrl-C stops."))
                await work(workers, stop, settings.desk.drain_seconds)
    err().print(Text("Stopped. What was not finished is in the queue again."))
