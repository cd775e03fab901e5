"""Whether each platform accepts the token of its account, and lets it do what Antiphon needs; asked of the platform.

Asks questions only. Must never ask for updates, which one process may do at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from urllib.parse import urlsplit

from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding, finding_of
from core.errors import PlatformUnavailable


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
