"""The chat platforms that ``antiphon serve`` can serve; a new adapter adds one entry to ``KINDS``.

A platform's library is imported only where it is served.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from bot.serve.platforms import ServedPlatform
from bot.settings import DiscordSettings, MastodonSettings, Settings, TelegramSettings
from core.errors import BadSettings
from core.i18n.sentences import sentence
from core.models import PostRef

Builder = Callable[[Settings], Sequence[ServedPlatform]]
"""Gives what to serve of one kind of platform: nothing where it is not configured. Connects nothing.

Raises ``BadSettings`` where it is only partly configured; the message says what is set, the remedy what is missing.
"""


def _without_token(platform: str) -> BadSettings:
    name = platform.lower()
    return BadSettings(
        sentence(
            "{platform} is configured by half: {table} is set, but there is no token of a bot.",
            platform=platform,
            table=f"[{name}]",
        ),
        remedy=sentence(
            "Set {key} in the environment ({page} says where to get one), or take the keys of {table} away.",
            key=f"ANTIPHON__{name.upper()}__TOKEN",
            page=f"docs/platforms/{name}.md",
            table=f"[{name}]",
        ),
    )


def _discord(settings: Settings) -> Sequence[ServedPlatform]:
    wanted = settings.discord
    if wanted.token.get_secret_value().strip():
        from bot.compose.discord import discord_platform  # discord.py takes half a second to load

        return [discord_platform(settings)]
    if wanted != DiscordSettings():
        raise _without_token("Discord")
    return []


def _telegram(settings: Settings) -> Sequence[ServedPlatform]:
    wanted = settings.telegram
    if wanted.token.get_secret_value().strip():
        from bot.compose.telegram import telegram_platform  # as of Discord

        return [telegram_platform(settings)]
    if wanted != TelegramSettings():
        raise _without_token("Telegram")
    return []


def _mastodon(settings: Settings) -> Sequence[ServedPlatform]:
    wanted = settings.mastodon
    if wanted.token.get_secret_value().strip() and wanted.url:
        from bot.compose.mastodon import mastodon_platform  # as of Discord

        return [mastodon_platform(settings)]
    if wanted != MastodonSettings():
        raise BadSettings(
            sentence(
                "{platform} is configured by half: {table} is set, but there is no token, or no address of the "
                "instance.",
                platform="Mastodon",
                table="[mastodon]",
            ),
            remedy=sentence(
                "Run: {command}. It says what to set. Or take the keys of {table} away.",
                command="antiphon mastodon login",
                table="[mastodon]",
            ),
        )
    return []


@dataclass(frozen=True, slots=True)
class PlatformKind:
    """A kind of platform.

    ``how`` tells the person who runs Antiphon how to configure it. ``has_review``: cases are reviewed in its own
    channels; those of any other on the dashboard, or in a channel of one that has.
    """

    name: str
    build: Builder
    how: str
    has_review: bool = True


KINDS: Final = (
    PlatformKind(
        "Discord",
        _discord,
        "set ANTIPHON__DISCORD__TOKEN in the environment; docs/platforms/discord.md says where to get one",
    ),
    PlatformKind(
        "Telegram",
        _telegram,
        "set ANTIPHON__TELEGRAM__TOKEN in the environment; docs/platforms/telegram.md says where to get one",
    ),
    PlatformKind(
        "Mastodon", _mastodon, "run antiphon mastodon login; docs/platforms/mastodon.md says more", has_review=False
    ),
)


def has_review(platform: str) -> bool:
    """Whether the cases of the platform of this ``PostRef.platform`` are reviewed in its own channels."""
    return all(kind.has_review for kind in KINDS if kind.name.casefold() == platform)


def address_of(instance: str, ref: PostRef) -> str:
    """Where a post can be read on its platform; "" where it has no address.

    Args:
        instance: the home instance of the account on Mastodon, as configured.
    """
    if ref.platform == "mastodon":
        is_home = bool(instance) and urlsplit(instance).netloc == ref.community and ref.message.isalnum()
        return f"{instance.rstrip('/')}/statuses/{quote(ref.message)}" if is_home else ""
    if ref.platform == "discord":
        from adapters.discord.speech import reader_of as discord  # as of Discord

        return discord("en").markup.post_url(ref)
    if ref.platform == "telegram":
        from adapters.telegram.speech import TelegramMarkup  # as of Discord

        return TelegramMarkup().post_url(ref)
    return ""


def configured_platforms(settings: Settings) -> list[ServedPlatform]:
    """Every platform that the settings configure.

    Raises:
        BadSettings: one is only partly configured.
    """
    return [platform for kind in KINDS for platform in kind.build(settings)]


def platforms_to_serve(settings: Settings) -> list[ServedPlatform]:
    """As ``configured_platforms``, but raises ``BadSettings``, with what to do, where there is none."""
    served = configured_platforms(settings)
    if not served:
        ways = " ".join(f"{kind.name}: {kind.how}." for kind in KINDS)
        raise BadSettings(
            "No chat platform is configured.", remedy=f"{ways} To try Antiphon without one, run: antiphon run."
        )
    return served
