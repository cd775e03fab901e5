"""Cards in a review channel: shown once for each case, and edited in place.

Owns the place of a card, and never shows an older version than the one there, nor a word of a case in a channel that
everybody can see. Writes with the bot's own rights, since the token of an interaction ends after fifteen minutes, and
pings nobody. Decides nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import discord

from adapters.common.cards.shown import ShownCards
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.error_meanings import FAULTS, UNKNOWN_MESSAGE
from adapters.discord.connection.events import listen
from adapters.discord.connection.places import Place, place_of, seen_by_all
from adapters.discord.connection.refs import NAME
from adapters.discord.review.layout import card_layout
from adapters.discord.review.refusals import (
    channel_closed,
    channel_gone,
    is_of_old_message,
    is_out_of_reach,
    lacking_in,
    of_card,
    old_card,
    seen_by_everybody,
)
from core.errors import PlatformBusy, PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef
from core.moderation.approval import CLOSED
from core.moderation.cards import Card
from core.moderation.platforms import Looked

_TRIES: Final = 2
_PAGE: Final = 100
_NONCE_CHARACTERS: Final = 25
_NOBODY: Final = discord.AllowedMentions.none()


class DiscordReviewSurface:
    """A ``core.moderation.platforms.ReviewSurface`` over a connected client.

    A card has many readers: it speaks the language that the community chose, or else the one that its server has set.
    """

    def __init__(self, client: AntiphonClient) -> None:
        self._client = client
        self._shown = ShownCards()
        self._changed: set[str] = set()
        self._unheard: set[str] = set()

    def listen(self) -> None:
        """Hear when a channel's or a role's rights change, and of servers where nobody heard of that for a while."""
        listen(self._client, "guild_channel_update", self._channel_changed)
        listen(self._client, "guild_role_update", self._role_changed)
        listen(self._client, "guild_role_delete", self._role_gone)
        listen(self._client, "guild_channel_delete", self._channel_gone)
        listen(self._client, "ready", self._all_changed)
        listen(self._client, "guild_available", self._is_there)
        listen(self._client, "guild_join", self._is_there)

    def changed(self) -> frozenset[str]:
        """The servers in which channels or rights changed since the last call."""
        changed, self._changed = frozenset(self._changed), set()
        return changed

    def unheard(self) -> frozenset[str]:
        """The servers that came with a new session, or that were away; a session taken up again repeats its events."""
        unheard, self._unheard = frozenset(self._unheard), set()
        return unheard

    async def look(self, cards: Sequence[PostRef]) -> Looked:
        """Look at the newest of the cards, and at all that a page of the channel's history shows before it."""
        community, channel = cards[0].community, cards[0].channel
        await self.check(community, channel)  # without the right to read the history, it only looks empty
        newest = discord.Object(max(_id(card.message) for card in cards) + 1)
        place = self._client.get_partial_messageable(_id(channel))
        try:
            with self._client.requests.alone():
                page = [message.id async for message in place.history(limit=_PAGE, before=newest)]
        except FAULTS as err:
            raise of_card(err, self._client, channel) from err
        reached = min(page) if len(page) == _PAGE else 0
        seen = frozenset(card for card in cards if _id(card.message) >= reached)
        standing = frozenset(card for card in seen if _id(card.message) in page)
        return Looked(standing, seen - standing)

    async def check(self, community: str, channel: str) -> None:
        """Look whether cards may be shown in a channel; ``core.moderation.platforms.ReviewSurface`` says the rest."""
        guild = self._client.get_guild(_id(community))
        if guild is None or guild.unavailable:
            return
        place = guild.get_channel_or_thread(_id(channel))
        if place is None:
            raise channel_gone()
        await self._require_few_readers(place)
        if lacking := lacking_in(place):
            raise channel_closed(lacking)

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, or edit the one that is there; ``core.moderation.platforms.ReviewSurface`` says the rest."""
        if shown is None:
            return await self._show_anew(card, channel, None)
        if shown.channel != channel and card.state not in CLOSED:
            place = await self._show_anew(card, channel, shown)
            await self._remove(shown)
            return place
        leftover: PostRef | None = None
        try:
            await self._check_readers(card, shown.channel)
            if await self._edit(card, shown) or card.state in CLOSED:
                return shown
        except PlatformUnavailable:
            if shown.channel == channel:
                raise
            leftover = shown  # An earlier channel is open to everybody by now.
        except FAULTS as err:
            if is_of_old_message(err):
                if card.state in CLOSED and card.post.text:
                    raise old_card() from err
                leftover = shown
            elif shown.channel == channel or not is_out_of_reach(err):
                raise of_card(err, self._client, channel) from err
            # Else it is in an earlier channel, which was deleted or closed to us since.
        place = await self._show_anew(card, channel, shown)
        if leftover is not None:
            await self._remove(leftover)
        return place

    async def _show_anew(self, card: Card, channel: str, gone: PostRef | None) -> PostRef:
        await self._check_readers(card, channel)
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
        """Replace the card that is there; one that is gone stays gone. Raises as ``show``.

        A card that cannot be changed at this moment is left to ``show``, which follows every change of a case.
        """
        await self._check_readers(card, place.channel)
        try:
            await self._edit(card, place)
        except FAULTS as err:
            meant = of_card(err, self._client, place.channel)
            if not isinstance(meant, PlatformBusy):
                raise meant from err

    async def _check_readers(self, card: Card, channel: str) -> None:
        """Refuse to show a card that has words of a post where everybody can read them, or where nobody knows."""
        if not card.post.text:
            return
        known, guild = self._client.get_channel(_id(channel)), self._client.get_guild(_id(card.community))
        place = known if known is not None or guild is None else await place_of(guild, _id(channel))
        if place is None and guild is not None:
            raise channel_gone()
        if isinstance(place, Place):
            await self._require_few_readers(place)

    async def _require_few_readers(self, place: Place) -> None:
        channel = place.parent if isinstance(place, discord.Thread) else place
        everybody = (await self._client.desk.policies.soon(str(place.guild.id))).everybody_role
        if channel is not None and (roles := seen_by_all(channel, everybody)):
            raise seen_by_everybody(channel, roles)

    async def _remove(self, place: PostRef) -> None:
        """Delete a card that stands somewhere else by now; what cannot be deleted stays as it is."""
        message = self._client.get_partial_messageable(_id(place.channel)).get_partial_message(_id(place.message))
        with suppress(*FAULTS), self._client.requests.alone():
            await message.delete()

    async def _send(self, card: Card, channel: int, gone: PostRef | None) -> int:
        with self._client.requests.alone():
            message = await self._client.get_partial_messageable(channel).send(
                view=card_layout(card, self._language_of(card), covers_all=True),
                nonce=nonce_of(card.case_id, str(channel), gone.message if gone is not None else ""),
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
            message = channel.get_partial_message(_id(place.message))
            try:
                with self._client.requests.alone():
                    await message.edit(view=card_layout(card, self._language_of(card)), allowed_mentions=_NOBODY)
            except discord.NotFound as err:
                if err.code != UNKNOWN_MESSAGE:
                    raise
                return False
            known.version = card.version
            return True

    async def _channel_changed(self, _before: object, after: discord.abc.GuildChannel) -> None:
        self._changed.add(str(after.guild.id))

    async def _channel_gone(self, channel: discord.abc.GuildChannel) -> None:
        self._changed.add(str(channel.guild.id))

    async def _role_changed(self, _before: object, after: discord.Role) -> None:
        self._changed.add(str(after.guild.id))

    async def _role_gone(self, role: discord.Role) -> None:
        self._changed.add(str(role.guild.id))

    async def _all_changed(self) -> None:
        guilds = {str(guild.id) for guild in self._client.guilds}
        self._changed |= guilds
        self._unheard |= guilds

    async def _is_there(self, guild: discord.Guild) -> None:
        self._unheard.add(str(guild.id))

    def _language_of(self, card: Card) -> str:
        if card.community_language is not None:
            return card.community_language
        guild = self._client.get_guild(_id(card.community))
        return str(guild.preferred_locale) if guild is not None else "en"


def nonce_of(*parts: str) -> str:
    """The same for the same card in the same place; another one once that card was deleted."""
    return base64.b32encode(hashlib.sha256(":".join(parts).encode()).digest()).decode()[:_NONCE_CHARACTERS]


def _id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise PlatformUnavailable(
            sentence("The review channel is not on Discord."),
            remedy=sentence("A manager chooses one with /antiphon setup."),
        )
    return int(text)
