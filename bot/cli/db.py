"""``antiphon db``: what an operator does with the database."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text
from sqlalchemy import URL

from bot.cli.command import EXIT_UNAVAILABLE, ConfigOption, JsonOption, print_document, tell
from bot.cli.output import run
from bot.compose.application import open_database
from bot.compose.engine import make_folder
from bot.settings import Settings
from core.desk.database.connection import check_there, connected, missing, translating
from core.desk.database.revisions import is_known, may_use, newest, revision_of, unknown_revision, upgrade
from core.desk.upkeep import backups

app = typer.Typer(help="The database with all cases.", no_args_is_help=True)

FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--folder", metavar="FOLDER", help="Where backups are kept; if not given, backup_folder of config.toml."
    ),
]


@app.command("upgrade")
def upgrade_command(config: ConfigOption = None, folder: FolderOption = None) -> None:
    """Bring the database to this version's tables. SQLite is backed up first; of PostgreSQL make a backup before."""

    async def work(settings: Settings) -> None:
        place = settings.database_place
        before = await _revision(place)
        if before is None:
            await _make(settings, place)
            return
        if may_use(before, newest()):
            tell(f"The database is at revision {before} already.")
            return
        if not is_known(before):
            raise unknown_revision(before)
        if isinstance(place, Path):
            kept = await backups.backup(place, _folder(settings, folder))
            tell(f"Kept a backup of revision {before}: {kept}. It still holds names: delete it in time.")
        else:
            line = backups.dump_command(place, f"antiphon-{before}")
            text = f"No backup was made: this is a PostgreSQL database, at revision {before}. To keep one before"
            tell(f"{text} an upgrade, run: antiphon db backup; or: {line}")
        engine = connected(place)
        try:
            with translating():
                await upgrade(engine)
        finally:
            await engine.dispose()
        tell(f"The database is at revision {newest()} now.")

    run(config, work)


@app.command("backup")
def backup_command(config: ConfigOption = None, folder: FolderOption = None) -> None:
    """Copy the database, also while Antiphon runs. The installation's secret is not in it: keep that apart."""

    async def work(settings: Settings) -> None:
        place = settings.database_place
        if await _revision(place) is None:
            raise missing(place)
        kept = await backups.backup(place, _folder(settings, folder))
        tell(str(kept))

    run(config, work)


@app.command("restore")
def restore_command(
    file: Annotated[Path, typer.Argument(metavar="BACKUP", help="The file with it.")],
    force: Annotated[
        bool, typer.Option("--force", help="If there is a database, keep it aside. Stop Antiphon first.")
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Put a backup in the place of the database. It holds people who were erased since: erase them again."""

    async def work(settings: Settings) -> None:
        kept = await backups.restore(file, settings.database_place, force=force)
        if kept is not None:
            tell(f"The database that was there is kept: {kept}.")
        at_revision = await _revision(settings.database_place)
        more = "" if may_use(at_revision, newest()) else " Run: antiphon db upgrade."
        tell(f"Restored, at revision {at_revision}.{more}")

    run(config, work)


@app.command("check")
def check_command(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Check that the database is whole, of this version, and durable."""

    async def work(settings: Settings) -> int:
        check_there(settings.database_place)
        findings = await backups.check(settings.database_place)
        if as_json:
            print_document([asdict(finding) for finding in findings])
        else:
            for finding in findings:
                mark = Text("ok    ", "green") if finding.ok else Text("wrong ", "bold red")
                tell(mark + Text(f"{finding.name}: {finding.detail} {finding.remedy}".strip()))
        return 0 if all(finding.ok for finding in findings) else EXIT_UNAVAILABLE

    run(config, work)


async def _make(settings: Settings, place: Path | URL) -> None:
    """Make the database, and the installation's secret with it."""
    async with open_database(settings, creates=True):
        where = f" in {place}" if isinstance(place, Path) else ""
        tell(f"The database is new{where}, at revision {newest()}.")


def _folder(settings: Settings, named: Path | None) -> Path:
    folder = named or settings.backup_folder
    make_folder(folder, "desk.backup_folder")
    return folder


async def _revision(place: Path | URL) -> str | None:
    if _is_missing(place):
        return None
    engine = connected(place)
    try:
        with translating():
            return await revision_of(engine)
    finally:
        await engine.dispose()


def _is_missing(place: Path | URL) -> bool:
    return isinstance(place, Path) and not place.exists()
