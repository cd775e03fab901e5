"""The moderation reports of the home instance: asked for with a moderator's token, and stripped when kept.

Each post of a report becomes a case, public or not. While the case is decided, the report is assigned to the person who
lends the token; then it is resolved.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from mastodon import Mastodon
from mastodon.return_types import AdminReport

from adapters.common.arrivals import Arrival
from adapters.common.capture.flagged_posts import Flag, post_from_elsewhere
from adapters.mastodon.capture import SeenStatus, is_by_person, is_public
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, RateLimit, of_question, status_of
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.connection.updates import FIRST, LATE, newest, number_of
from adapters.mastodon.speech import quoted_by, words_of
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card
from core.desk.rules.closures import CloseReason, close_words
from core.desk.rules.platforms import ArrivedUpdate, MessageLook, UpdateInbox, WaitingUpdate
from core.errors import AntiphonError, BadInput, LimitReached, NotAllowed, PlatformBusy, StoreUnavailable
from core.models import FlaggedPost, PostRef, Priority

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
_LOG = logging.getLogger(__name__)
KIND: Final = "report"
POLL_SECONDS: Final = 60.0
PAGE: Final = 40
Wake = Callable[[], None]
"""Says that new reports were kept."""
_HOW: Final = "report"
_AGAIN_SECONDS: Final = 300.0
_MOST_WAITING: Final = 100
"""So many posts wait for the turn of whoever reported them; more are left to the instance, which has the report."""
_PASSING: Final[tuple[type[AntiphonError], ...]] = (StoreUnavailable, PlatformBusy)
_TAKEN_UP: Final = frozenset({CaseState.APPROVED, CaseState.SENDING, CaseState.UNKNOWN, CaseState.POSTED})
_NOT_HATEFUL: Final = close_words(CloseReason.NOT_HATEFUL)


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
                [inbox_report(kept_report(each)) for each in reversed(reports)],
                newest(str(each.id) for each in reports),
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


def inbox_report(report: JSON) -> ArrivedUpdate:
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
                await self.client.desk.intake.take_flag(post)
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
                await self.client.desk.intake.take_flag(post)
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


class ReportDispatcher:
    """Hands reports to who turns them into cases."""

    platform = "Mastodon's reports"
    passing = _PASSING

    def __init__(self, reports: Reports) -> None:
        self._reports = reports

    def known_kinds(self) -> Collection[str]:
        return (KIND,)

    def kind_of(self, payload: dict[str, Any]) -> str:
        return str(payload.get("kind", ""))

    def arrival(self, waiting: WaitingUpdate) -> Arrival:
        unfinished = list[asyncio.Future[None]]()

        async def hear() -> None:
            unfinished.extend(await self._reports.hear(waiting))

        return Arrival(hear, unfinished)


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

    def community_of(self, channel: str) -> str:
        return ""

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
