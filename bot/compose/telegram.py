"""Puts the Telegram platform together: settings in, a platform that can be served out."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from adapters.common.arrivals import UpdateHandler
from adapters.telegram.capture import events
from adapters.telegram.connection.client import TelegramClient, TelegramOptions
from adapters.telegram.connection.refs import NAME
from adapters.telegram.connection.updates import TelegramDispatcher, UpdatePoll
from adapters.telegram.manage import commands
from adapters.telegram.manage.groups import GroupMoves
from adapters.telegram.platform import TelegramPlatform, TelegramRoles
from adapters.telegram.review import presses
from adapters.telegram.review.surface import TelegramNotifier, TelegramReviewSurface
from adapters.telegram.speech import MAX_CHARACTERS
from bot.serve.platforms import Connection, ServedPlatform, Services
from bot.serve.supervision import cancel_all, first_of, wait_for_end
from bot.settings import Settings, TelegramSettings
from core.desk.communities.governance import Governance
from core.desk.review.casework import Casework
from core.errors import PlatformUnavailable

_LOG = logging.getLogger(__name__)
MakeClient = Callable[[TelegramOptions, Casework, Governance], TelegramClient]


def telegram_platform(settings: Settings, make_client: MakeClient = TelegramClient) -> ServedPlatform:
    """Every group that the bot is in, as one platform."""
    connect = partial(_connected, settings.telegram, make_client)
    return ServedPlatform(NAME, MAX_CHARACTERS, connect, has_roles=True)


@asynccontextmanager
async def _connected(
    wanted: TelegramSettings, make_client: MakeClient, services: Services
) -> AsyncIterator[Connection]:
    """A client of its own, which hears updates until the block is over.

    That a group has another id is heard before anything is made of what is written there, and an answer to a prompt
    before anything else is made of it.

    Raises:
        BadSettings: Telegram refuses the token.
        PlatformUnavailable: Telegram cannot be reached, or sends updates elsewhere.
    """
    options = TelegramOptions(wanted.token.get_secret_value(), wanted.api_url.rstrip("/"))
    client = make_client(options, services.casework, services.governance)
    inbox = services.inbox(NAME, client.own_id())
    async with AsyncExitStack() as stack:
        stack.push_async_callback(client.close)
        await client.open()
        moves = GroupMoves(client)
        moves.listen()
        stack.push_async_callback(moves.close)
        surface = TelegramReviewSurface(client, elsewhere=services.address_of)
        presses.install(client, surface)
        captured = events.Capture(client, services.detector)
        stack.push_async_callback(captured.close)
        commands.install(client, detector=services.detector, left_out=lambda: captured.left_out)
        await _tell_commands(client)
        handling = UpdateHandler(TelegramDispatcher(client), inbox)
        stack.push_async_callback(handling.close)
        polling = UpdatePoll(client, inbox, handling.wake)
        await polling.open()
        running = asyncio.create_task(first_of(polling.run(), handling.run()))
        stack.push_async_callback(cancel_all, [running])
        platform, roles, notifier = TelegramPlatform(client), TelegramRoles(client), TelegramNotifier(client)
        end, named = partial(wait_for_end, running), client.name_of
        yield Connection(platform, roles, surface, notifier, end, _invitation(client), name_of=named)


async def _tell_commands(client: TelegramClient) -> None:
    try:
        await commands.tell_commands(client)
    except PlatformUnavailable as err:
        _LOG.warning("Telegram was not told of the commands; it is tried again at the next start: %s", err)


def _invitation(client: TelegramClient) -> str:
    return f"To add it to a group, open https://t.me/{client.bot.username}?startgroup=1"
