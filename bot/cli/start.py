"""``antiphon demo``, ``run`` and ``doctor``: a look at what Antiphon does, and at whether it can."""

import sys
from collections.abc import AsyncIterator
from typing import Annotated

import typer

from bot.cli import command
from bot.cli.output import PreparationBar
from bot.settings import Settings, load_settings

app = typer.Typer()


@app.command()
def demo(profile: command.ProfileOption = "", config: command.ConfigOption = None) -> None:
    """Show three posts of a sample community, from flag to reply. It asks nothing and ends by itself."""
    from bot.cli.demo import demo as show  # the demo's parts are not needed by other commands

    async def work() -> int:
        was_drafted = await show(command.out(), load_settings(config), profile, PreparationBar())
        return 0 if was_drafted else command.EXIT_NO_DRAFT

    command.run_to_exit(work)


@app.command()
def run(profile: command.ProfileOption = "", config: command.ConfigOption = None) -> None:
    """Decide about posts on a page of this machine: a sample community's, or your own. No chat platform is served."""
    from bot.cli.sample_town import review_on_page

    async def work() -> None:
        await review_on_page(command.out(), load_settings(config), profile, PreparationBar())

    command.run_to_exit(work)


@app.command()
def doctor(
    audit: Annotated[
        bool, typer.Option("--audit", help="Check instead whether the database keeps the promises about its cases.")
    ] = False,
    as_json: command.JsonOption = False,
    config: command.ConfigOption = None,
) -> None:
    """Check whether everything is there, and say what to do where it is not.

    It loads the models as a draft does, also beside a running `serve`: with the embedded one, 3 GB more for that time.

    It asks each platform that has a token whether the account may do what it needs to.

    --audit reads the database alone.
    """
    from bot.cli.doctor.checks import as_document, examine
    from core.desk.runtime.findings import Finding

    async def audited(settings: Settings) -> AsyncIterator[Finding]:
        from bot.compose.application import open_database
        from core.desk.invariants.checks import audit as ask_all

        async with open_database(settings) as database:
            for finding in await ask_all(database):
                yield finding

    async def work() -> int:
        settings, bar, checks = load_settings(config), PreparationBar(), list[Finding]()
        try:
            async for check in audited(settings) if audit else examine(settings, bar):
                bar.close()
                checks.append(check)
                if not as_json:
                    line = f"{'ok ' if check.ok else 'BAD'} {check.name}: {check.detail} {check.remedy}"
                    command.tell(line.rstrip())
                    sys.stdout.flush()
        finally:
            bar.close()
        if as_json:
            command.print_document(as_document(checks))
        return 0 if all(check.ok for check in checks) else command.EXIT_UNAVAILABLE

    command.run_to_exit(work)
