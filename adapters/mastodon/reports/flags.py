"""From a report to flags: each of its posts becomes a case, public or not.

A post that not everybody may read is shown to moderators, who may copy drafts. Its case names no message, so that
nothing can ever be posted below it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from adapters.common.arrivals import Delivery
from adapters.common.capture.flags import Flag, post_from_elsewhere
from adapters.mastodon.capture.sightings import SeenStatus, is_by_person, is_public
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.connection.updates import LATE
from adapters.mastodon.reports.feed import KIND
from adapters.mastodon.speech.plain_text import words_of
from core.desk.rules.platforms import WaitingUpdate
from core.errors import AntiphonError, BadInput, LimitReached, NotAllowed, PlatformBusy, StoreUnavailable
from core.models import FlaggedPost, PostRef, Priority

_LOG = logging.getLogger(__name__)
_HOW: Final = "report"
_AGAIN_SECONDS: Final = 300.0
_MOST_WAITING: Final = 100
"""So many posts wait for the turn of whoever reported them; more are left to the instance, which has the report."""


@dataclass(frozen=True, slots=True)
class Reports:
    """Takes the posts of reports in.

    Attributes:
        sleep: waits so many seconds.
        waiting: how many posts wait until whoever reported them may report again.
    """

    client: MastodonClient
    statuses: Statuses
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    waiting: set[asyncio.Future[None]] = field(default_factory=set)

    async def hear(self, waiting: WaitingUpdate) -> list[asyncio.Future[None]]:
        """Flag every post of a report; one that is refused leaves the others.

        Returns:
            What still waits for its turn, since whoever reported it reported as much as one may in an hour.

        Raises:
            StoreUnavailable: the database does not answer; the report is to be heard again.
            PlatformBusy: the instance does not answer now.
        """
        report, is_late = waiting.update.payload, waiting.handed_out_at - waiting.received_at > LATE
        left = list[asyncio.Future[None]]()
        if report.get("is_resolved"):
            return left
        for kept in report["statuses"]:
            post = await self._post(report, kept)
            if post is None:
                continue
            post = replace(post, is_late=is_late)
            try:
                await self.client.desk.casework.flag(post)
            except LimitReached as err:
                if len(self.waiting) < _MOST_WAITING:
                    left.append(self._later(post, str(report["id"])))
                else:
                    _LOG.warning("A post of report %s is left to the moderators: %s", report["id"], err.message)
            except (NotAllowed, BadInput) as err:
                _LOG.info("A post of report %s is not taken: %s", report["id"], err.message)
        return left

    def _later(self, post: FlaggedPost, report: str) -> asyncio.Future[None]:
        later = asyncio.ensure_future(self._flag_in_turn(post, report))
        self.waiting.add(later)
        later.add_done_callback(self.waiting.discard)
        return later

    async def _flag_in_turn(self, post: FlaggedPost, report: str) -> None:
        while True:
            await self.sleep(_AGAIN_SECONDS)
            try:
                await self.client.desk.casework.flag(post)
            except (LimitReached, StoreUnavailable):
                continue
            except (NotAllowed, BadInput) as err:
                _LOG.info("A post of report %s is not taken: %s", report, err.message)
            return

    async def _post(self, report: Mapping[str, Any], kept: Mapping[str, Any]) -> FlaggedPost | None:
        """A reported post as it is flagged; ``None`` for one without words, of a bot, or of ours."""
        flag = Flag(_reporter(report), how(str(report["id"])), Priority.FLAGGED)
        status = await self.statuses.one(str(kept["id"]))
        if status is not None and is_public(status):
            seen = SeenStatus(self.client, self.statuses, status)
            is_taken = is_by_person(status, self.client.own_id) and seen.may_have_words
            return await seen.post(flag) if is_taken else None
        words = words_of(kept)
        if not words.text.strip() or kept["account"]["bot"] or str(kept["account"]["id"]) == self.client.own_id:
            return None
        ref = PostRef(NAME, self.client.home, self.client.home, f"report-{report['id']}-{kept['id']}")
        author, name = words.author_of(str(kept["account"]["id"]), str(kept["account"]["acct"]))
        return replace(post_from_elsewhere(ref, words.text, flag, words), author=author, author_name=name)


def how(report_id: str) -> str:
    """How a post was flagged, for the case: by this report."""
    return f"{_HOW} {report_id}"


def report_of(flagged_how: str) -> str | None:
    """The report by which a post was flagged; ``None`` where that was another way."""
    word, _, report_id = flagged_how.partition(" ")
    return report_id if word == _HOW and report_id.isalnum() else None


def _reporter(report: Mapping[str, Any]) -> str:
    """Who reported: somebody with an account here, or another instance, which counts as one whoever there reported."""
    by = report["by"]
    domain = str(by.get("domain") or "")
    return f"@{domain}" if domain else str(by["id"])


_PASSING: Final[tuple[type[AntiphonError], ...]] = (StoreUnavailable, PlatformBusy)


class ReportDispatcher:
    """Hands reports to who turns them into cases."""

    platform = "Mastodon's reports"
    passing = _PASSING

    def __init__(self, reports: Reports) -> None:
        self._reports = reports

    def known_kinds(self) -> Collection[str]:
        """Reports alone."""
        return (KIND,)

    def kind_of(self, payload: dict[str, Any]) -> str:
        """As it was kept."""
        return str(payload.get("kind", ""))

    def delivery(self, waiting: WaitingUpdate) -> Delivery:
        """A report, ready to be heard."""
        unfinished = list[asyncio.Future[None]]()

        async def hear() -> None:
            unfinished.extend(await self._reports.hear(waiting))

        return Delivery(hear, unfinished)
