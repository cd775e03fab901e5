"""The feeds that can be watched: hashtags, and what the people of the home instance write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from mastodon import Mastodon
from mastodon.return_types import Status

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.instance import Feed, Instance

LOCAL: Final = "local"
"""Watches what everybody on the home instance writes in public."""
PAGE: Final = 40
_HASHTAG: Final = re.compile(r"#\w+")
_BOTH: Final = ("local", "remote")


def is_feed(name: str) -> bool:
    """Whether ``CommunityPolicy.watched_channels`` may name it: a hashtag with its sign, or ``local``."""
    return name == LOCAL or _HASHTAG.fullmatch(name) is not None


def why_closed(instance: Instance, name: str) -> str:
    """Why nothing, or only a part, can be read of a feed, for the person who runs Antiphon; "" where all can be."""
    if not is_feed(name):
        return f"{name} is watched, but it is neither a hashtag nor the word {LOCAL}."
    of, halves = ("live_feeds", (LOCAL,)) if name == LOCAL else ("hashtag_feeds", _BOTH)
    closed = [half for half in halves if instance.feeds.get(f"{of}.{half}") is Feed.DISABLED]
    if not closed:
        return ""
    if len(closed) == len(halves):
        return f"{name} is watched, but {instance.domain} shows this feed to nobody: its administrator closed it."
    shown, whose = ("", "of other instances") if closed == ["local"] else ("its own ", "that were written there")
    return f"{name} is watched, but {instance.domain} shows only {shown}posts {whose} in it."


async def page_of(client: MastodonClient, name: str, after: str) -> Sequence[Status]:
    """The statuses of a feed behind one, newest first; at most ``PAGE``, those next to it.

    Raises:
        MastodonError: the instance refuses; see ``error_meanings``.
        NotReached, Halted: as ``MastodonClient.call``.
    """
    return await client.call(partial(_page, name=name, after=after))


async def last_of(client: MastodonClient, name: str) -> str | None:
    """The id of the newest status of a feed; ``None`` where there is none. Raises as ``page_of``."""
    page = await client.call(partial(_page, name=name, after=None, limit=1))
    return str(page[0].id) if page else None


def _page(api: Mastodon, name: str, after: str | None, limit: int = PAGE) -> Sequence[Status]:
    page: Sequence[Status]
    if name == LOCAL:
        page = api.timeline(LOCAL, min_id=after, limit=limit)
    else:
        page = api.timeline_hashtag(name.removeprefix("#"), min_id=after, limit=limit)
    return page
