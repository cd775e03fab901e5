"""How often the fake instance lets itself be asked, by its own clock.

Owns the counts. A window begins with the first request in it; Mastodon's begin at round times, which tests could not
wait for.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final

from tests.fakes.mastodon.server.asked import Asked
from tests.fakes.mastodon.server.refusing.refusals import TOO_MANY, Refused

LIMITS: Final = {"all": (300, 300), "paging": (300, 900), "deletes": (30, 1800)}
"""How many requests within how many seconds, of each account."""


class Limits:
    """The counts of each token.

    Attributes:
        sizes: how many requests within how many seconds, of each limit.
        kept: the limits that are enforced; deletions only, so that a test may ask as often as it likes.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.sizes = dict(LIMITS)
        self.kept = {"deletes"}
        self._now = now
        self._windows: dict[tuple[str, str], tuple[datetime, int]] = {}

    def count(self, asked: Asked) -> dict[str, str]:
        """The headers that tell how much is left.

        Raises:
            Refused: nothing is.
        """
        headers: dict[str, str] = {}
        for name in _families(asked):
            limit, seconds = self.sizes[name]
            window = (name, asked.token or "")
            began, count = self._windows.get(window, (self._now(), 0))
            if self._now() >= began + timedelta(seconds=seconds):
                began, count = self._now(), 0
            self._windows[window] = (began, count + 1)
            headers = limited(limit, max(limit - count - 1, 0), began + timedelta(seconds=seconds))
            if count >= limit and name in self.kept:
                raise Refused(429, TOO_MANY, headers)
        return headers


def limited(limit: int, remaining: int, reset: datetime) -> dict[str, str]:
    at = reset.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"X-RateLimit-Limit": str(limit), "X-RateLimit-Remaining": str(remaining), "X-RateLimit-Reset": at}


def _families(asked: Asked) -> Iterator[str]:
    if asked.method == "DELETE" and asked.path.startswith("/api/v1/statuses/"):
        yield "deletes"
    if asked.query.keys() & {"max_id", "min_id", "since_id"}:
        yield "paging"
    yield "all"
