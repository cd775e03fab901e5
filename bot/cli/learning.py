"""``antiphon community learning`` and ``lessons``: what a writer may learn from a community's decisions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, counted, out
from bot.cli.desk import Place, do, operator, switch
from bot.cli.kb.output import run
from bot.communities.decisions import CommunityDesk
from bot.communities.export import replacing
from bot.communities.lessons import lessons
from bot.compose.application import open_database
from bot.compose.settings.settings import Settings


def learning(
    place: Place,
    is_on: Annotated[bool | None, typer.Option("--on/--off", help="Whether its managers allow it.")] = None,
    config: ConfigOption = None,
) -> None:
    """Allow that a writer is trained on what this community approved, or forbid it; or show what is set."""

    async def work(desk: CommunityDesk) -> None:
        chosen = {} if is_on is None else {"learns": is_on}
        policy = await desk.configure(place, lambda _: chosen, operator())
        out().print(Text(f"{place}: learning {switch(policy.learns)}."), soft_wrap=True)

    do(config, work)


def write_lessons(
    place: Place,
    file: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write, as JSON lines.")],
    config: ConfigOption = None,
) -> None:
    """Write what a writer can learn from: posts, the drafts that were shown, and the replies that were approved."""

    async def work(settings: Settings) -> int:
        async with open_database(settings) as database:
            rows = [row async for row in lessons(database, place)]
        with replacing(file) as made:
            made.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        out().print(Text(f"{counted(len(rows), 'approval')} in {file}."), soft_wrap=True)
        return 0

    run(config, work)
