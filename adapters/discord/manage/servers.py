"""Who a manager is on Discord, and what our bot account may do in the channels that it needs.

Owns these questions. Every right is asked anew at each use: that a command was shown to somebody says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import discord

from adapters.discord.capture.places import is_private
from adapters.discord.connection.client import NAME, AntiphonClient
from adapters.discord.speech.languages import reader_language
from adapters.discord.speech.private_answers import Interaction, speak
from core.errors import BadInput, NotAllowed
from core.i18n.catalogs import gettext
from core.moderation.community_policy import CommunityPolicy
from core.moderation.roles import OnCommunity, Person

FOR_REVIEW: Final = ("view_channel", "send_messages", "embed_links", "read_message_history")
"""What the bot needs in the review channel, by Discord's names."""
FOR_REPLIES: Final = ("view_channel", "send_messages", "read_message_history")
"""What it needs where it watches and answers."""


@dataclass(frozen=True, slots=True)
class Manager:
    """Who manages, where, and in which language they are spoken to; ``is_owner`` as Discord says it."""

    guild: discord.Guild
    person: Person
    is_owner: bool
    locale: str

    @property
    def community(self) -> str:
        """``PostRef.community`` of the server."""
        return str(self.guild.id)


async def manager_of(client: AntiphonClient, interaction: Interaction) -> Manager:
    """Who uses a command, before anything is asked about their rights.

    Raises:
        NotAllowed: this is no server that we are in.
    """
    guild = None if interaction.guild_id is None else client.get_guild(interaction.guild_id)
    if guild is None:
        locale = reader_language(interaction.locale.value, None)
        raise NotAllowed(
            gettext("Antiphon is managed in a server.", locale),
            remedy=gettext("Use the command in a server that Antiphon was added to.", locale),
        )
    language = (await client.governance.policy(NAME, str(guild.id))).language
    user = interaction.user
    is_owner = guild.owner_id == user.id or interaction.permissions.administrator
    person = Person(NAME, str(user.id), user.display_name)
    locale = reader_language(interaction.locale.value, language)
    speak(interaction, locale)
    return Manager(guild, person, is_owner, locale)


async def require(client: AntiphonClient, manager: Manager, action: OnCommunity) -> None:
    """``NotAllowed`` where they may not do this. Who owns the server may always configure: that is how it begins."""
    if not (manager.is_owner and action is OnCommunity.CONFIGURE):
        await client.governance.require(NAME, manager.community, manager.person, action)


def permission_words(name: str, locale: str) -> str:
    """A permission as Discord's settings call it."""
    words = {
        "view_channel": gettext("View Channel", locale),
        "send_messages": gettext("Send Messages", locale),
        "embed_links": gettext("Embed Links", locale),
        "read_message_history": gettext("Read Message History", locale),
    }
    return words[name]


def missing_in(channel: discord.abc.GuildChannel, needed: tuple[str, ...]) -> list[str]:
    """Which of these permissions the bot lacks in a channel."""
    allowed = channel.permissions_for(channel.guild.me)
    return [name for name in needed if not getattr(allowed, name)]


def lacking(guild: discord.Guild, policy: CommunityPolicy, locale: str) -> list[str]:
    """What the bot lacks in the channels that the community chose, in sentences; none if all is well."""
    said = [_lack(guild, channel, FOR_REPLIES, locale) for channel in policy.watched_channels]
    if policy.review_channel:
        said.insert(0, _lack(guild, policy.review_channel, FOR_REVIEW, locale))
    return [sentence for sentence in said if sentence]


def _lack(guild: discord.Guild, channel_id: str, needed: tuple[str, ...], locale: str) -> str:
    channel = guild.get_channel(int(channel_id)) if channel_id.isdecimal() else None
    if channel is None:
        return gettext(
            "The channel with the number {id} is gone, or the bot cannot see it. Choose another with /antiphon setup.",
            locale,
            id=channel_id,
        )
    missing = ", ".join(permission_words(name, locale) for name in missing_in(channel, needed))
    if not missing:
        return ""
    return gettext("In {channel} the bot lacks: {missing}.", locale, channel=channel.mention, missing=missing)


def check_review_channel(guild: discord.Guild, channel_id: str, locale: str) -> None:
    """Refuse a review channel that everybody can read, or where the bot cannot work.

    Raises:
        BadInput: what is wrong with it, and how it is mended.
    """
    channel = guild.get_channel(int(channel_id))
    if channel is not None and not is_private(channel):
        raise BadInput(
            gettext(
                "Everybody can see {channel}: hateful posts and drafts would stand there.",
                locale,
                channel=channel.mention,
            ),
            remedy=gettext(
                "In the channel's settings take View Channel away from @everyone, give it to the moderators and to "
                "this bot, and choose it again.",
                locale,
            ),
        )
    lack = _lack(guild, channel_id, FOR_REVIEW, locale)
    if lack:
        raise BadInput(lack, remedy=gettext("Give the bot these permissions there, and choose it again.", locale))


def check_watched_channels(guild: discord.Guild, channel_ids: tuple[str, ...], locale: str) -> None:
    """Refuse channels that not everybody can read: from there nothing is taken.

    Raises:
        BadInput: which they are.
    """
    channels = [guild.get_channel(int(channel_id)) for channel_id in channel_ids]
    private = [channel.mention for channel in channels if channel is not None and is_private(channel)]
    if private:
        raise BadInput(
            gettext("Not everybody can see {channels}.", locale, channels=", ".join(private)),
            remedy=gettext("Antiphon watches only channels that @everyone can view. Choose others.", locale),
        )
