"""Reading statuses of the home instance, one by one, some at once or from a feed; and whether one may be answered.

Feeds are hashtags, and what the people of the home instance write.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from mastodon import Mastodon
from mastodon.return_types import Context, Relationship, Status

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, is_gone, of_question, status_of
from adapters.mastodon.connection.instance import Feed, Instance
from core.errors import PlatformUnavailable
from core.i18n.sentences import Sentence, sentence

REPLY_VISIBILITY: Final = "unlisted"
NOT_WIDER: Final = frozenset({"unlisted", "private", "direct"})
"""The visibilities of a reply that are not wider than ``REPLY_VISIBILITY``."""
_ANSWERED: Final = frozenset({"public", "unlisted"})
_KEPT_APART: Final = ("blocked_by", "blocking", "muting", "domain_blocking")
_CLOSE: Final = sentence("Close the case.")
_T = TypeVar("_T")
AT_ONCE: Final = 20
"""How many statuses may be asked for by their ids in one question; Mastodon refuses more."""
_NOT_OFFERED: Final = (400, 404, 405, 501)
"""How software says that it does not know the question for some at once, which Mastodon knows since 4.3."""
LOCAL: Final = "local"
"""Watches what everybody on the home instance writes in public."""
FEED_PAGE: Final = 40
"""How many statuses of a feed an instance gives at once."""
_HASHTAG: Final = re.compile(r"#\w+")
_BOTH: Final = ("local", "remote")


def check_status(status: Status, own_id: str) -> None:
    """Refuse, with ``PlatformUnavailable``, a status that is not for everybody, ours, a bot's, or closed to replies."""
    if status.visibility not in _ANSWERED:
        _refuse(sentence("The post is not public: a reply would show it to others."))
    if str(status.account.id) == own_id:
        _refuse(sentence("The post is Antiphon's own."))
    if status.account.bot:
        _refuse(sentence("The author is a bot."))
    if not _lets_us_reply(status, own_id):
        _refuse(sentence("The author takes replies to this post from certain people only."))


def check_relationship(relationship: Relationship) -> None:
    """Refuse, with ``PlatformUnavailable``, an author who blocks us, or whom our account blocks or mutes.

    That somebody mutes us no instance tells.
    """
    if any(relationship.get(kind) for kind in _KEPT_APART):
        _refuse(sentence("The author and Antiphon's account are kept apart: one blocks or mutes the other."))


def refuse_opted_out() -> None:
    """Refuse, with ``PlatformUnavailable``, an author who asks bots to stay away."""
    _refuse(sentence("The author's profile asks bots to stay away."))


def _lets_us_reply(status: Status, own_id: str) -> bool:
    """What GoToSocial's ``interaction_policy`` says; a status without one may be answered.

    A reply that waits for the author's yes is not one that nobody asked for.
    """
    policy = _part(status.get("interaction_policy"), "can_reply")
    if not policy:
        return True
    named: Collection[Any] = [*(policy.get("always") or ()), *(policy.get("automatic_approval") or ())]
    is_mentioned = own_id in {str(each.id) for each in status.mentions}
    return bool({"public", "me"} & set(named)) or ("mentioned" in named and is_mentioned)


def _part(answer: Any, name: str) -> Mapping[str, Any]:
    part = answer.get(name) if isinstance(answer, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _refuse(why: Sentence) -> None:
    raise PlatformUnavailable(why, remedy=_CLOSE)


class Statuses:
    def __init__(self, client: MastodonClient) -> None:
        self._client = client
        self._has_many = True

    async def one(self, id_: str) -> Status | None:
        """A status as it reads now; ``None`` if it is gone, or not shown to us.

        Raises:
            PlatformBusy: the instance does not answer now.
            PlatformUnavailable: it refuses.
        """
        return await self._answer(lambda api: api.status(id_))

    async def around(self, id_: str) -> Context | None:
        """What stands above and below a status; raises as ``one``."""
        return await self._answer(lambda api: api.status_context(id_))

    async def many(self, ids: Sequence[str]) -> Mapping[str, Status] | None:
        """Those of at most ``AT_ONCE`` statuses that are shown to us, by their ids; raises as ``one``.

        Returns:
            ``None`` where the instance can only be asked for one after the other.
        """
        if not self._has_many:
            return None
        try:
            statuses = await self._client.call(lambda api: api.statuses(list(ids)))
        except FAULTS as err:
            if status_of(err) not in _NOT_OFFERED:
                raise of_question(err) from err
            self._has_many = False
            return None
        return {str(status.id): status for status in statuses}

    async def _answer(self, ask: Callable[[Mastodon], _T]) -> _T | None:
        try:
            return await self._client.call(ask)
        except FAULTS as err:
            if is_gone(err):
                return None
            raise of_question(err) from err


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
    """The statuses of a feed behind one, newest first; at most ``FEED_PAGE``, those next to it.

    Raises:
        MastodonError: the instance refuses; see ``error_meanings``.
        NotReached, Halted: as ``MastodonClient.call``.
    """
    return await client.call(partial(_page, name=name, after=after))


async def last_of(client: MastodonClient, name: str) -> str | None:
    """The id of the newest status of a feed; ``None`` where there is none. Raises as ``page_of``."""
    page = await client.call(partial(_page, name=name, after=None, limit=1))
    return str(page[0].id) if page else None


def _page(api: Mastodon, name: str, after: str | None, limit: int = FEED_PAGE) -> Sequence[Status]:
    page: Sequence[Status]
    if name == LOCAL:
        page = api.timeline(LOCAL, min_id=after, limit=limit)
    else:
        page = api.timeline_hashtag(name.removeprefix("#"), min_id=after, limit=limit)
    return page
