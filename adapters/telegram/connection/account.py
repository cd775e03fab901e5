"""Asking Telegram about one bot account: whether its token is accepted, and where its updates go.

Asks for no updates, which only one program may do at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from adapters.telegram.connection.client import PUBLIC_API, TelegramClient, TelegramOptions
from adapters.telegram.connection.error_meanings import FAULTS, of_connection


@dataclass(frozen=True, slots=True)
class TelegramAccount:
    """A bot account.

    Attributes:
        name: as people write it, with the @.
        webhook: where Telegram sends its updates; "" where they are asked for.
        waiting: how many updates were not taken yet.
        fault: what Telegram met when it last tried to deliver some that still wait, in its own words; "" for nothing.
    """

    name: str
    webhook: str
    waiting: int
    fault: str


async def look(token: str, api_url: str = PUBLIC_API) -> TelegramAccount:
    """Ask who the bot is, and where its updates go.

    Raises:
        BadSettings: Telegram does not accept the token, or it has not a token's form.
        PlatformUnavailable: Telegram cannot be reached.
    """
    client = TelegramClient(TelegramOptions(token, api_url))
    try:
        await client.open()
        info = await client.bot.get_webhook_info()
    except FAULTS as err:
        raise of_connection(err) from err
    finally:
        await client.close()
    waiting = info.pending_update_count
    fault = (info.last_error_message or "no answer").rstrip(".") if waiting and info.last_error_date else ""
    return TelegramAccount(f"@{client.bot.username}", info.url, waiting, fault)
