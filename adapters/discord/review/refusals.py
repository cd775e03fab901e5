"""What Discord's refusals mean for a card that is to be shown.

Owns the translation into ``core.errors``, with a remedy that a community's manager can follow. Cards are shown under a
nonce and edited in place, so that a call of unknown outcome is simply made again: it counts as busy.
"""

from __future__ import annotations

from typing import Final

import discord

from core.errors import PlatformBusy, PlatformUnavailable
from core.i18n.sentences import Sentence, listed, sentence

_NEEDED: Final = {
    "view_channel": sentence("View Channel"),
    "send_messages": sentence("Send Messages"),
    "send_messages_in_threads": sentence("Send Messages in Threads"),
    "read_message_history": sentence("Read Message History"),
}
_AGAIN_SECONDS: Final = 5.0


def is_out_of_reach(err: Exception) -> bool:
    """Whether a channel was deleted, or is closed to us."""
    return isinstance(err, discord.NotFound | discord.Forbidden)


def of_card(err: Exception, client: discord.Client, channel: str) -> PlatformBusy | PlatformUnavailable:
    """What went wrong when a card was shown in a channel, and what to do about it."""
    if isinstance(err, discord.RateLimited):
        return _busy(err.retry_after)
    if isinstance(err, discord.HTTPException) and err.status < 500:
        return _busy(_AGAIN_SECONDS) if err.status == 429 else _refused(err, client, channel)
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
        return PlatformUnavailable(
            sentence("The review channel is gone."),
            remedy=sentence("A manager chooses another one with /antiphon setup."),
        )
    if isinstance(err, discord.Forbidden):
        return PlatformUnavailable(
            sentence("Antiphon may not write in the review channel."),
            remedy=sentence(
                "In the channel's settings, allow Antiphon: {permissions}.",
                permissions=listed(_missing(client, channel)),
            ),
        )
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
    needed = dict(_NEEDED)
    if isinstance(found, discord.abc.GuildChannel | discord.Thread):
        needed.pop("send_messages" if isinstance(found, discord.Thread) else "send_messages_in_threads")
        granted = found.permissions_for(found.guild.me)
        lacking = [said for name, said in needed.items() if not getattr(granted, name)]
        return lacking or list(needed.values())
    return list(needed.values())
