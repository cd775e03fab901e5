"""Notices on Discord: a role is called in the review channel, an approver is told in a direct message.

A notice mentions the one role or person, and nobody else.
"""

from __future__ import annotations

from typing import Final

import discord

from adapters.common.words.notices import notice_text
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.error_meanings import FAULTS, of_send
from adapters.discord.review.surface import nonce_of
from adapters.discord.speech.markup import reader_of
from core.desk.rules.policy import Notice
from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence

_NOBODY: Final = discord.AllowedMentions.none()


class DiscordNotifier:
    """A ``core.desk.rules.platforms.Notifier`` over a connected client."""

    def __init__(self, client: AntiphonClient) -> None:
        self._client = client

    async def call(self, notice: Notice, role: str) -> None:
        """Mention one role below the card."""
        if not (role.isascii() and role.isdecimal()) or role == notice.community:
            raise PlatformUnavailable(
                sentence("There is no role {role} that can be called.", role=role),
                remedy=sentence("Choose another with /antiphon setup."),
            )
        mentioned = discord.AllowedMentions(
            everyone=False, users=False, roles=[discord.Object(int(role))], replied_user=False
        )
        await self._below_the_card(notice, f"<@&{role}>", mentioned)

    async def tell(self, notice: Notice, user: str) -> None:
        """Tell a person in a direct message; a reviewer who takes none is mentioned below the card."""
        try:
            person = discord.Object(int(user))
            channel = await self._client.create_dm(person)
            await channel.send(
                self._words(notice), nonce=nonce_of(notice.key), suppress_embeds=True, allowed_mentions=_NOBODY
            )
        except discord.Forbidden:
            if notice.outcome is not None:
                return
            mentioned = discord.AllowedMentions(everyone=False, users=[person], roles=False, replied_user=False)
            await self._below_the_card(notice, f"<@{user}>", mentioned)
        except FAULTS as err:
            raise of_send(err, is_sent=True) from err

    async def _below_the_card(self, notice: Notice, mention: str, mentioned: discord.AllowedMentions) -> None:
        card = notice.card
        channel = self._client.get_partial_messageable(int(card.channel))
        reference = discord.MessageReference(
            message_id=int(card.message), channel_id=int(card.channel), fail_if_not_exists=False
        )
        try:
            await channel.send(
                f"{mention} {self._words(notice)}",
                reference=reference,
                nonce=nonce_of(notice.key, mention),
                suppress_embeds=True,
                allowed_mentions=mentioned,
            )
        except FAULTS as err:
            raise of_send(err, is_sent=True) from err

    def _words(self, notice: Notice) -> str:
        guild = self._client.get_guild(int(notice.community))
        language = notice.language or (str(guild.preferred_locale) if guild is not None else "en")
        return notice_text(notice, reader_of(language), "" if guild is None else guild.name)
