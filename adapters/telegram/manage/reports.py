"""The reports and switches of a group, in a manager's private chat: status, figures, cases, pause, export, decisions.

Each of them asks for the person's rights itself.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from adapters.common.manage import reports
from adapters.common.manage.managers import require
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.refs import NAME
from adapters.telegram.manage.groups import GroupManager, group_of
from adapters.telegram.manage.messages import PanelMessage, buttons, press_data
from adapters.telegram.manage.private_chat import PrivateChat
from adapters.telegram.review import card_message
from adapters.telegram.speech.markup import MAX_CHARACTERS
from core.desk.rules.case_cards import beginning_of_id
from core.desk.rules.roles import OnCommunity
from core.engine.ports import HateDetector
from core.errors import BadInput
from core.i18n.catalogs import gettext

REPORTS: Final = frozenset({"status", "stats", "cases", "case", "pause", "resume", "export", "lately"})
_DAYS: Final = ("7", "28")
_SUFFIXES: Final = {"csv": "CSV", "jsonl": "JSON Lines"}
_MOST_BYTES: Final = 50_000_000
"""The largest file that Telegram takes from a bot."""


class Reports:
    """What each command does.

    Args:
        left_out: how many posts capture could not look at since the start.
        detector: the filter of watched groups; ``None`` where there is none.
    """

    def __init__(self, client: TelegramClient, left_out: Callable[[], int], detector: HateDetector | None) -> None:
        self._client = client
        self._left_out = left_out
        self._detector = detector

    async def show(self, chat: PrivateChat, manager: GroupManager, name: str, field: str = "") -> None:
        """Do what a command, or a button below its answer, asks for.

        Raises:
            NotAllowed: they may not.
        """
        made = {
            "status": self._status,
            "stats": self._statistics,
            "cases": self._cases,
            "case": self._case,
            "pause": self._pause,
            "resume": self._resume,
            "export": self._export,
            "lately": self._lately,
        }
        await chat.put(await made[name](chat, manager, field))

    async def _status(self, _chat: PrivateChat, manager: GroupManager, _field: str) -> PanelMessage:
        await require(self._client.desk, manager, OnCommunity.READ_STATISTICS)
        governance = self._client.desk.governance
        status = await governance.status(NAME, manager.community, manager.person)
        policy = await governance.policy(NAME, manager.community)
        group = await group_of(self._client, manager, policy.review_channel)
        watched = self._detector if policy.watched_channels else None
        unread = group.unread(manager.locale) if policy.watched_channels or policy.reaction else ""
        watch = reports.Watch(unread, self._left_out(), frozenset() if watched is None else watched.languages)
        return PanelMessage(reports.status_text(status, watch, group.lacking(policy, manager.locale), manager.reader))

    async def _statistics(self, _chat: PrivateChat, manager: GroupManager, field: str) -> PanelMessage:
        days = int(field if field in _DAYS else _DAYS[0])
        since = timedelta(days=days)
        statistics = await self._client.desk.governance.statistics(NAME, manager.community, manager.person, since)
        others = [
            (
                gettext("The last {days} days", manager.locale, days=number),
                press_data(manager.community, "stats", number),
            )
            for number in _DAYS
            if number != str(days)
        ]
        return PanelMessage(reports.statistics_text(statistics, days, manager.reader), buttons(others))

    async def _cases(self, _chat: PrivateChat, manager: GroupManager, field: str) -> PanelMessage:
        cases = await self._client.desk.casework.open_cases(
            NAME, manager.community, manager.person, reports.page_of(field)
        )
        panel = reports.cases_panel(cases, manager.reader)
        others = [(button.label, press_data(manager.community, "cases", button.field)) for button in panel.buttons]
        return PanelMessage("\n".join(part for part in panel.parts if isinstance(part, str)), buttons(others))

    async def _case(self, _chat: PrivateChat, manager: GroupManager, field: str) -> PanelMessage:
        """The card of a case, which answers presses here, too; where an open one has lost its card, that comes back."""
        number = beginning_of_id(field)
        if not number:
            raise BadInput(
                gettext("Which case?", manager.locale),
                remedy=gettext("Type its number behind the command, as /cases shows it.", manager.locale),
            )
        card = await self._client.desk.casework.numbered(NAME, manager.community, number, manager.person)
        written = card_message(card, manager.locale)
        return PanelMessage(written.text, written.keyboard)

    async def _pause(self, _chat: PrivateChat, manager: GroupManager, _field: str) -> PanelMessage:
        is_new = await self._client.desk.governance.pause(NAME, manager.community, manager.person)
        if is_new:
            text = gettext("Paused: nothing is posted in this group until a manager resumes.", manager.locale)
        else:
            text = gettext("Posting was paused already.", manager.locale)
        label = gettext("Resume", manager.locale)
        return PanelMessage(text, buttons([(label, press_data(manager.community, "resume", "again"))]))

    async def _resume(self, _chat: PrivateChat, manager: GroupManager, _field: str) -> PanelMessage:
        is_new = await self._client.desk.governance.resume(NAME, manager.community, manager.person)
        if is_new:
            return PanelMessage(gettext("Posting goes on: what moderators approve is sent.", manager.locale))
        return PanelMessage(gettext("Posting was not paused here.", manager.locale))

    async def _lately(self, _chat: PrivateChat, manager: GroupManager, _field: str) -> PanelMessage:
        decisions = await self._client.desk.governance.lately(NAME, manager.community, manager.person)
        return PanelMessage(reports.lately_text(decisions, manager.reader, MAX_CHARACTERS))

    async def _export(self, chat: PrivateChat, manager: GroupManager, field: str) -> PanelMessage:
        locale = manager.locale
        await require(self._client.desk, manager, OnCommunity.EXPORT)
        offered = [(words, press_data(manager.community, "export", suffix)) for suffix, words in _SUFFIXES.items()]
        if field in _SUFFIXES:
            rows, data = await reports.exported(
                self._client.desk.governance, NAME, manager.community, manager.person, field
            )
            if len(data) > _MOST_BYTES:
                raise BadInput(
                    gettext("The file is larger than Telegram takes.", locale),
                    remedy=gettext("Ask the person who runs Antiphon for it: antiphon export.", locale),
                )
            text = gettext("{rows} cases, with a pseudonym in place of every name.", locale, rows=rows)
            await chat.send(data, f"antiphon-cases.{field}", text)
        return PanelMessage(gettext("The cases as a file, without names", locale), buttons(offered))
