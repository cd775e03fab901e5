"""``antiphon mastodon``: logging in at an instance, looking at the account, its team, and the instances to answer."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from shlex import quote
from typing import Annotated, Final, TypeVar

import typer
from mastodon.errors import MastodonNotFoundError
from mastodon.return_types import Account
from rich.text import Text

from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.error_meanings import FAULTS, of_question
from adapters.mastodon.connection.instance import Instance
from adapters.mastodon.connection.refs import NAME, full_name_of
from adapters.mastodon.connection.statuses import is_feed, why_closed
from adapters.mastodon.manage import AccountFinding, begin, finish, instance_address, look
from bot.cli.command import EXIT_UNAVAILABLE, ConfigOption, JsonOption, counted, print_document, run_to_exit, tell
from bot.cli.communities import operator
from bot.cli.output import run
from bot.compose.application import open_database
from bot.settings import Settings
from core.desk.communities.decisions import CommunityDesk
from core.desk.rules.policy import NO_RULES, CommunityPolicy, PlaceRules
from core.desk.rules.roles import Person, Role
from core.errors import BadInput

app = typer.Typer(
    help="Mastodon: log in, look at the account, its team, and the instances that it may answer.", no_args_is_help=True
)
_T = TypeVar("_T")
_DOMAIN: Final = re.compile(r"\A(?:(?:[\w-]+\.)+[\w-]+(?::\d+)?|localhost(?::\d+)?)")
_MARKS: Final = {True: ("ok   ", "green"), False: ("BAD  ", "bold red"), None: ("look ", "yellow")}

Accounts = Annotated[
    list[str] | None,
    typer.Argument(metavar="ACCOUNT", help="Such as @ana@social.example; leave it out to see the team."),
]


@app.command()
def login(
    instance: Annotated[str, typer.Argument(metavar="INSTANCE", help="Such as https://social.example.")],
    is_moderator: Annotated[
        bool, typer.Option("--moderator", help="A moderator's token, to read and resolve reports; nothing else.")
    ] = False,
) -> None:
    """Get a token: open an address while you are logged in as the account, allow what is asked, and paste the code."""

    async def work() -> None:
        url = instance_address(instance)
        begun = await begin(url, is_moderator=is_moderator)
        whose = "a moderator of the instance" if is_moderator else "the account that Antiphon is to use"
        text = f"Log in as {whose}, open this address, and allow what is asked:\n\n{begun.address}\n"
        tell(text)
        granted = await finish(begun, typer.prompt("The code that is shown then"))
        name = "MODERATOR_TOKEN" if is_moderator else "TOKEN"
        tell(
            "Set this in the environment, and put it into no file that you share:\n\n"
            f"export ANTIPHON__MASTODON__URL={quote(url)}\n"
            f"export ANTIPHON__MASTODON__{name}={quote(granted.token)}\n"
        )

    run_to_exit(work)


@app.command()
def check(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Look at the account and its instance: flags, scopes, rules, limits, feeds, the profile."""

    async def work(settings: Settings) -> int:
        findings = await _with_client(settings, look)
        if as_json:
            print_document(
                {"ok": all(each.ok is not False for each in findings), "checks": [asdict(each) for each in findings]}
            )
        else:
            for each in findings:
                _tell(each)
        return EXIT_UNAVAILABLE if any(each.ok is False for each in findings) else 0

    run(config, work)


@app.command()
def team(
    accounts: Accounts = None,
    role: Annotated[
        Role, typer.Option("--role", metavar="ROLE", help="volunteer, moderator, manager, auditor or admin.")
    ] = Role.MODERATOR,
    leaves: Annotated[bool, typer.Option("--leaves", help="Take the role away instead.")] = False,
    config: ConfigOption = None,
) -> None:
    """Give accounts a role. They decide on the dashboard, with an account made by antiphon web account."""

    async def work(settings: Settings) -> None:
        home, people = await _with_client(settings, lambda client: looked_up(client, accounts or []))
        async with open_database(settings, creates=bool(accounts)) as database:
            desk = CommunityDesk(database)
            place = await desk.known(NAME, home)
            for person in people:
                await (desk.revoke if leaves else desk.grant)(place, person, role, operator())
            view = await desk.view(place, operator())
        for member in view.members:
            name, known_as = member.person.name or member.person.user, f"{member.person.platform}/{member.person.user}"
            tell(f"  @{name}  {', '.join(sorted(member.roles))}  {known_as}")

    run(config, work)


