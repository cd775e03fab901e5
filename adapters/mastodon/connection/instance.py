"""What an instance says of itself: its software, limits, feeds and rules.

It is read from ``/api/v2/instance``, or from ``v1`` where a server has no other.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from mastodon import Mastodon
from mastodon.errors import MastodonNotFoundError

DEFAULT_CHARACTERS: Final = 500
DEFAULT_URL_CHARACTERS: Final = 23
_KEY_SECONDS: Final = 30 * 60.0
"""Mastodon keeps an ``Idempotency-Key`` for an hour; half of it, since clocks differ and slow writes were seen to post
twice (docs.joinmastodon.org/methods/statuses; mastodon/mastodon pull request 21840)."""
_RELEASE: Final = re.compile(r"([3-9]|[1-9]\d)\.\d+\.\d+")
"""A version of Mastodon or of a fork. Other software counts from below 3, or says that it is compatible."""


class Feed(StrEnum):
    """Who may read a feed: everybody, those who are logged in, or nobody (Mastodon 4.5, ``timelines_access``)."""

    PUBLIC = "public"
    AUTHENTICATED = "authenticated"
    DISABLED = "disabled"


_FEEDS: Final = frozenset(feed.value for feed in Feed)


@dataclass(frozen=True, slots=True)
class Instance:
    """What an instance says of itself.

    Attributes:
        domain: in lower case.
        version: as it names it, such as ``4.5.0`` or ``2.7.2 (compatible; Takahe 0.11)``.
        is_mastodon: whether it is Mastodon itself, or a fork that keeps its promises, and no other software.
        max_characters: the longest status, its content warning included.
        url_characters: how many characters each link counts for.
        feeds: who may read which feed, by names such as ``hashtag_feeds.local``; empty where it does not say.
        rules: its rules, in its words.
    """

    domain: str
    version: str
    is_mastodon: bool
    max_characters: int = DEFAULT_CHARACTERS
    url_characters: int = DEFAULT_URL_CHARACTERS
    feeds: Mapping[str, Feed] = field(default_factory=dict)
    rules: tuple[str, ...] = ()

    @property
    def key_seconds(self) -> float:
        """How long it certainly knows an ``Idempotency-Key``; 0 for software that may ignore it."""
        return _KEY_SECONDS if self.is_mastodon else 0.0


def read_instance(api: Mastodon) -> Instance:
    """Ask an instance what it is.

    Raises:
        MastodonError: it does not answer.
    """
    try:
        return instance_of(dict(api.instance_v2()))
    except MastodonNotFoundError:
        return instance_of(dict(api.instance_v1()))


def instance_of(answer: Mapping[str, Any]) -> Instance:
    """What an answer of an instance says; what it leaves out has Mastodon's defaults. Pure."""
    configuration = _part(answer, "configuration")
    statuses = _part(configuration, "statuses")
    version = str(answer.get("version") or "")
    named = str(answer.get("domain") or answer.get("uri") or "")
    most = statuses.get("max_characters") or answer.get("max_toot_chars") or DEFAULT_CHARACTERS
    rules = tuple(str(rule.get("text", "")) for rule in answer.get("rules") or ())
    return Instance(
        domain=(urlsplit(named).hostname or named).casefold(),
        version=version,
        is_mastodon=bool(_RELEASE.match(version)) and "compatible" not in version.casefold(),
        max_characters=int(most),
        url_characters=int(statuses.get("characters_reserved_per_url") or DEFAULT_URL_CHARACTERS),
        feeds=dict(_feeds(_part(configuration, "timelines_access"))),
        rules=rules,
    )


def _feeds(access: Mapping[str, Any]) -> Iterator[tuple[str, Feed]]:
    for name, whose in access.items():
        for which, who in whose.items() if isinstance(whose, Mapping) else ():
            if who in _FEEDS:
                yield f"{name}.{which}", Feed(who)


def _part(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = answer.get(name)
    return part if isinstance(part, Mapping) else {}
