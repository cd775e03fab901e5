"""``antiphon community``: what the person at the terminal does with communities.

``core.desk.communities.decisions`` decides what is allowed, and records it. A person who can start these commands can
read the database anyway: they act as its operator, by their account's name.
"""

import getpass
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from bot.cli.command import ConfigOption, JsonOption, counted, out, print_document, tell
from bot.cli.output import run
from bot.compose.application import open_database
from bot.compose.platforms import configured_platforms, has_review
from bot.settings import Settings
from core.desk.communities.decisions import CommunityDesk, CommunityView
from core.desk.communities.export import lessons, replacing
from core.desk.rules.policy import check_elsewhere
from core.desk.rules.roles import Operator, Person, Role
from core.desk.schema import PlatformState
from core.desk.store.communities import EVERYWHERE
from core.desk.views.platforms import SeenPlatform, seen
from core.errors import BadInput

CommunityName = Annotated[
    str, typer.Argument(metavar="COMMUNITY", help="As PLATFORM/NAME; `antiphon community list` shows them.")
]
Reason = Annotated[str, typer.Option("--reason", metavar="WORDS", help="Why, in a few words; it is recorded.")]
app = typer.Typer(help="Communities: roles, posting, the review channel, the kill switch.", no_args_is_help=True)
role = typer.Typer(help="Roles in a community.", no_args_is_help=True)
Scope = Annotated[str, typer.Argument(metavar="COMMUNITY", help="As PLATFORM/NAME; leave it out with --everywhere.")]
Everywhere = Annotated[bool, typer.Option("--everywhere", help="In all communities.")]
User = Annotated[
    str, typer.Argument(metavar="PERSON", help="Their id on the platform; PLATFORM/ID for somebody of another one.")
]
Name = Annotated[str, typer.Option("--name", metavar="NAME", help="What people call them.")]
Wanted = Annotated[
    Role,
    typer.Argument(
        metavar="ROLE", help="volunteer, moderator, manager, auditor or admin; docs/desk.md says what each may do."
    ),
]


def operator() -> Operator:
    """Who sits at the terminal, by their account."""
    return Operator(getpass.getuser())


def do(config: Path | None, work: Callable[[CommunityDesk], Awaitable[None]]) -> None:
    """Do a command's work on the configured database."""

    async def begin(settings: Settings) -> None:
        async with open_database(settings) as database:
            await work(CommunityDesk(database))

    run(config, begin)


def switch(is_on: bool) -> str:
    return "on" if is_on else "off"


app.add_typer(role, name="role")


