"""A manager on Discord, and what only Discord knows about a server: its channels, roles and our rights there.

Every right is asked for again at each use: somebody to whom a command is shown may lack the right to it.
"""

from dataclasses import dataclass
from typing import Final

import discord

from adapters.common.manage.managers import Manager
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.refs import NAME, everybody_in, is_private, seen_by_all
from adapters.discord.speech import Interaction, is_emoji, reader_language, reader_of, speak
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Person, Role
from core.errors import BadInput, NotAllowed
from core.i18n.catalogs import gettext, language_of

FOR_REVIEW: Final = ("view_channel", "send_messages", "embed_links", "read_message_history")
"""What the bot needs in the review channel, by Discord's names."""
FOR_REPLIES: Final = ("view_channel", "send_messages", "read_message_history")
"""What it needs where it watches and answers."""


_RIGHTS_OF_FEW: Final = discord.Permissions(
    administrator=True,
    manage_guild=True,
    manage_roles=True,
    manage_channels=True,
    manage_messages=True,
    kick_members=True,
    ban_members=True,
    moderate_members=True,
)
"""The rights that a role of everybody does not give."""


@dataclass(frozen=True, slots=True)
class ServerManager(Manager):
    guild: discord.Guild


async def manager_of(client: AntiphonClient, interaction: Interaction) -> ServerManager:
    """The person who uses a command, before their rights are checked.

    Raises:
        NotAllowed: the bot is not in this server.
    """
    guild = None if interaction.guild_id is None else client.get_guild(interaction.guild_id)
    if guild is None:
        locale = reader_language(interaction.locale.value, None)
        raise NotAllowed(
            gettext("Antiphon is managed in a server.", locale),
            remedy=gettext("Use the command in a server that Antiphon was added to.", locale),
        )
    language = (await client.desk.governance.policy(NAME, str(guild.id))).language
    user = interaction.user
    is_owner = guild.owner_id == user.id or interaction.permissions.administrator
    person = Person(NAME, str(user.id), user.display_name)
    locale = reader_language(interaction.locale.value, language)
    speak(interaction, locale)
    return ServerManager(str(guild.id), person, is_owner, reader_of(locale), guild)


