"""Cards in a review channel: shown once for each case, and edited in place.

Owns the place of a card, and never shows an older version than the one there. Writes with the bot's own rights, since
the token of an interaction ends after fifteen minutes, and pings nobody. Decides nothing.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Final

import discord

from adapters.common.cards.shown import ShownCards
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.error_meanings import FAULTS, UNKNOWN_MESSAGE
from adapters.discord.connection.refs import NAME
from adapters.discord.review.layout import card_layout
from adapters.discord.review.refusals import is_out_of_reach, of_card
from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef
from core.moderation.cards import Card

_TRIES: Final = 2
_NONCE_CHARACTERS: Final = 25
_NOBODY: Final = discord.AllowedMentions.none()


class DiscordReviewSurface:
    """A ``core.moderation.platforms.ReviewSurface`` over a connected client.

    A card has many readers: it speaks the language that the community chose, or else the one that its server has set.
    """

    def __init__(self, client: AntiphonClient) -> None:
        self._client = client
        self._shown = ShownCards()

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, or edit the one that is there; ``core.moderation.platforms.ReviewSurface`` says the rest."""
        try:
            if shown is not None and await self._edit(card, shown):
                return shown
        except FAULTS as err:
            if shown is None or shown.channel == channel or not is_out_of_reach(err):
                raise of_card(err, self._client, channel) from err
            # It is in an earlier channel, which was deleted or closed to us since.
        return await self._show_anew(card, channel, shown)

    async def _show_anew(self, card: Card, channel: str, gone: PostRef | None) -> PostRef:
        try:
            for _ in range(_TRIES):
                place = PostRef(NAME, card.community, channel, str(await self._send(card, _id(channel), gone)))
                if await self._edit(card, place):
                    return place
                gone = place
        except FAULTS as err:
            raise of_card(err, self._client, channel) from err
        raise PlatformUnavailable(
            sentence("A card is deleted as soon as it is shown."),
            remedy=sentence("Let no other bot delete messages in the review channel."),
        )

    async def update(self, card: Card, place: PostRef) -> None:
        """Replace the card that is there; one that is gone stays gone. Raises as ``show``."""
        try:
            await self._edit(card, place)
        except FAULTS as err:
            raise of_card(err, self._client, place.channel) from err

    async def _send(self, card: Card, channel: int, gone: PostRef | None) -> int:
        message = await self._client.get_partial_messageable(channel).send(
            view=card_layout(card, self._language_of(card), covers_all=True),
            nonce=_nonce(card.case_id, str(channel), gone.message if gone is not None else ""),
            allowed_mentions=_NOBODY,
        )
        return message.id

    async def _edit(self, card: Card, place: PostRef) -> bool:
        """Edit the message; returns whether it is still there."""
        known = self._shown.of(place.message)
        async with known.lock:
            if card.version < known.version:
                return True
            channel = self._client.get_partial_messageable(_id(place.channel))
            try:
                await channel.get_partial_message(_id(place.message)).edit(
                    view=card_layout(card, self._language_of(card)), allowed_mentions=_NOBODY
                )
            except discord.NotFound as err:
                if err.code != UNKNOWN_MESSAGE:
                    raise
                return False
            known.version = card.version
            return True

    def _language_of(self, card: Card) -> str:
        if card.community_language is not None:
            return card.community_language
        guild = self._client.get_guild(_id(card.community))
        return str(guild.preferred_locale) if guild is not None else "en"


def _nonce(*parts: str) -> str:
    """The same for the same card in the same place; another one once that card was deleted."""
    return base64.b32encode(hashlib.sha256(":".join(parts).encode()).digest()).decode()[:_NONCE_CHARACTERS]


def _id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise PlatformUnavailable(
            sentence("The review channel is not on Discord."),
            remedy=sentence("A manager chooses one with /antiphon setup."),
        )
    return int(text)
