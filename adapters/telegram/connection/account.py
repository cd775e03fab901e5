"""Asking Telegram about one bot account: whether its token is accepted, and where its updates go.

Only one program may ask for updates at a time: ``look`` asks for none, and ``groups_told_of`` takes none.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from telegram.constants import ChatType

from adapters.telegram.connection.client import PUBLIC_API, TelegramClient, TelegramOptions
from adapters.telegram.connection.error_meanings import FAULTS, of_connection

_GROUPS: Final = (ChatType.GROUP, ChatType.SUPERGROUP)


@dataclass(frozen=True, slots=True)
class TelegramAccount:
    """A bot account.

    Attributes:
        name: as people write it, with the @.
        webhook: where Telegram sends its updates; "" where they are asked for.
    """

    name: str
    webhook: str


async def look(token: str, api_url: str = PUBLIC_API) -> TelegramAccount:
    """Ask who the bot is, and where its updates go.

    Raises:
        BadSettings: Telegram does not accept the token, or it has not a token's form.
        PlatformUnavailable: Telegram cannot be reached.
    """
    async with _client_of(token, api_url) as client:
        info = await client.bot.get_webhook_info()
    return TelegramAccount(f"@{client.bot.username}", info.url)


async def groups_told_of(token: str, api_url: str = PUBLIC_API) -> dict[int, str]:
    """The groups that waiting updates tell of, such as one that the bot was added to: their titles by their ids.

    Telegram gives the oldest hundred updates, which go on waiting.

    Raises:
        BadSettings: Telegram does not accept the token, or it has not a token's form.
        PlatformUnavailable: Telegram cannot be reached, or the updates go to another program.
    """
    async with _client_of(token, api_url) as client:
        updates = await client.bot.get_updates(timeout=0)
    chats = [update.effective_chat for update in updates]
    return {chat.id: chat.title or "" for chat in chats if chat is not None and chat.type in _GROUPS}


@asynccontextmanager
async def _client_of(token: str, api_url: str) -> AsyncIterator[TelegramClient]:
    client = TelegramClient(TelegramOptions(token, api_url))
    try:
        await client.open()
        yield client
    except FAULTS as err:
        raise of_connection(err) from err
    finally:
        await client.close()
