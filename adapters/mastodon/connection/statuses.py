"""Reading statuses of the home instance, one by one or some at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from mastodon import Mastodon
from mastodon.return_types import Context, Status

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, is_gone, of_question, status_of

_T = TypeVar("_T")
AT_ONCE: Final = 20
"""How many an instance gives for one question; Mastodon refuses more."""
_NOT_OFFERED: Final = (400, 404, 405, 501)
"""How software says that it does not know the question for some at once, which Mastodon knows since 4.3."""


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
