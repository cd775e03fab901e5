"""Puts the dashboard together: settings and an application in, pages that answer out."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

from adapters.web.providers import Provider, discord, mastodon
from adapters.web.server import application, listening, serving
from adapters.web.site import Names, Paste, SetupOf, Site
from bot.compose.application import Application
from bot.compose.platforms import address_of, has_review
from bot.serve.hosted_review import check_channel
from bot.settings import DeskSettings, Settings, WebSettings
from core.desk.communities.accounts import ApiTokens, WebAccounts
from core.desk.communities.own_cards import OwnCards, PreparedReplies
from core.desk.review.dashboard import DeskOverview, DeskRecord
from core.desk.upkeep.retention import RetentionPeriods
from core.errors import BadSettings
from kb.starter.facts import facts_today


@asynccontextmanager
async def dashboard(
    settings: Settings, running: Application, setup: SetupOf, paste: Paste | None = None
) -> AsyncIterator[tuple[str, WebAccounts]]:
    """The dashboard of an application, within the block; gives its address, and the accounts that get in.

    Args:
        setup: looks how far the installation is set up.
        paste: makes a case of a post that somebody pastes, where that can be done.

    Raises:
        BadSettings: nothing can be listened to at the configured address, or a login is configured by half.
    """
    wanted, providers, keeping = settings.web, providers_of(settings), keeping_of(settings.desk)
    at = listening(wanted.host.strip("[]"), wanted.port)
    accounts = WebAccounts(running.database, running.desk.live_roles)
    origins = origins_of(wanted, int(at.getsockname()[1]))
    site = Site(
        casework=running.casework,
        governance=running.governance,
        doorkeeper=accounts,
        overview=DeskOverview(running.database, running.desk.proposals, keeping),
        tokens=ApiTokens(running.database, accounts),
        record=DeskRecord(running.database, running.desk.live_roles, keeping),
        replies=PreparedReplies(running.database, running.desk.live_roles),
        cards=OwnCards(running.database, running.desk.live_roles),
        facts=facts_today,
        setup=setup,
        knowledge=running.knowledge,
        origins=origins,
        address_of=partial(address_of, settings.mastodon.url),
        names=Names(running.platforms.name_of),
        paste=paste,
        detector=running.detector,
        configured=_for_all(settings),
        providers=providers,
        check_review_channel={
            name: partial(check_channel, running.platforms.surfaces, running.governance)
            for name in running.platforms.max_characters
            if not has_review(name)
        },
    )
    async with serving(application(site), at):
        yield origins[0], accounts


def _for_all(settings: Settings) -> dict[str, object]:
    """What holds for every community, as the configuration names it."""
    desk, community = settings.desk, settings.community
    values: dict[str, object] = {
        "community.language": community.language,
        "community.style": community.style,
        "community.intents": ", ".join(community.intents),
        "community.sure": community.sure,
    }
    names = ("undo_seconds", "replies_per_hour", "replies_per_day", "flags_per_hour", "retention_days")
    return values | {f"desk.{name}": getattr(desk, name) for name in (*names, "statistics_months", "campaign_hours")}


def origins_of(wanted: WebSettings, port: int) -> tuple[str, ...]:
    """By which addresses people reach it: the public one alone where there is one, otherwise those of this machine."""
    if wanted.public_url:
        parts = urlsplit(wanted.public_url)
        return (f"{parts.scheme}://{parts.netloc.lower()}",)
    return tuple(f"http://{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]"))


def providers_of(settings: Settings) -> dict[str, Provider]:
    """Through which platforms people log in.

    Raises:
        BadSettings: a login is configured by half.
    """
    web, instance = settings.web, settings.mastodon.url.rstrip("/")
    secrets = web.discord_client_secret.get_secret_value(), web.mastodon_client_secret.get_secret_value()
    providers = dict[str, Provider]()
    if web.discord_client_id or secrets[0]:
        _check_login(
            "discord", {"web.discord_client_id": web.discord_client_id, "web.public_url": web.public_url}, secrets[0]
        )
        providers["discord"] = discord(web.discord_client_id, secrets[0])
    if web.mastodon_client_id or secrets[1]:
        needed = {"web.mastodon_client_id": web.mastodon_client_id, "web.public_url": web.public_url}
        _check_login("mastodon", needed | {"mastodon.url": instance}, secrets[1])
        providers["mastodon"] = mastodon(web.mastodon_client_id, secrets[1], instance)
    return providers


def _check_login(platform: str, needed: Mapping[str, str], secret: str) -> None:
    missing = [name for name, value in needed.items() if not value]
    if not secret:
        missing.append(f"ANTIPHON__WEB__{platform.upper()}_CLIENT_SECRET in the environment")
    if missing:
        raise BadSettings(
            f"The dashboard's login through {platform.capitalize()} is configured by half.",
            remedy=f"Set {', '.join(missing)}, or take the rest of it away.",
        )


def keeping_of(desk: DeskSettings) -> RetentionPeriods:
    return RetentionPeriods(desk.draft_hours, desk.retention_days, desk.statistics_months, desk.backup_days)
