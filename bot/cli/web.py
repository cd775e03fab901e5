"""``antiphon web``: who gets into the dashboard, and which programs may use its API.

An account says who somebody is on the chat platforms; what they may do there is decided as everywhere.
"""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.command import ConfigOption, given, say, tell
from bot.cli.output import run
from bot.compose.application import open_database
from bot.compose.web import origins_of
from bot.settings import Settings
from core.desk.communities.accounts import MOST_DAYS, ApiToken, ApiTokens, Scope, WebAccounts
from core.desk.rules.roles import Person
from core.errors import BadInput

app = typer.Typer(help="The dashboard: accounts, links that log in once, and tokens of its API.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]
People = Annotated[
    list[str],
    typer.Argument(
        metavar="PLATFORM/ID", help="Who it is on a platform, by the platform's own id; one for each platform."
    ),
]


@app.command()
def account(
    name: Name,
    people: People,
    no_password: Annotated[bool, typer.Option("--no-password", help="Only links log this account in.")] = False,
    config: ConfigOption = None,
) -> None:
    """Make an account, or give one another password and other people. Its sessions, links and tokens end.

    The password is asked for, or read from standard input if that is no terminal.
    """
    who = tuple(_person(text) for text in people)
    password = "" if no_password else _password()

    async def work(accounts: WebAccounts, _: ApiTokens, __: Settings) -> None:
        await accounts.keep(name, password, who)
        named = ", ".join(f"{person.platform}/{person.user}" for person in who)
        tell(f"{name} is {named} on the dashboard. What they may do is what their roles there allow.")

    _do(config, work)


@app.command()
def link(name: Name, config: ConfigOption = None) -> None:
    """Print a link that logs an account in once, within ten minutes."""

    async def work(accounts: WebAccounts, _: ApiTokens, settings: Settings) -> None:
        address = _address(settings)
        secret = await accounts.link(name)
        tell(f"{address}/link/{secret}")

    _do(config, work)


@app.command(name="list")
def list_(config: ConfigOption = None) -> None:
    """List the accounts, who they are, and their tokens."""

    async def work(accounts: WebAccounts, tokens: ApiTokens, _: Settings) -> None:
        all_accounts, made = await accounts.listed(), await tokens.listed()
        for each in all_accounts:
            named = ", ".join(f"{person.platform}/{person.user}" for person in each.people)
            how = "by password or link" if each.password else "by link"
            tell(f"{each.name}  {named}  {how}")
            for token in made:
                if token.account == each.name:
                    tell(f"  token {_in_words(token)}")
        if not all_accounts:
            tell("There is no account yet: antiphon web account NAME PLATFORM/ID makes one.")

    _do(config, work)


@app.command()
def token(
    name: Name,
    scope: Annotated[
        list[Scope] | None,
        typer.Option(
            metavar="SCOPE",
            help="What it may be used for, once for each: read, reveal (the words of posts), decide; read if none.",
        ),
    ] = None,
    days: Annotated[int, typer.Option(metavar="DAYS", min=1, max=MOST_DAYS, help="How long it lasts.")] = 30,
    purpose: Annotated[str, typer.Option("--for", metavar="TEXT", help="What it is for, to tell it from others.")] = "",
    config: ConfigOption = None,
) -> None:
    """Print a token, with which a program uses the API for an account. It is shown this once.

    No token approves a reply. What else it may do is what the account's roles and its scopes both allow.
    """

    async def work(_: WebAccounts, tokens: ApiTokens, settings: Settings) -> None:
        made = await tokens.make(name, purpose, scope or [Scope.READ], days)
        tell(made)
        say(f"Keep it like a password. The API is at {_address(settings)}/api/openapi.json.")

    _do(config, work)


@app.command()
def revoke(
    token: Annotated[str, typer.Argument(metavar="ID", help="The token's id, as antiphon web list shows it.")],
    config: ConfigOption = None,
) -> None:
    """End a token at once."""

    async def work(_: WebAccounts, tokens: ApiTokens, __: Settings) -> None:
        if not await tokens.revoke(token):
            raise BadInput(f"There is no token {token}.", remedy="antiphon web list shows them.")
        tell(f"The token {token} is valid no more.")

    _do(config, work)


@app.command()
def remove(name: Name, config: ConfigOption = None) -> None:
    """Delete an account with its tokens; where it is logged in, it is logged out at once."""

    async def work(accounts: WebAccounts, _: ApiTokens, __: Settings) -> None:
        if not await accounts.remove(name):
            raise BadInput(f"There is no account {name}.", remedy="antiphon web list shows them.")
        tell(f"{name} is gone.")

    _do(config, work)


def _do(config: Path | None, work: Callable[[WebAccounts, ApiTokens, Settings], Awaitable[None]]) -> None:
    async def begin(settings: Settings) -> None:
        async with open_database(settings) as database:
            accounts = WebAccounts(database)
            await work(accounts, ApiTokens(database, accounts), settings)

    run(config, begin)


def _address(settings: Settings) -> str:
    if not settings.web.port:
        raise BadInput(
            "The dashboard is off: web.port is 0.",
            remedy="Set web.port in config.toml, and start antiphon serve again.",
        )
    return origins_of(settings.web, settings.web.port)[0]


def _in_words(token: ApiToken) -> str:
    used = "never used" if token.used_at is None else f"used last at {token.used_at:%Y-%m-%d %H:%M} UTC"
    purpose = f" ({token.label})" if token.label else ""
    may = ", ".join(sorted(token.scopes))
    return f"{token.id}{purpose}  {may}  until {token.expires_at:%Y-%m-%d %H:%M} UTC  {used}"


def _person(text: str) -> Person:
    platform, _, user = text.partition("/")
    if not platform or not user:
        raise BadInput(f"{text} names nobody.", remedy="Write PLATFORM/ID, such as discord/80351110224678912.")
    return Person(platform.casefold(), user)


def _password() -> str:
    """A new password, typed twice at a terminal, or the first line of standard input."""
    if not sys.stdin.isatty():
        return next(iter(given("-").splitlines()), "")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
