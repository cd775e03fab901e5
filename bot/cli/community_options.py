"""What all commands about a community share: which one, who acts, and the work on the configured database.

A person who can start these commands can read the database anyway: they act as its operator, by their account's name.
"""

from __future__ import annotations

import getpass
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.output import run
from bot.compose.application import open_database
from bot.settings import Settings
from core.desk.communities.decisions import CommunityDesk
from core.desk.rules.roles import Operator

CommunityName = Annotated[
    str, typer.Argument(metavar="COMMUNITY", help="As PLATFORM/NAME; `antiphon community list` shows them.")
]
Reason = Annotated[str, typer.Option("--reason", metavar="WORDS", help="Why, in a few words; it is recorded.")]


def operator() -> Operator:
    """Who sits at the terminal, by their account."""
    return Operator(getpass.getuser())


def do(config: Path | None, work: Callable[[CommunityDesk], Awaitable[None]]) -> None:
    """Do a command's work on the configured database."""

    async def begin(settings: Settings) -> int:
        async with open_database(settings) as database:
            await work(CommunityDesk(database))
        return 0

    run(config, begin)


def switch(is_on: bool) -> str:
    return "on" if is_on else "off"
