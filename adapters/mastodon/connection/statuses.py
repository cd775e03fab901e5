"""Reading statuses of the home instance, one by one or some at once; and whether one may be answered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from mastodon import Mastodon
from mastodon.return_types import Context, Relationship, Status

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, is_gone, of_question, status_of
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
"""How many an instance gives for one question; Mastodon refuses more."""
_NOT_OFFERED: Final = (400, 404, 405, 501)
"""How software says that it does not know the question for some at once, which Mastodon knows since 4.3."""


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
    """What the home instance shows our account."""

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
