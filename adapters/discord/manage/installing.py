"""How the parts of ``/antiphon`` are put together on one client. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable

from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.events import listen
from adapters.discord.manage.commands import CardView, Commands, group_of
from adapters.discord.manage.panel_actions import PanelActions
from adapters.discord.speech.private_answers import answer_command_errors
from core.ports import HateDetector


def _nothing() -> int:
    return 0


def install(
    client: AntiphonClient,
    *,
    card_view: CardView,
    left_out: Callable[[], int] = _nothing,
    detector: HateDetector | None = None,
) -> None:
    """Add the commands and the panels to a client that is about to connect.

    Args:
        card_view: shows one case.
        left_out: how many posts were not looked at (``Capture.left_out``).
        detector: the filter of watched channels; ``None`` where there is none.
    """
    panels = PanelActions(client, detector)
    client.tree.add_command(group_of(Commands(client, panels, left_out, detector, card_view)))
    answer_command_errors(client.tree)
    listen(client, "interaction", panels.hear)
