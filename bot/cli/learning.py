"""``antiphon community learning|lessons|writer``: what a writer learns from a community, and whether it writes there.

Owns these commands, and that a writer writes in a community only where decisions of that community, which it did not
learn, prefer it to the writer before.
"""

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
from core.errors import BadInput
from core.llm.backends.trained import describe


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


def writer(
    place: Place,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The adapter that `antiphon train export` wrote.")
    ] = None,
    is_off: Annotated[bool, typer.Option("--off", help="Take it back.")] = False,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="How a server calls it; as its card does.")] = "",
    config: ConfigOption = None,
) -> None:
    """Let a writer that was trained on this community's decisions write here, or take it back; or show what is set.

    It must have been preferred by decisions of this community that it did not learn.
    """

    async def work(desk: CommunityDesk) -> None:
        if is_off and file is not None:
            raise BadInput("It is not clear what to set.", remedy="Name a file, or say --off.")
        chosen = {"writer": ""} if is_off else {} if file is None else {"writer": name or proven(file, place)}
        policy = await desk.configure(place, lambda _: chosen, operator())
        out().print(Text(f"{place}: {policy.writer or 'the writer of the installation'} writes."), soft_wrap=True)

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


def proven(file: Path, place: str) -> str:
    """The name of the writer in a file, if decisions of the community that it did not learn prefer it.

    Raises:
        BadInput: they do not, or nobody asked them, or they are another community's.
        ModelUnavailable: the file has no card.
    """
    found = describe(file)
    if found.held_out is None:
        raise BadInput(
            f"Nobody knows whether {place} prefers this writer.",
            remedy="Train it with --held-out, which names the decisions that were kept back, and export it again.",
        )
    if found.held_out.community != place:
        raise BadInput(
            f"This writer was trained on decisions of {found.held_out.community}.",
            remedy=f"Train one on those of {place}.",
        )
    if not found.held_out.is_preferred:
        one = found.held_out
        raise BadInput(
            f"The decisions of {place} that were kept back do not prefer this writer: {one.better} of {one.pairs} do, "
            f"and chance alone gives as many {one.chance:.0%} of the time.",
            remedy="Keep the writer that writes now; train again once more decisions were made.",
        )
    return found.name