@app.command(name="list")
def list_(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """List the communities, and whether Antiphon posts there."""

    async def work(desk: CommunityDesk) -> None:
        views = await desk.listed(operator())
        if as_json:
            print_document({"communities": [_row(view) for view in views]})
            return
        table = Table(
            Column("community", no_wrap=True), "posting", "disclosure", "people"
        )  # an id is copied: never cut
        for view in views:
            table.add_row(
                Text(view.community.id), _posting(view), switch(view.community.discloses), str(len(view.members))
            )
        out().print(table if views else Text("No community is known yet: a first post must be flagged there."))

    do(config, work)


@app.command()
def show(place: CommunityName, as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Show a community: its people, and what was changed."""

    async def work(desk: CommunityDesk) -> None:
        view = await desk.view(place, operator())
        history = await desk.history(place, operator())
        if as_json:
            lines = [
                {"version": e.version, "actor": e.actor, "what": e.reason, "note": e.note, "at": e.at.isoformat()}
                for e in history
            ]
            print_document({**_row(view), "history": lines})
            return
        _tell(view)
        for member in view.members:
            roles = ", ".join(sorted(member.roles))
            user = _user(view, member.person)
            tell(f"  {user}  {member.person.name}  {roles}")
        for entry in history:
            note = f" ({entry.note})" if entry.note else ""
            line = f"  {entry.at:%Y-%m-%d %H:%M} UTC  {entry.actor}: {entry.reason}{note}"
            tell(line)

    do(config, work)


@role.command()
def grant(
    place: CommunityName, user: User, wanted: Wanted, name: Name = "", reason: Reason = "", config: ConfigOption = None
) -> None:
    """Give somebody a role. Give admin in the place * to PLATFORM/ID, and they may stop all posting everywhere."""

    async def work(desk: CommunityDesk) -> None:
        await desk.grant(place, _person(place, user, name), wanted, operator(), reason)
        tell(f"{name or user} is {wanted} in {place}.")

    do(config, work)


@role.command()
def revoke(place: CommunityName, user: User, wanted: Wanted, reason: Reason = "", config: ConfigOption = None) -> None:
    """Take away a role that was given with `grant`. It ends at once."""

    async def work(desk: CommunityDesk) -> None:
        await desk.revoke(place, _person(place, user), wanted, operator(), reason)
        tell(f"{user} is no longer {wanted} in {place}.")

    do(config, work)


@app.command()
def posting(
    place: CommunityName,
    is_on: Annotated[bool | None, typer.Option("--on/--off", help="Post what is approved, or post nothing.")] = None,
    reason: Reason = "",
    config: ConfigOption = None,
) -> None:
    """Post approved replies from now on, or go back to shadow mode, in which nothing is posted; or show what is set."""

    async def work(desk: CommunityDesk) -> None:
        if is_on is not None:
            await desk.set_posting(place, is_on, operator(), reason)
        _tell(await desk.view(place, operator()))

    do(config, work)


@app.command()
def review(
    place: CommunityName,
    channel: Annotated[
        str,
        typer.Argument(
            metavar="CHANNEL", help="Such as discord/123 or telegram/-100123; leave it out to see what is set."
        ),
    ] = "",
    is_off: Annotated[bool, typer.Option("--off", help="Review on the dashboard alone.")] = False,
    config: ConfigOption = None,
) -> None:
    """Choose a channel on Discord or a chat on Telegram where the cases of a Mastodon community are reviewed, too."""

    async def work(settings: Settings) -> None:
        async with open_database(settings) as database:
            desk = CommunityDesk(database)
            platform = (await desk.view(place, operator())).community.platform
            if has_review(platform):
                raise BadInput(
                    f"Cases of {platform} are reviewed there.",
                    remedy="Its managers choose the channel: /antiphon setup on Discord, /setup on Telegram.",
                )
            if channel:
                standings = await database.run("look at platforms", seen)
                check_elsewhere(channel, _reviewing(settings, standings))
            chosen = {"review_channel": "" if is_off else channel} if channel or is_off else {}
            policy = await desk.configure(place, lambda _: chosen, operator())
        where = f"the dashboard and {policy.review_channel}" if policy.review_channel else "the dashboard"
        tell(f"{place}: cases are reviewed on {where}.")

    run(config, work)


def _reviewing(settings: Settings, standings: Sequence[SeenPlatform]) -> set[str]:
    """The platforms on which cards can be shown: those configured here, and connected where any process serves."""
    names = {each.name for each in configured_platforms(settings) if has_review(each.name)}
    there = [each for each in standings if not each.is_gone]
    connected = {each.platform for each in there if each.state is PlatformState.CONNECTED}
    return names & connected if there else names


@app.command()
def learning(
    place: CommunityName,
    is_on: Annotated[bool | None, typer.Option("--on/--off", help="Whether its managers allow it.")] = None,
    config: ConfigOption = None,
) -> None:
    """Allow that a writer is trained on what this community approved, or forbid it; or show what is set."""

    async def work(desk: CommunityDesk) -> None:
        chosen = {} if is_on is None else {"learns": is_on}
        policy = await desk.configure(place, lambda _: chosen, operator())
        tell(f"{place}: learning {switch(policy.learns)}.")

    do(config, work)


@app.command(name="lessons")
def write_lessons(
    place: CommunityName,
    file: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write, as JSON lines.")],
    config: ConfigOption = None,
) -> None:
    """Write what a writer can learn from: posts, the drafts that were shown, and the replies that were approved."""

    async def work(settings: Settings) -> None:
        async with open_database(settings) as database:
            rows = [row async for row in lessons(database, place)]
        with replacing(file) as made:
            made.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        tell(f"{counted(len(rows), 'approval')} in {file}.")

    run(config, work)


@app.command()
def pause(place: Scope = "", everywhere: Everywhere = False, reason: Reason = "", config: ConfigOption = None) -> None:
    """Stop all posting in a community, or everywhere, at once."""

    async def work(desk: CommunityDesk) -> None:
        scope = _scope(place, everywhere)
        is_new = await desk.pause(scope, operator(), reason)
        tell(f"Nothing is posted {_where(scope)}{'' if is_new else '; it was stopped already'}.")

    do(config, work)


@app.command()
def resume(place: Scope = "", everywhere: Everywhere = False, reason: Reason = "", config: ConfigOption = None) -> None:
    """Allow posting again. What was approved and still holds is sent after the usual checks."""

    async def work(desk: CommunityDesk) -> None:
        scope = _scope(place, everywhere)
        is_new = await desk.resume(scope, operator(), reason)
        tell(f"Posting is allowed again {_where(scope)}." if is_new else "It was not stopped.")

    do(config, work)


def _scope(place: str, everywhere: bool) -> str:
    if bool(place) == everywhere:
        raise BadInput("It is not clear where.", remedy="Name a community, or say --everywhere.")
    return EVERYWHERE if everywhere else place


def _where(scope: str) -> str:
    return "anywhere" if scope == EVERYWHERE else f"in {scope}"


def _person(place: str, user: str, name: str = "") -> Person:
    """Somebody of the platform that the community is of, unless USER says PLATFORM/ID itself."""
    platform, slash, identity = user.partition("/")
    if slash:
        return Person(platform, identity, name)
    if place == EVERYWHERE:
        raise BadInput("An admin of all communities is of one platform.", remedy="Write the person as PLATFORM/ID.")
    return Person(place.partition("/")[0], user, name)


def _tell(view: CommunityView) -> None:
    text = f"{view.community.id}: posting {_posting(view)}, disclosure {switch(view.community.discloses)}."
    tell(text)


def _posting(view: CommunityView) -> str:
    if view.paused:
        return "stopped everywhere" if EVERYWHERE in view.paused else "stopped"
    return "on" if view.community.is_posting else "off (shadow mode)"


def _row(view: CommunityView) -> dict[str, Any]:
    return {
        "community": view.community.id,
        "version": view.community.version,
        "is_posting": view.community.is_posting,
        "discloses": view.community.discloses,
        "paused": list(view.paused),
        "people": [
            {"user": _user(view, m.person), "name": m.person.name, "roles": sorted(m.roles)} for m in view.members
        ],
    }


def _user(view: CommunityView, person: Person) -> str:
    """A person as ``_person`` takes them."""
    return person.user if person.platform == view.community.platform else f"{person.platform}/{person.user}"
