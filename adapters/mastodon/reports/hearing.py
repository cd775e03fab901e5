"""How a report is handed out.

Implements ``adapters.common.arrivals.hearing.Hearing`` for the inbox of reports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, Final

from adapters.common.arrivals.hearing import Delivery
from adapters.mastodon.reports.feed import KIND
from adapters.mastodon.reports.flagging import Reports
from core.errors import AntiphonError, PlatformBusy, StoreUnavailable
from core.moderation.platforms import WaitingUpdate

_PASSING: Final[tuple[type[AntiphonError], ...]] = (StoreUnavailable, PlatformBusy)


class ReportHearing:
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
