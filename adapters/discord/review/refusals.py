"""What Discord's refusals mean for a card that is to be shown.

Owns the translation into ``core.errors``, with a remedy that a community's manager can follow. Cards are shown under a
nonce and edited in place, so that a call of unknown outcome is simply made again: it counts as busy.
"""

from __future__ import annotations

from typing import Final

import discord

from adapters.discord.connection.places import Place
from adapters.discord.connection.requests import OLD_MESSAGE, OldMessage, RequestFailed, RequestRepeated
from core.errors import CardRefused, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import Sentence, listed, sentence

_NEEDED: Final = {
    "view_channel": sentence("View Channel"),
    "send_messages": sentence("Send Messages"),
    "send_messages_in_threads": sentence("Send Messages in Threads"),
    "read_message_history": sentence("Read Message History"),
}
_AGAIN_SECONDS: Final = 5.0


def is_of_old_message(err: Exception) -> bool:
    """Whether Discord lets nobody edit this message for now, because it is older than an hour."""
    return isinstance(err, OldMessage) or (isinstance(err, discord.HTTPException) and err.code == OLD_MESSAGE)


def old_card() -> CardRefused:
    """A card that cannot be changed for now, and need not be shown anew."""
    return CardRefused(
        sentence("Discord lets an old card be changed a few times only."),
        remedy=sentence("Antiphon tries again by itself."),
    )


def seen_by_everybody(channel: discord.abc.GuildChannel, roles: list[str]) -> PlatformUnavailable:
    """The review channel is open: nothing hateful is shown there, for whatever reason it was opened."""
    return PlatformUnavailable(
        sentence("Everybody can see {channel}: cases are not shown there.", channel=f"#{channel.name}"),
        remedy=sentence(
            "In the channel's settings take View Channel away from {roles}, or choose another channel with /antiphon "
            "setup.",
            roles=", ".join(roles),
        ),
    )


def channel_gone() -> PlatformUnavailable:
    """The review channel was deleted."""
    return PlatformUnavailable(
        sentence("The review channel is gone."), remedy=sentence("A manager chooses another one with /antiphon setup.")
    )


def channel_closed(permissions: list[Sentence]) -> PlatformUnavailable:
    """We lack permissions in the review channel."""
    return PlatformUnavailable(
        sentence("Antiphon may not write in the review channel."),
        remedy=sentence("In the channel's settings, allow Antiphon: {permissions}.", permissions=listed(permissions)),
    )


def is_out_of_reach(err: Exception) -> bool:
    """Whether a channel was deleted, or is closed to us."""
    return isinstance(err, discord.NotFound | discord.Forbidden)


def of_card(err: Exception, client: discord.Client, channel: str) -> PlatformBusy | PlatformUnavailable:
    """What went wrong when a card was shown in a channel, and what to do about it."""
    if isinstance(err, discord.RateLimited):
        return _busy(err.retry_after)
    if isinstance(err, discord.HTTPException) and err.status < 500:
        return _busy(_AGAIN_SECONDS) if err.status == 429 else _refused(err, client, channel)
    if isinstance(err, RequestFailed | RequestRepeated):
        return _busy(_AGAIN_SECONDS)
    if isinstance(err, discord.DiscordException) and not isinstance(err, discord.HTTPException):
        return PlatformUnavailable(
            sentence("Discord's library refused to show the card."), remedy=sentence("Look into Antiphon's log.")
        )
    return _busy(_AGAIN_SECONDS)


def _busy(seconds: float) -> PlatformBusy:
    return PlatformBusy(
        sentence("Discord does not take the card now."),
        remedy=sentence("Antiphon tries again by itself."),
        retry_after_seconds=seconds,
    )


def _refused(err: discord.HTTPException, client: discord.Client, channel: str) -> PlatformUnavailable:
    if isinstance(err, discord.NotFound):
        return channel_gone()
    if isinstance(err, discord.Forbidden):
        return channel_closed(_missing(client, channel))
    if err.status == 401:
        return PlatformUnavailable(
            sentence("Discord does not know the bot's token."), remedy=sentence("Give Antiphon a valid token.")
        )
    return PlatformUnavailable(
        sentence("Discord refused the card (status {status}, code {code}).", status=err.status, code=err.code),
        remedy=sentence("Update Antiphon; the card can be seen on the desk meanwhile."),
    )


def _missing(client: discord.Client, channel: str) -> list[Sentence]:
    """The permissions that we lack there by what we know of the channel; all that we need where we know nothing."""
    found = client.get_channel(int(channel))
    if isinstance(found, discord.abc.GuildChannel | discord.Thread):
        return lacking_in(found) or list(_needed_in(found).values())
    return list(_NEEDED.values())


def lacking_in(place: Place) -> list[Sentence]:
    """The permissions that we lack in a channel or thread, by what we know of it."""
    granted = place.permissions_for(place.guild.me)
    return [said for name, said in _needed_in(place).items() if not getattr(granted, name)]


def _needed_in(place: Place) -> dict[str, Sentence]:
    other = "send_messages" if isinstance(place, discord.Thread) else "send_messages_in_threads"
    return {name: said for name, said in _NEEDED.items() if name != other}
