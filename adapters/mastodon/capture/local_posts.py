"""Posts of the home instance that its webhook sends: looked at as those of watched feeds are, only sooner.

Owns which of them are taken: what a person of the instance wrote for everybody, in a feed that is watched, and who does
not ask bots to stay away. No word of one is kept: it is read again when it is handled. What the webhook cannot deliver
the feeds find, which are read in any case; what both bring is looked at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from mastodon.return_types import Status
from mastodon.types_base import try_cast_recurse

from adapters.common.arrivals.hearing import Delivery
from adapters.mastodon.capture.posts import is_by_person, is_public
from adapters.mastodon.capture.watched_feeds import WatchedFeeds
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.feeds import LOCAL
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.intake.updates import kind_of, number_of, status_of
from adapters.mastodon.speech.profiles import wants_no_bots
from core.errors import AntiphonError, PlatformBusy, StoreUnavailable
from core.moderation.community.policy import CommunityPolicy
from core.moderation.platforms import ArrivedUpdate, UpdateInbox, WaitingUpdate

KIND: Final = "post"
_EVENT: Final = "status.created"
_PASSING: Final[tuple[type[AntiphonError], ...]] = (StoreUnavailable, PlatformBusy)


class LocalPosts:
    """Keeps which posts were sent.

    Args:
        inbox: keeps them, and nothing else.
        wake: is called after one was kept.
    """

    def __init__(self, client: MastodonClient, inbox: UpdateInbox, wake: Callable[[], None]) -> None:
        self._client, self._inbox, self._wake = client, inbox, wake

    async def take(self, event: str, said: Mapping[str, Any]) -> None:
        """Keep which post the webhook brought, if it is to be looked at; other events are left.

        Raises:
            StoreUnavailable: it could not be kept, or nobody knows what is watched.
            ValueError, LookupError, TypeError, AttributeError: it is no post.
        """
        if event != _EVENT:
            return
        status: Status = try_cast_recurse(Status, dict(said))  # type: ignore[no-untyped-call]
        if not _is_taken(status, self._client.own_id):
            return
        policy = await self._client.desk.policies.surely_of(self._client.home)
        if _feed_of(status, policy) is not None:
            await self._inbox.keep([_arrived(status)])
            self._wake()


class LocalPostHearing:
    """Implements ``adapters.common.arrivals.hearing.Hearing`` for the inbox of these posts."""

    platform = "Mastodon's local posts"
    passing = _PASSING

    def __init__(self, client: MastodonClient, feeds: WatchedFeeds) -> None:
        self._client, self._statuses, self._feeds = client, Statuses(client), feeds

    def known_kinds(self) -> Collection[str]:
        """Posts alone."""
        return (KIND,)

    def kind_of(self, payload: dict[str, Any]) -> str:
        """As it was kept."""
        return kind_of(payload)

    def delivery(self, waiting: WaitingUpdate) -> Delivery:
        """A post, to be read as it is now and looked at; raises ``LookupError`` for one in another form."""
        id_, unfinished = status_of(waiting.update.payload), list[asyncio.Future[None]]()

        async def hear() -> None:
            status = await self._statuses.one(id_)
            if status is None or not _is_taken(status, self._client.own_id):
                return
            policy = await self._client.desk.policies.surely_of(self._client.home)
            feed = _feed_of(status, policy)
            look = None if feed is None else self._feeds.take(status, policy, feed)
            if look is not None:
                unfinished.append(look)

        return Delivery(hear, unfinished)


def _is_taken(status: Status, own_id: str) -> bool:
    """Whether a person of the instance wrote a post for everybody; a boost is nobody's own words."""
    is_local = "@" not in str(status.account.acct)
    is_own = is_local and not status.get("reblog")
    return is_own and is_public(status) and is_by_person(status, own_id) and not wants_no_bots(status.account)


def _feed_of(status: Status, policy: CommunityPolicy) -> str | None:
    """The watched feed that a local post is in; ``None`` for none."""
    tags = {f"#{tag['name']}".casefold() for tag in status.get("tags") or ()}
    return next((name for name in policy.watched_channels if name == LOCAL or name.casefold() in tags), None)


def _arrived(status: Status) -> ArrivedUpdate:
    """A post for the inbox, without a word of it; those of one account are looked at in their order."""
    payload = {
        "kind": KIND,
        "status": str(status.id),
        "account": {"id": str(status.account.id)},
        "at": status.created_at.isoformat(),
    }
    return ArrivedUpdate(number_of(str(status.id), status.created_at), payload, lane=str(status.account.id))
