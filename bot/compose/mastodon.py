"""Puts the Mastodon platform together: settings in, a platform that can be served out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from adapters.common.arrivals import UpdateHandler
from adapters.mastodon import capture
from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.notifications import NotificationPoll
from adapters.mastodon.connection.refs import NAME, full_name_of
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.connection.updates import MastodonDispatcher
from adapters.mastodon.platform import MastodonPlatform
from adapters.mastodon.reports import ReportDispatcher, ReportFeed, ReportFollower, Reports
from adapters.mastodon.speech.exact_text import MAX_CHARACTERS
from bot.serve.platforms import Connection, ServedPlatform, Services
from bot.serve.supervision import cancel_all, first_of
from bot.settings import MastodonSettings, Settings
from core.desk.rules.desk_ports import Casework, Governance
from core.desk.rules.platforms import ChatPlatform, ReviewSurface, UpdateInbox

MakeClient = Callable[[MastodonOptions, Casework, Governance], MastodonClient]
Work = Callable[[], Coroutine[Any, Any, object]]
_REPORTS: Final = "reports"
"""The inbox of reports, beside that of notifications and the bookmarks of watched feeds, which are named by these; and
where what follows the reports hears of cases."""


@dataclass(frozen=True, slots=True)
class MastodonParts:
    """What works over a connected client; see ``Connection``.

    Attributes:
        work: what goes on beside the notifications, until it is cancelled; it ends only by a fault.
        notes: lines for the person who runs Antiphon.
    """

    platform: ChatPlatform
    surface: ReviewSurface | None = None
    work: tuple[Work, ...] = ()
    notes: tuple[str, ...] = ()


Inboxes = Callable[[str], UpdateInbox]
"""The inboxes of one account, by what is kept there."""
Install = Callable[[MastodonClient, Services, Inboxes], AbstractAsyncContextManager[MastodonParts]]
"""Adds the parts to a client that is logged in, before it hears anything, and ends them after it heard the last."""


@asynccontextmanager
async def all_parts(client: MastodonClient, services: Services, inboxes: Inboxes) -> AsyncIterator[MastodonParts]:
    """Posting, what becomes of reports, and capture; cases are reviewed on the dashboard."""
    captured = capture.install(client, inboxes, detector=services.detector)
    try:
        yield MastodonParts(MastodonPlatform(client), ReportFollower(client), (captured.run,), await captured.notes())
    finally:
        await captured.close()


def mastodon_platform(
    settings: Settings, install: Install = all_parts, make_client: MakeClient = MastodonClient
) -> ServedPlatform:
    """All that one bot account sees from its home instance, as one platform."""
    connect = partial(_connected, settings.mastodon, install, make_client)
    poll = settings.mastodon.poll_seconds
    return ServedPlatform(NAME, MAX_CHARACTERS, connect, asks_places=True, hearing_seconds=poll)


@asynccontextmanager
async def _connected(
    wanted: MastodonSettings, install: Install, make_client: MakeClient, services: Services
) -> AsyncIterator[Connection]:
    """A client of its own, which hears notifications until the block is over.

    Raises:
        BadSettings: the instance refuses the token.
        PlatformUnavailable: the instance cannot be reached.
    """
    client = make_client(_options(wanted), services.casework, services.governance)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(client.close)
        await client.open()
        account = f"{client.own_id}@{client.home}"

        def inboxes(name: str) -> UpdateInbox:
            return services.inbox(NAME, f"{account} {name}".strip())

        parts = await stack.enter_async_context(install(client, services, inboxes))
        handling = UpdateHandler(MastodonDispatcher(client), inboxes(""))
        stack.push_async_callback(handling.close)
        polling = NotificationPoll(client, inboxes(""), handling.wake, poll_seconds=wanted.poll_seconds)
        work: list[Work] = [polling.run, handling.run, *parts.work]
        if client.options.moderator_token:
            inbox = inboxes(_REPORTS)
            reports = UpdateHandler(ReportDispatcher(Reports(client, Statuses(client))), inbox)
            stack.push_async_callback(reports.close)
            work += [ReportFeed(client, inbox, reports.wake).run, reports.run]
        running = asyncio.create_task(first_of(*(each() for each in work)))
        stack.push_async_callback(cancel_all, [running])
        note = " ".join([f"On Mastodon it is @{full_name_of(client.account, client.home)}.", *parts.notes])
        yield Connection(parts.platform, None, parts.surface, None, partial(_end, running), note, everywhere=_REPORTS)


def _options(wanted: MastodonSettings) -> MastodonOptions:
    return MastodonOptions(
        wanted.url.rstrip("/"), wanted.token.get_secret_value(), wanted.moderator_token.get_secret_value()
    )


async def _end(running: asyncio.Task[None]) -> None:
    """Wait until notifications come no more; raises why."""
    await asyncio.wait({running})
    running.result()
