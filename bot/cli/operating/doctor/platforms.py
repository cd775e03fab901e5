"""How the chat platforms stand in the processes that serve them, as these processes say in the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from urllib.parse import urlsplit

from bot.cli.operating.doctor.database import is_there, opened
from bot.compose.platforms.chat_platforms import configured_platforms
from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding, finding_of
from bot.store.schema import PlatformState, UpdateState
from bot.store.views.platforms import SeenPlatform, seen
from bot.store.work import inbox
from core.errors import AntiphonError, PlatformUnavailable
from core.wording.counting import counted


async def examine_accounts(settings: Settings) -> list[Finding]:
    """One finding or more for each platform that has a token."""
    found = []
    if settings.discord.token.get_secret_value().strip():
        found.append(await finding_of("account on discord", partial(_discord, settings)))
    if settings.telegram.token.get_secret_value().strip():
        found.append(await finding_of("account on telegram", partial(_telegram, settings)))
    if settings.mastodon.token.get_secret_value().strip() and settings.mastodon.url:
        found += await _mastodon(settings)
    return found


async def _discord(settings: Settings) -> str:
    """What the account is called. Raises ``BadSettings`` or ``PlatformUnavailable``."""
    from adapters.discord.connection.account import look  # discord.py takes half a second to load

    with _told_to_somebody():
        account = await look(settings.discord.token.get_secret_value(), reads_messages=settings.discord.reads_messages)
    reads = "messages can be read" if settings.discord.reads_messages else "reads_messages is off"
    return f"{account.name} may log in; {reads}"


async def _telegram(settings: Settings) -> str:
    """What the account is called. Raises ``BadSettings`` or ``PlatformUnavailable``."""
    from adapters.telegram.connection.account import look  # as of Discord

    wanted = settings.telegram
    with _told_to_somebody():
        account = await look(wanted.token.get_secret_value(), wanted.api_url.rstrip("/"))
    if account.webhook:
        raise PlatformUnavailable(
            f"Telegram sends the updates of {account.name} to {urlsplit(account.webhook).hostname}.",
            remedy="Stop the other program, or make a new token at @BotFather (/revoke). antiphon serve takes the "
            "updates over when it starts.",
        )
    return f"{account.name} may log in"


async def _mastodon(settings: Settings) -> list[Finding]:
    from adapters.mastodon.connection.client import MastodonClient, MastodonOptions  # as of Discord
    from adapters.mastodon.manage.check import look

    wanted = settings.mastodon
    name = "account on mastodon"

    async def ask() -> list[Finding]:
        tokens = (wanted.token.get_secret_value(), wanted.moderator_token.get_secret_value())
        client = MastodonClient(MastodonOptions(wanted.url.rstrip("/"), *tokens))
        with _told_to_somebody():
            await client.open()
            try:
                looks = await look(client)
            finally:
                await client.close()
        wrong = [Finding(f"{name}: {one.name}", False, f"{one.said}.", one.remedy) for one in looks if one.ok is False]
        return wrong or [Finding(name, True, f"{looks[0].said} may do what it needs to")]

    found: list[Finding] = []

    async def told() -> str:
        found.extend(await ask())
        return ""

    failed = await finding_of(name, told)
    return found if failed.ok else [failed]


@contextmanager
def _told_to_somebody() -> Iterator[None]:
    """Give who is at the terminal something to do: only a process that serves a platform tries again by itself."""
    try:
        yield
    except PlatformUnavailable as err:
        raise PlatformUnavailable(
            err.message,
            remedy="Look whether this machine reaches it: its network, its proxy, and the address in the settings.",
        ) from err


async def examine_platforms(settings: Settings) -> list[Finding]:
    """The state of each platform in the processes that serve it, and what is wrong with those that are configured."""
    try:
        configured = [platform.name for platform in configured_platforms(settings)]
        standings, aside = await _standings(settings)
    except AntiphonError as err:
        return [Finding("platforms", False, err.message, err.remedy)]
    found = [_standing(each) for each in standings] + aside
    served = {each.platform for each in standings}
    if idle := [name for name in configured if name not in served]:
        found.append(Finding("platforms", True, f"{', '.join(idle)} configured; antiphon serve does not run"))
    return found or [Finding("platforms", True, "none is configured; antiphon run shows a sample community")]


async def _standings(settings: Settings) -> tuple[list[SeenPlatform], list[Finding]]:
    """How the platforms stand, and what is to be said of updates that nobody could deal with."""
    if not await is_there(settings):
        return [], []
    async with opened(settings) as database:
        aside = await database.run("count updates put aside", inbox.put_aside)
        return await database.run("look at platforms", seen), [_aside(*each) for each in aside.items()]


def _aside(of: tuple[str, UpdateState], count: int) -> Finding:
    """Updates that nobody could deal with, of one platform and for one reason."""
    platform, state = of
    days = inbox.KEPT.days
    if state is UpdateState.UNKNOWN:
        told = f"{count} of kinds that this version does not know, in the last {counted(days, 'day')}"
        return Finding(f"updates of {platform}", True, told)
    return Finding(
        f"updates of {platform}",
        False,
        f"{count} could not be handled in the last {counted(days, 'day')}.",
        "Look for them in the log of antiphon serve, and report what it says.",
    )


def _standing(seen: SeenPlatform) -> Finding:
    """One platform in one process."""
    name, since = f"platform {seen.platform}", f"since {seen.since:%Y-%m-%d %H:%M:%S} UTC"
    if seen.is_gone:
        return Finding(name, False, f"the process that served it {since} is gone.", "Run: antiphon serve.")
    if seen.state is PlatformState.CONNECTED:
        return Finding(name, True, f"connected {since}")
    if seen.state is PlatformState.CONNECTING and not seen.message:
        return Finding(name, False, f"it is being connected {since}.", "Look again in a minute.")
    at = f"{seen.again_at:%H:%M:%S} UTC" if seen.again_at else ""
    again = f" Attempts that failed: {seen.failures}; the next is at {at}." if at else ""
    return Finding(name, False, f"not connected {since}: {seen.message}{again}", seen.remedy)
