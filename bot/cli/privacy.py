"""``antiphon erase``, ``antiphon export`` and ``antiphon schedule``: what is kept of people, and for how long.

A person who runs these commands has the database and its secret, and so needs no role.
"""

import asyncio
import difflib
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import command
from bot.cli.output import run
from bot.compose.application import open_database, worker_name
from bot.compose.desk import all_chores
from bot.compose.platforms import KINDS
from bot.settings import Settings
from core.desk.communities.export import Format, write_export
from core.desk.communities.export import export as rows_of
from core.desk.schema import JobState
from core.desk.store.communities import Community, all_communities
from core.desk.upkeep.chores import Chores
from core.desk.upkeep.erasure import Erasure, ErasureReport
from core.desk.upkeep.schedule import Schedule
from core.errors import BadInput

app = typer.Typer()
schedule = typer.Typer(help="Chores that are done from time to time.", no_args_is_help=True)
app.add_typer(schedule, name="schedule")


@app.command()
def erase(
    user: Annotated[
        str, typer.Argument(metavar="PERSON", help="Their id on the platform; - reads it from standard input.")
    ],
    platform: Annotated[str, typer.Option("--platform", metavar="NAME", help="Where they are, such as discord.")],
    is_sure: Annotated[bool, typer.Option("--yes", help="Do not ask whether you are sure.")] = False,
    as_json: command.JsonOption = False,
    config: command.ConfigOption = None,
) -> None:
    """Erase a person: what they wrote or typed, their roles, and what ties them to their pseudonym.

    Exit code 1: nobody is known by this id there.
    """

    async def work(settings: Settings) -> int:
        if user == "-" and not is_sure:
            raise BadInput("Nobody can be asked while the id comes from standard input.", remedy="Add --yes.")
        wanted = command.given(user).strip()
        if not wanted:
            raise BadInput("Nobody is named.", remedy="Pass the person's id on the platform.")
        async with open_database(settings) as database:
            is_known = await Erasure(database).knows(platform, wanted)
            if not is_known:
                _check_platform(platform, await database.run("list the communities", all_communities))
        if is_known and not is_sure:
            await asyncio.to_thread(typer.confirm, "This cannot be undone. Erase this person?", abort=True, err=True)
        erased = ErasureReport(is_known=False)
        if is_known:
            async with open_database(settings) as database:
                erased = await Erasure(database).erase(platform, wanted)
        if as_json:
            command.print_document(asdict(erased))
        else:
            command.tell(_outcome(erased, settings))
        return 0 if erased.is_known else command.EXIT_NO_DRAFT

    run(config, work)


def _check_platform(platform: str, served: Collection[Community]) -> None:
    """Refuse the name of a platform on which nobody can be."""
    names = sorted({*(community.platform for community in served), *(kind.name.casefold() for kind in KINDS)})
    if platform not in names:
        near = difflib.get_close_matches(platform.casefold(), names, n=1)
        raise BadInput(
            f"There is no platform {platform!r}; nothing was erased.",
            remedy=f"Did you mean {near[0]!r}?" if near else f"Name one of: {', '.join(names)}.",
        )


def _outcome(erased: ErasureReport, settings: Settings) -> str:
    if not erased.is_known:
        return "Antiphon knows nobody with this id on this platform; nothing was erased. Check the id and the platform."
    kept = command.counted(settings.desk.backup_days, "day")
    waits, are = ("waits", "is") if erased.waiting == 1 else ("wait", "are")
    waiting = f" {erased.waiting} {waits} for a send to be settled, and {are} erased then." if erased.waiting else ""
    return (
        f"Erased: the words of {command.counted(erased.cases, 'post')} ({erased.closed} still open, now withdrawn), "
        f"{command.counted(erased.turns, 'message')} around other posts, {command.counted(erased.notes, 'note')}, "
        f"{command.counted(erased.memberships, 'role')}, and the key to the pseudonym.{waiting} Replies that were "
        f"posted stand on the platform until a moderator retracts them. Backups hold the person for {kept} more; after "
        "restoring one, erase again, and delete the database that the restore kept aside, which no erasure reaches."
    )


@app.command()
def export(
    community: Annotated[
        str, typer.Option("--community", metavar="COMMUNITY", help="As PLATFORM/NAME, such as discord/1234.")
    ],
    file: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")],
    how: Annotated[Format, typer.Option("--format", metavar="FORMAT", help="csv or jsonl.")] = Format.CSV,
    config: command.ConfigOption = None,
) -> None:
    """Write the cases of a community to a file. People are pseudonyms in it."""

    async def work(settings: Settings) -> None:
        async with open_database(settings) as database:
            count = await write_export(rows_of(database, community), file, how)
        command.tell(f"{command.counted(count, 'case')} in {file}.")

    run(config, work)


@schedule.command("run-once")
def run_once(as_json: command.JsonOption = False, config: command.ConfigOption = None) -> None:
    """Do what is due and needs no platform: expiry, retention, erasures, the audit digest. It makes no backup."""

    async def work(settings: Settings) -> int:
        async with open_database(settings) as database:
            owner = worker_name()
            chores = all_chores(database, settings)
            await Schedule(database, chores, owner).once()
            ran = await Chores(database, chores, owner).drain()
        if as_json:
            command.print_document({"chores": [asdict(done) for done in ran]})
        else:
            for done in ran:
                command.tell(done.said)
            if not ran:
                command.tell("Nothing is due.")
        return 0 if all(done.state is JobState.DONE for done in ran) else command.EXIT_UNAVAILABLE

    run(config, work)
