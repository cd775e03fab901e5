"""One bot account: whether Discord accepts its token, and whether it may read messages.

No gateway is opened, so that Discord can be asked while the account is connected elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import discord

from adapters.discord.connection.client import AntiphonClient, DiscordOptions
from adapters.discord.connection.error_meanings import FAULTS, of_connection


@dataclass(frozen=True, slots=True)
class DiscordAccount:
    """A bot account: its name, and the id of the application that it belongs to."""

    name: str
    application_id: int


async def look(token: str, *, reads_messages: bool) -> DiscordAccount:
    """Log in over HTTP, and ask what the application is allowed.

    Args:
        reads_messages: whether the message-content intent is needed.

    Raises:
        BadSettings: Discord does not accept the token, or does not let the bot read messages.
        PlatformUnavailable: Discord cannot be reached.
    """
    client = AntiphonClient(DiscordOptions(reads_messages=reads_messages))
    try:
        await client.login(token)
        application = await client.application_info()
    except FAULTS as err:
        raise of_connection(err) from err
    finally:
        await client.close()
    flags = application.flags
    if reads_messages and not (flags.gateway_message_content or flags.gateway_message_content_limited):
        raise of_connection(discord.PrivilegedIntentsRequired(None))
    return DiscordAccount(str(client.user), application.id)