@app.command()
def place(
    instance: Annotated[
        str, typer.Argument(metavar="INSTANCE", help="Such as social.example; leave it out to see all.")
    ] = "",
    consent: Annotated[
        str | None,
        typer.Option(
            "--consent",
            metavar="WORDS",
            help="Who of the instance said yes, where and when; it is kept. - for no more.",
        ),
    ] = None,
    replies_a_day: Annotated[
        int | None, typer.Option("--replies-a-day", metavar="NUMBER", help="How many replies may reach it in a day.")
    ] = None,
    hashtag: Annotated[
        str | None,
        typer.Option(
            "--hashtag", metavar="TAG", help="What it asks automated posts to carry, such as #bot; - for none."
        ),
    ] = None,
    mentions: Annotated[
        bool | None, typer.Option("--mention/--no-mention", help="Whether a reply tells the author of it.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Say which instances agreed to replies, and their rules. No reply is posted to people of any other instance."""

    def choose(rules: PlaceRules) -> PlaceRules:
        options = {
            "consent": "" if consent == "-" else consent,
            "replies_a_day": replies_a_day,
            "hashtag": "" if hashtag == "-" else hashtag,
            "mentions_author": mentions,
        }
        return replace(rules, **{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]

    async def work(settings: Settings) -> None:
        home = await _with_client(settings, _home)
        async with open_database(settings) as database:
            desk = CommunityDesk(database)
            community = await desk.known(NAME, home)
            policy = await desk.configure(community, _with_place(instance, choose), operator())
        for domain, rules in sorted(policy.places.items()):
            tell(_rules(domain, rules))
        if not policy.places:
            tell("No instance agreed to replies yet: nothing is posted.")

    run(config, work)


@app.command()
def watch(
    feeds: Annotated[
        list[str] | None,
        typer.Argument(metavar="FEED", help="#hashtags, or local for all public posts of the instance; see without."),
    ] = None,
    keywords: Annotated[
        list[str] | None,
        typer.Option("--keyword", metavar="WORD", help="A word that flags a watched post by itself; again for more."),
    ] = None,
    one_in: Annotated[
        int | None,
        typer.Option("--one-in", metavar="NUMBER", help="One false alarm in so many harmless posts at most."),
    ] = None,
    is_off: Annotated[bool, typer.Option("--off", help="Watch nothing any more.")] = False,
    config: ConfigOption = None,
) -> None:
    """Watch feeds of the instance for hateful posts, which become cases; without FEED, show what is watched."""
    options = {"watched_channels": [] if is_off else feeds or None, "keywords": keywords or None, "one_in": one_in}
    changes = {name: value for name, value in options.items() if value is not None}

    async def work(settings: Settings) -> None:
        for name in feeds or ():
            if not is_feed(name):
                raise BadInput(f"{name} is not a feed.", remedy="Write a hashtag such as '#football', or local.")
        instance = await _with_client(settings, _instance)
        async with open_database(settings) as database:
            desk = CommunityDesk(database)
            community = await desk.known(NAME, instance.domain)
            policy = await desk.configure(community, lambda _: changes, operator())
        for name in policy.watched_channels:
            closed = why_closed(instance, name)
            tell(closed or f"{name} is watched.")
        words = ", ".join(policy.keywords) or "none"
        text = f"Keywords: {words}; one false alarm in {policy.one_in:,} harmless posts at most."
        tell(text if policy.watched_channels else "Nothing is watched.")

    run(config, work)


async def _instance(client: MastodonClient) -> Instance:
    return client.instance


async def _with_client(settings: Settings, work: Callable[[MastodonClient], Awaitable[_T]]) -> _T:
    wanted = settings.mastodon
    options = MastodonOptions(
        wanted.url.rstrip("/"), wanted.token.get_secret_value(), wanted.moderator_token.get_secret_value()
    )
    return await with_account(options, work)


async def with_account(options: MastodonOptions, work: Callable[[MastodonClient], Awaitable[_T]]) -> _T:
    """Log in, do some work and leave; setup asks a new account so, too.

    Raises:
        BadSettings: the instance does not accept the token.
        PlatformUnavailable: it cannot be reached.
    """
    client = MastodonClient(options)
    await client.open()
    try:
        return await work(client)
    finally:
        await client.close()


async def _home(client: MastodonClient) -> str:
    return client.home


async def looked_up(client: MastodonClient, names: list[str]) -> tuple[str, list[Person]]:
    """The home instance, and the people whose names were typed. Raises ``BadInput`` for a name that nobody has."""
    people = []
    for name in names:
        account = await _account(client, name.strip().removeprefix("@"))
        people.append(Person(NAME, str(account.id), full_name_of(account, client.home)))
    return client.home, people


async def _account(client: MastodonClient, name: str) -> Account:
    user, _, domain = name.partition("@")
    address = user if domain.casefold() == client.home else name  # not every server knows its own people by both
    try:
        return await client.call(lambda api: api.account_lookup(address))
    except MastodonNotFoundError as err:
        raise BadInput(
            f"The instance knows no account @{name}.", remedy="Look at the name; it must be found on the instance."
        ) from err
    except FAULTS as err:
        raise of_question(err) from err


def _with_place(
    instance: str, choose: Callable[[PlaceRules], PlaceRules]
) -> Callable[[CommunityPolicy], Mapping[str, object]]:
    domain = instance.strip().casefold().removeprefix("https://").rstrip("/")
    if instance and not _DOMAIN.fullmatch(domain):
        raise BadInput("This is not an instance.", remedy="Write it as social.example.")

    def changes(policy: CommunityPolicy) -> Mapping[str, object]:
        if not domain:
            return {}
        rules = choose(policy.places.get(domain, NO_RULES))
        return {"places": {name: asdict(each) for name, each in {**policy.places, domain: rules}.items()}}

    return changes


def _rules(domain: str, rules: PlaceRules) -> str:
    agreed = f"agreed ({rules.consent})" if rules.consent else "has not agreed: nothing is posted"
    tag = f", with {rules.hashtag}" if rules.hashtag else ""
    mention = "their author is told" if rules.mentions_author else "their author is not told"
    return f"{domain}: {agreed}; at most {counted(rules.replies_a_day, 'reply', 'replies')} a day{tag}; {mention}."


def _tell(finding: AccountFinding) -> None:
    text = f"{finding.name}: {finding.said}." if not finding.said.endswith(".") else f"{finding.name}: {finding.said}"
    tell(Text.assemble(_MARKS[finding.ok], text, f" {finding.remedy}" if finding.remedy else ""))
