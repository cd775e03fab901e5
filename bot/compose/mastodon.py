"""Puts the Mastodon platform together: settings in, a platform that can be served out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final

from adapters.common.arrivals import UpdateHandler
from adapters.mastodon import capture
from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.refs import NAME, full_name_of
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.connection.updates import MastodonDispatcher, NotificationPoll
from adapters.mastodon.platform import MastodonPlatform
from adapters.mastodon.reports import ReportDispatcher, ReportFeed, ReportFollower, Reports
from adapters.mastodon.speech import MAX_CHARACTERS
from bot.serve.platforms import Connection, ServedPlatform, Services
from bot.serve.supervision import cancel_all, first_of, wait_for_end
from bot.settings import MastodonSettings, Settings
from core.desk.rules.platforms import UpdateInbox

_REPORTS: Final = "reports"
"""The inbox of reports, beside that of notifications and the bookmarks of watched feeds, which are named by these; and
where what follows the reports hears of cases."""


def mastodon_platform(settings: Settings) -> ServedPlatform:
    """All that one bot account sees from its home instance, as one platform; cases are reviewed on the dashboard."""
    connect = partial(_connected, settings.mastodon)
    poll = settings.mastodon.poll_seconds
    return ServedPlatform(NAME, MAX_CHARACTERS, connect, asks_places=True, hearing_seconds=poll)


@asynccontextmanager
async def _connected(wanted: MastodonSettings, services: Services) -> AsyncIterator[Connection]:
    """A client of its own, which hears notifications until the block is over.

    Raises:
        BadSettings: the instance refuses the token.
        PlatformUnavailable: the instance cannot be reached.
    """
    options = MastodonOptions(
        wanted.url.rstrip("/"), wanted.token.get_secret_value(), wanted.moderator_token.get_secret_value()
    )
    client = MastodonClient(options, services.casework, services.governance)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(client.close)
        await client.open()
        account = f"{client.own_id}@{client.home}"

        def inboxes(name: str) -> UpdateInbox:
            return services.inbox(NAME, f"{account} {name}".strip())

        captured = capture.Capture(client, inboxes, services.detector)
        stack.push_async_callback(captured.close)
        note = " ".join([f"On Mastodon it is @{full_name_of(client.account, client.home)}.", *await captured.notes()])
        handling = UpdateHandler(MastodonDispatcher(client), inboxes(""))
        stack.push_async_callback(handling.close)
        polling = NotificationPoll(client, inboxes(""), handling.wake, poll_seconds=wanted.poll_seconds)
        work: list[Callable[[], Coroutine[Any, Any, object]]] = [polling.run, handling.run, captured.run]
        if client.options.moderator_token:
            inbox = inboxes(_REPORTS)
            reports = UpdateHandler(ReportDispatcher(Reports(client, Statuses(client))), inbox)
            stack.push_async_callback(reports.close)
            work += [ReportFeed(client, inbox, reports.wake).run, reports.run]
        running = asyncio.create_task(first_of(*(each() for each in work)))
        stack.push_async_callback(cancel_all, [running])
        platform, follower, end = MastodonPlatform(client), ReportFollower(client), partial(wait_for_end, running)
        yield Connection(platform, None, follower, None, end, note, everywhere=_REPORTS)
