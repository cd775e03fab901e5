"""What managers do with Antiphon on Telegram: panels and reports in their private chat with the bot."""

from __future__ import annotations

from collections.abc import Callable

from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.manage.commands import ManagerCommands, tell_commands
from adapters.telegram.manage.groups import GroupMoves
from adapters.telegram.manage.panel_actions import PanelActions
from adapters.telegram.manage.reports import Reports
from core.engine.ports import HateDetector

__all__ = ["GroupMoves", "install", "tell_commands"]


def _nothing() -> int:
    return 0


def install(
    client: TelegramClient, *, detector: HateDetector | None = None, left_out: Callable[[], int] = _nothing
) -> None:
    """Add the commands and the panels to a client.

    Args:
        detector: the filter of watched groups; ``None`` where there is none.
        left_out: how many posts were not looked at (``Capture.left_out``).
    """
    reports = Reports(client, left_out, detector)
    panels = PanelActions(client, detector, reports)
    client.listen("message", ManagerCommands(client, panels, reports).hear)
    client.listen("message", panels.hear_answer)
    client.listen("callback_query", panels.hear_press)