@dataclass(frozen=True, slots=True)
class Server:
    """Implements ``adapters.common.manage.managers.CommunityFacts``.

    ``reads_messages`` says whether the operator asked Discord for the message-content intent.
    """

    guild: discord.Guild
    reads_messages: bool

    @property
    def quotes(self) -> bool:
        """Discord refuses no reply for words of the post."""
        return False

    @property
    def card_language(self) -> str:
        return language_of(str(self.guild.preferred_locale))

    def lacking(self, policy: CommunityPolicy, locale: str) -> list[str]:
        """What the bot lacks in the channels that the community chose, in sentences; none if all is well."""
        sentences = [_lack(self.guild, channel, FOR_REPLIES, locale) for channel in policy.watched_channels]
        if policy.review_channel:
            sentences.insert(0, _lack(self.guild, policy.review_channel, FOR_REVIEW, locale))
        if policy.everybody_role and not self._has_role(policy.everybody_role):
            sentences.append(
                gettext("The role that was everybody's is gone. Choose another with /antiphon setup.", locale)
            )
        sentences += [
            _mute(self.guild, role, policy.review_channel, locale) for role in sorted(set(policy.calls.values()))
        ]
        return [sentence for sentence in sentences if sentence]

    def unread(self, locale: str) -> str:
        """What does not work without the message-content intent, and who can change it."""
        if self.reads_messages:
            return ""
        return gettext(
            "Watched channels, the flag reaction and AutoMod do nothing yet: this bot may not read messages. Who runs "
            "it switches on the Message Content Intent in Discord's developer portal and in config.toml.",
            locale,
        )

    def check_review_channel(self, channel: str, policy: CommunityPolicy, locale: str) -> None:
        review = self.guild.get_channel(int(channel))
        seen_by = [] if review is None else seen_by_all(review, policy.everybody_role)
        if review is not None and seen_by:
            raise BadInput(
                gettext(
                    "Everybody can see {channel}: hateful posts and drafts would be shown there.",
                    locale,
                    channel=review.mention,
                ),
                remedy=gettext(
                    "In the channel's settings take View Channel away from {roles}, give it to the moderators and to "
                    "this bot, and choose it again.",
                    locale,
                    roles=", ".join(seen_by),
                ),
            )
        lack = _lack(self.guild, channel, FOR_REVIEW, locale)
        if lack:
            raise BadInput(lack, remedy=gettext("Give the bot these permissions there, and choose it again.", locale))

    def check_watched_channels(self, channels: tuple[str, ...], policy: CommunityPolicy, locale: str) -> None:
        """Refuse channels that not everybody can read: from there nothing is taken."""
        places = [self.guild.get_channel(int(channel)) for channel in channels]
        everybody = policy.everybody_role
        private = [channel.mention for channel in places if channel is not None and is_private(channel, everybody)]
        if private:
            raise BadInput(
                gettext("Not everybody can see {channels}.", locale, channels=", ".join(private)),
                remedy=gettext(
                    "Antiphon watches only channels that {role} can view. Choose others, or change Everybody's role.",
                    locale,
                    role=everybody_in(self.guild, everybody).name,
                ),
            )

    def check_everybody(self, role: str, policy: CommunityPolicy, locale: str) -> None:
        """Refuse a role that only some people have: what they see would count as seen by everybody."""
        everybody = self.guild.get_role(int(role))
        if everybody is None:
            raise BadInput(
                gettext("The server has no such role.", locale),
                remedy=gettext("Choose the role that all members have but newcomers.", locale),
            )
        rights = everybody.permissions & _RIGHTS_OF_FEW
        if everybody.managed or rights.value or policy.roles.get(role, Role.VOLUNTEER) is not Role.VOLUNTEER:
            raise BadInput(
                gettext("The role {role} gives rights that not everybody has.", locale, role=everybody.name),
                remedy=gettext("Choose the role that all members have but newcomers.", locale),
            )
        review = self.guild.get_channel(int(policy.review_channel)) if policy.review_channel.isdecimal() else None
        if review is not None and review.permissions_for(everybody).view_channel:
            raise BadInput(
                gettext(
                    "Who has the role {role} can see {channel}, where cases are reviewed.",
                    locale,
                    role=everybody.name,
                    channel=review.mention,
                ),
                remedy=gettext("Take View Channel away from the role there, or choose another role.", locale),
            )

    def check_roles(self, role: Role, chosen: tuple[str, ...], policy: CommunityPolicy, locale: str) -> None:
        """Refuse to let everybody review or manage; the default role has the server's own number."""
        for everybody in (self.guild.default_role, everybody_in(self.guild, policy.everybody_role)):
            if str(everybody.id) in chosen and role is not Role.VOLUNTEER:
                raise BadInput(
                    gettext("{role} cannot review replies or manage Antiphon.", locale, role=everybody.name),
                    remedy=gettext("Choose a role that only those people have.", locale),
                )

    def check_called(self, role: str, policy: CommunityPolicy, locale: str) -> None:
        """Refuse to call everybody, or a role that the server does not have."""
        if not self._has_role(role):
            raise BadInput(
                gettext("The server has no such role.", locale),
                remedy=gettext("Choose the role of the people who decide cases.", locale),
            )
        if role in {str(self.guild.id), policy.everybody_role}:
            raise BadInput(
                gettext("Everybody has this role, and everybody would be called.", locale),
                remedy=gettext("Choose the role of the people who decide cases.", locale),
            )

    def check_reaction(self, emoji: str, locale: str) -> None:
        if not is_emoji(emoji):
            raise BadInput(
                gettext("This is not a single emoji.", locale),
                remedy=gettext("Type one emoji, such as 🚩, or one of this server as <:name:number>.", locale),
            )

    def _has_role(self, role: str) -> bool:
        return role.isdecimal() and self.guild.get_role(int(role)) is not None

    def reaction_hint(self, locale: str) -> str:
        """How an emoji of Unicode, or of the server, is typed."""
        return gettext("One emoji; empty for none. For one of this server: <:name:number>", locale)


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


def _mute(guild: discord.Guild, role_id: str, review_channel: str, locale: str) -> str:
    """Why a role that is to be called hears nothing; "" if it does."""
    role = guild.get_role(int(role_id)) if role_id.isdecimal() else None
    if role is None:
        return gettext("The role with the number {id}, which is to be called to cases, is gone.", locale, id=role_id)
    channel = guild.get_channel(int(review_channel)) if review_channel.isdecimal() else None
    if role.mentionable or channel is None or channel.permissions_for(guild.me).mention_everyone:
        return ""
    return gettext(
        "{role} is not notified when it is called to a case: let anyone mention this role, in the role's settings.",
        locale,
        role=role.mention,
    )
