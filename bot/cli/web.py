"""``antiphon web``: who gets into the dashboard.

An account says who somebody is on the chat platforms; what they may do there is decided as everywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, given, out
from bot.cli.kb.output import run
from bot.communities.accounts import WebAccounts
from bot.compose.application import open_database
from bot.compose.settings.settings import Settings
from bot.compose.web import origins_of
from core.errors import BadInput
from core.moderation.roles import Person

web = typer.Typer(help="The dashboard: accounts, and links that log in once.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]
People = Annotated[
    list[str],
    typer.Argument(
        metavar="PLATFORM/ID", help="Who it is on a platform, by the platform's own id; one for each platform."
    ),
]


@web.command()
def account(
    name: Name,
    people: People,
    no_password: Annotated[bool, typer.Option("--no-password", help="Only links log this account in.")] = False,
    config: ConfigOption = None,
) -> None:
    """Make an account, or give one another password and other people. Where it is logged in, it is logged out.

    The password is asked for, or read from standard input if that is no terminal.
    """
    who = tuple(_person(said) for said in people)
    password = "" if no_password else _password()

    async def work(accounts: WebAccounts, _: Settings) -> None:
        await accounts.keep(name, password, who)
        named = ", ".join(f"{person.platform}/{person.user}" for person in who)
        out().print(Text(f"{name} is {named} on the dashboard. What they may do is what their roles there allow."))

    _do(config, work)


@web.command()
def link(name: Name, config: ConfigOption = None) -> None:
    """Print a link that logs an account in once, within ten minutes."""

    async def work(accounts: WebAccounts, settings: Settings) -> None:
        if not settings.web.port:
            raise BadInput(
                "The dashboard is off: web.port is 0.",
                remedy="Set web.port in config.toml, and start antiphon serve again.",
            )
        secret = await accounts.link(name)
        address = origins_of(settings.web, settings.web.port)[0]
        out().print(Text(f"{address}/link/{secret}"), soft_wrap=True)

    _do(config, work)


@web.command(name="list")
def list_(config: ConfigOption = None) -> None:
    """List the accounts, and who they are."""

    async def work(accounts: WebAccounts, _: Settings) -> None:
        found = await accounts.listed()
        for one in found:
            named = ", ".join(f"{person.platform}/{person.user}" for person in one.people)
            how = "by password or link" if one.password else "by link"
            out().print(Text(f"{one.name}  {named}  {how}"), soft_wrap=True)
        if not found:
            out().print(Text("There is no account yet: antiphon web account NAME PLATFORM/ID makes one."))

    _do(config, work)


@web.command()
def remove(name: Name, config: ConfigOption = None) -> None:
    """Delete an account; where it is logged in, it is logged out at once."""

    async def work(accounts: WebAccounts, _: Settings) -> None:
        if not await accounts.remove(name):
            raise BadInput(f"There is no account {name}.", remedy="antiphon web list shows them.")
        out().print(Text(f"{name} is gone."))

    _do(config, work)


def _do(config: Path | None, work: Callable[[WebAccounts, Settings], Awaitable[None]]) -> None:
    async def begin(settings: Settings) -> int:
        async with open_database(settings) as database:
            await work(WebAccounts(database), settings)
        return 0

    run(config, begin)


def _person(said: str) -> Person:
    platform, _, user = said.partition("/")
    if not platform or not user:
        raise BadInput(f"{said} names nobody.", remedy="Write PLATFORM/ID, such as discord/80351110224678912.")
    return Person(platform.casefold(), user)


def _password() -> str:
    """A new password, typed twice at a terminal, or the first line of standard input."""
    if not sys.stdin.isatty():
        return next(iter(given("-").splitlines()), "")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
