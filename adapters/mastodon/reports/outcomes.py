"""What becomes of a report while its case is decided: assigned to the person who lends the token, then resolved.

A report that is assigned to somebody else, or that a person resolved, is left alone. The instance has no place for a
note on the outcome: it stands in Antiphon's log, and on the dashboard.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Final

from mastodon import Mastodon
from mastodon.return_types import AdminReport

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, of_question, status_of
from adapters.mastodon.reports.flags import report_of
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card
from core.desk.rules.closures import CloseReason, close_words
from core.desk.rules.platforms import MessageLook
from core.models import PostRef

_LOG = logging.getLogger(__name__)
_TAKEN_UP: Final = frozenset({CaseState.APPROVED, CaseState.SENDING, CaseState.UNKNOWN, CaseState.POSTED})
_NOT_HATEFUL: Final = close_words(CloseReason.NOT_HATEFUL)


def is_resolved_by(card: Card) -> bool:
    """Whether a case answers its report: a reply stands below the post, or a person found the post not hateful.

    Any other end, such as drafts that nobody liked, leaves the report to the instance's moderators: the post may still
    be theirs to remove.
    """
    if card.state is CaseState.NO_REPLY:
        return card.closed_because == _NOT_HATEFUL
    return card.state is CaseState.POSTED


class ReportFollower:
    """Brings the reports of one instance in step with their cases.

    Implements ``core.desk.rules.platforms.ReviewSurface``, so that it hears of each change of a case; it shows no card.
    """

    def __init__(self, client: MastodonClient) -> None:
        self._client = client
        self._may = bool(client.options.moderator_token)
        self._own: str | None = None
        """The moderator whose token it is, once the instance named them."""

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Bring the report of a case in step; a fault harms no case."""
        await self.follow(card)
        return PostRef(card.post.ref.platform, card.community, channel, card.case_id)

    async def take_away(self, place: PostRef) -> None:
        """Nothing stands there."""

    def changed(self) -> Collection[str]:
        """None: there are no channels."""
        return ()

    def unheard(self) -> Collection[str]:
        """None: there are no cards to lose."""
        return ()

    async def look(self, cards: Sequence[PostRef]) -> MessageLook:
        """All stand: there is none to lose."""
        return MessageLook(frozenset(cards), frozenset())

    async def check(self, community: str, channel: str) -> None:
        """Nothing can be wrong with it."""

    async def follow(self, card: Card) -> None:
        """Assign or resolve the report of a case, as the case stands; a fault is logged, and harms no case."""
        report_id = report_of(card.post.flagged_how)
        is_done = is_resolved_by(card)
        is_taken_up = is_done or card.holder is not None or card.state in _TAKEN_UP
        if report_id is None or not is_taken_up or not self._may:
            return
        try:
            await self._settle(report_id, is_resolved=is_done)
        except FAULTS as err:
            self._may = status_of(err) not in (401, 403)
            _LOG.warning("A report could not be brought in step with its case: %s", of_question(err))

    async def _settle(self, report_id: str, *, is_resolved: bool) -> None:
        """Assign a report that is nobody's, and resolve it where it is ours."""
        report = await self._answer(lambda api: api.admin_report(report_id))
        if report.action_taken:
            return
        if report.assigned_account is None:
            report = await self._answer(lambda api: api.admin_report_assign(report_id))
            self._own = _assigned(report)
        if is_resolved and _assigned(report) in (None, await self._own_id()):
            await self._answer(lambda api: api.admin_report_resolve(report_id))

    async def _own_id(self) -> str:
        """The moderator whose token it is; "" where the token may not say."""
        if self._own is None:
            try:
                account = await self._client.call(lambda api: api.account_verify_credentials(), as_moderator=True)
            except FAULTS as err:
                if status_of(err) not in (401, 403):
                    raise
                self._own = ""
            else:
                self._own = str(account.id)
        return self._own

    async def _answer(self, ask: Callable[[Mastodon], AdminReport]) -> AdminReport:
        return await self._client.call(ask, as_moderator=True)


def _assigned(report: AdminReport) -> str | None:
    return None if report.assigned_account is None else str(report.assigned_account.id)
