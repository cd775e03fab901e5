"""``antiphon worker``: a process that only drafts, for the database in which others flag, review and post.

It starts a model server first where it is told to. Any number of workers may run, on any machine that reaches the
database; where the database is a SQLite file, on the machine that has the file.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, ProfileOption, err, run_to_exit
from bot.cli.output import PreparationBar
from bot.compose.application import open_workers
from bot.compose.operations import ending_at_once, ending_in_order, operated
from bot.compose.vllm import open_server
from bot.serve.status import Status
from bot.settings import Settings, load_settings
from core.desk.drafting.worker import work

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class Drafters:
    """What drafts: how many cases at once, and how it runs until the event is set."""

    count: int
    run: Callable[[asyncio.Event], Awaitable[None]]


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

    async def begin() -> int:
        settings = load_settings(config)
        async with operated(settings) as status:
            settings.profile_named(profile)  # a wrong name must show before the model is loaded
            opening = _open_serving if serve else _open
            await _draft(settings, opening(settings, profile, slots or settings.desk.drafts_at_once, status), status)
        return 0

    run_to_exit(begin)


@asynccontextmanager
async def _open(settings: Settings, profile: str, slots: int, status: Status) -> AsyncIterator[Drafters]:
    """Workers over the model of the settings."""
    async with open_workers(settings, profile, slots, status, PreparationBar()) as workers:
        yield Drafters(len(workers), partial(work, workers, drain_seconds=settings.desk.drain_seconds))


@asynccontextmanager
async def _open_serving(settings: Settings, profile: str, slots: int, status: Status) -> AsyncIterator[Drafters]:
    """Workers over a model server that is started before and stopped after them; their cases wait while it is away."""
    async with open_server(settings, _say) as asking, _open(asking, profile, slots, status) as drafters:
        yield drafters


async def _draft(settings: Settings, opening: AbstractAsyncContextManager[Drafters], status: Status) -> None:
    """Draft until a signal comes. A second one, or one before the work began, ends at once, as Ctrl-C always does."""
    stop = asyncio.Event()

    def say_end() -> None:
        status.stop()
        seconds = settings.desk.drain_seconds
        _say(f"Stopping: what is being drafted has {seconds:g} seconds. Once more to stop at once.")

    with ending_at_once():
        async with opening as drafters:
            with ending_in_order(stop, say_end):
                _say(f"Drafting {drafters.count} at once. Ctrl-C stops.")
                await drafters.run(stop)
    _say("Stopped. What was not finished is in the queue again.")


def _say(what: str) -> None:
    err().print(Text(what), soft_wrap=True)
