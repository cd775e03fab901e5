"""Taking in the moderation reports of the home instance: asked for with a moderator's token, and stripped when kept."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from mastodon import Mastodon
from mastodon.return_types import AdminReport

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, RateLimit, of_question, status_of
from adapters.mastodon.connection.updates import FIRST, newest, number_of
from adapters.mastodon.speech.plain_text import quoted_by
from core.desk.rules.platforms import ArrivedUpdate, UpdateInbox
from core.errors import StoreUnavailable

JSON = dict[str, Any]
MOST_STATUSES: Final = 40
"""So many posts of one report are taken; an instance lets a reporter add fewer."""
_STATUS: Final = (
    "id",
    "content",
    "spoiler_text",
    "visibility",
    "language",
    "created_at",
    "edited_at",
    "in_reply_to_id",
)
_ACCOUNT: Final = ("id", "acct", "bot")


def kept_report(report: Mapping[str, Any]) -> JSON:
    """A report as it is kept: its number, whom it names by their ids and instances, and its posts; no comment.

    Args:
        report: an ``Admin::Report``, as the instance gives it.

    Raises:
        KeyError: it has no number.
    """
    return {
        "id": str(report["id"]),
        "is_resolved": bool(report.get("action_taken")),
        "by": _person(report.get("account")),
        "of": _person(report.get("target_account")),
        "statuses": [kept_status(each) for each in list(report.get("statuses") or ())[:MOST_STATUSES]],
    }


def kept_status(status: Mapping[str, Any]) -> JSON:
    """A status as it is kept: all its words, who can read it, its author by id and name, and what it quotes for all.

    Raises:
        KeyError: it has no id or no author.
    """
    quoted = quoted_by(status)
    kept = _kept_parts(status)
    kept["quote"] = {"quoted_status": _kept_parts(quoted)} if quoted is not None else _plain(bool(status.get("quote")))
    return kept


def _kept_parts(status: Mapping[str, Any]) -> JSON:
    """A status without what it quotes."""
    kept = {name: _plain(status.get(name)) for name in _STATUS}
    account, options = status["account"], (status.get("poll") or {}).get("options") or ()
    return kept | {
        "id": str(status["id"]),
        "account": {name: _plain(account.get(name)) for name in _ACCOUNT},
        "poll": {"options": [{"title": _plain(option.get("title"))} for option in options]},
        "media_attachments": [
            {name: _plain(medium.get(name)) for name in ("type", "description")}
            for medium in status.get("media_attachments") or ()
        ],
    }


def _person(account: object) -> JSON:
    """An account as a report names it, by its id and its instance, "" for this one; ``Admin::Account`` or none."""
    if not isinstance(account, Mapping) or not account.get("id"):
        return {"id": "", "domain": ""}
    return {"id": str(account["id"]), "domain": str(account.get("domain") or "").casefold()}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float) else str(value)


_LOG = logging.getLogger(__name__)
KIND: Final = "report"
POLL_SECONDS: Final = 60.0
PAGE: Final = 40

Wake = Callable[[], None]
"""Says that new reports were kept."""


class ReportFeed:
    """The reports of one instance.

    Args:
        inbox: keeps reports, and nothing else.
        wake: is called after new reports were kept.
        poll_seconds: how often is asked, in seconds.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: MastodonClient,
        inbox: UpdateInbox,
        wake: Wake,
        *,
        poll_seconds: float = POLL_SECONDS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._inbox, self._wake = client, inbox, wake
        self._poll_seconds, self._sleep = poll_seconds, sleep

    async def run(self) -> None:
        """Ask for reports until cancelled. A fault is logged; mentions go on without reports."""
        logged: str | None = None
        while True:
            pause = self._poll_seconds
            try:
                while await self.step() == PAGE:
                    pass
                logged = None
            except RateLimit as err:
                pause = max(err.seconds, pause)
            except StoreUnavailable as err:
                _LOG.warning("Reports of Mastodon wait there, since they cannot be kept: %s", err.message)
            except FAULTS as err:
                logged = self._tell(err, logged)
            await self._sleep(pause)

    async def step(self) -> int:
        """Ask once: what comes is committed, and where to go on with it; returns how many came.

        The first time it begins behind the newest report: those before are others' work already.

        Raises:
            MastodonError: as ``MastodonClient.call``.
            StoreUnavailable: they could not be kept.
        """
        cursor = await self._inbox.cursor()
        if cursor is None:
            newest_one = await self._answer(partial(_newest, most=1))
            await self._inbox.keep([], str(newest_one[0].id) if newest_one else FIRST)
            return 0
        reports = await self._answer(partial(_after, cursor=cursor))
        if reports:
            await self._inbox.keep(
                [arrived(kept_report(each)) for each in reversed(reports)], newest(str(each.id) for each in reports)
            )
            self._wake()
        return len(reports)

    async def _answer(self, ask: Callable[[Mastodon], Sequence[AdminReport]]) -> Sequence[AdminReport]:
        return await self._client.call(ask, as_moderator=True)

    @staticmethod
    def _tell(err: BaseException, logged: str | None) -> str:
        """Log a fault where it is another one than before."""
        fault = str(of_question(err))
        if status_of(err) in (401, 403):
            fault = "The moderator's token may not read reports. Run: antiphon mastodon login --moderator."
        if fault != logged:
            _LOG.warning("The reports of the instance cannot be read: %s", fault)
        return fault


def arrived(report: JSON) -> ArrivedUpdate:
    """A stripped report for the inbox; those of one reported account are handled in their order."""
    number = number_of(report["id"], datetime.now(UTC))
    return ArrivedUpdate(number, report | {"kind": KIND}, lane=report["of"]["id"])


def _newest(api: Mastodon, most: int) -> Sequence[AdminReport]:
    reports: Sequence[AdminReport] = api.admin_reports(limit=most)
    return reports


def _after(api: Mastodon, cursor: str) -> Sequence[AdminReport]:
    """The open reports right behind one, newest first."""
    reports: Sequence[AdminReport] = api.admin_reports(resolved=False, min_id=cursor, limit=PAGE)
    return reports
