"""The ``/antiphon`` commands.

Owns their names and what each asks of the governance. Which people Discord shows them to is only a default that an
administrator can change, so every one asks for the person's rights itself. Every answer is for the person alone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from typing import Final, TypeAlias

import discord
from discord import app_commands, ui
from discord.app_commands import Choice, locale_str

from adapters.common.manage import cases, setup, targets
from adapters.common.manage.managers import require
from adapters.common.manage.reports import Watch, exported, lately_text, statistics_text, status_text
from adapters.discord.connection.client import IN_SERVERS, INSTALLED_IN_SERVERS, AntiphonClient
from adapters.discord.connection.events import listen
from adapters.discord.connection.refs import NAME
from adapters.discord.manage.panel_actions import PanelActions
from adapters.discord.manage.servers import Server, ServerManager, manager_of
from adapters.discord.speech.exact_text import MAX_CHARACTERS
from adapters.discord.speech.private_answers import Interaction, answer, answer_command_errors, defer
from core.errors import BadInput
from core.i18n.catalogs import gettext
from core.moderation.cards import Card
from core.moderation.roles import OnCase, OnCommunity
from core.ports import HateDetector


def may_not_read(locale: str) -> str:
    """How posts are flagged without the message-content intent."""
    return gettext(
        "The bot may not read messages: posts are flagged by their menu and by /counter, not by reaction, "
        "AutoMod or filter.",
        locale,
    )


def help_text(locale: str) -> str:
    """Who can do what, and what never happens."""
    return "\n".join(
        [
            f"## {gettext('Antiphon', locale)}",
            gettext("It drafts replies to hateful posts. People review them; nothing is posted by itself.", locale),
            gettext("**To flag a post**: hold or right-click it, Apps, then “Draft a reply”.", locale),
            gettext("**/counter**: the same with a link to a message, or with words from anywhere.", locale),
            gettext("**/antiphon setup**: review channel, roles, watched channels, shadow mode.", locale),
            gettext(
                "**/antiphon targets**: groups, keywords, forbidden words, kinds of reply, tone, evidence.", locale
            ),
            gettext("**/antiphon cases** and **case**: the open cases, and one of them by its number.", locale),
            gettext("**/antiphon status** and **stats**: how things are now, and what happened.", locale),
            gettext("**/antiphon lately**: who decided what.", locale),
            gettext("**/antiphon pause** and **resume**: stop all posting at once, and go on.", locale),
            gettext("**/antiphon export**: the cases as a file, without names.", locale),
            gettext("Private channels and direct messages are never read.", locale),
        ]
    )


CardView: TypeAlias = Callable[[Card, str], ui.LayoutView]
"""A card as a message, in a language."""
_MAX_NOTE: Final = 200
_MAX_NUMBER: Final = 33
_In = discord.Interaction[AntiphonClient]


class Commands:
    """What each command does.

    Args:
        left_out: how many posts capture could not look at since the start.
        detector: the filter of watched channels; ``None`` where there is none.
        card_view: shows one case.
    """

    def __init__(
        self,
        client: AntiphonClient,
        panels: PanelActions,
        left_out: Callable[[], int],
        detector: HateDetector | None,
        card_view: CardView,
    ) -> None:
        self._client = client
        self._panels = panels
        self._card_view = card_view
        self._left_out = left_out
        self._detector = detector

    async def show_panel(self, interaction: Interaction, panel: str) -> None:
        """Show the panel in which a manager, or the server's owner, may change things."""
        manager = await self._begin(interaction, OnCommunity.CONFIGURE)
        await self._panels.show(interaction, manager, panel)

    async def status(self, interaction: Interaction) -> None:
        """Tell the status of the desk."""
        manager = await self._begin(interaction, OnCommunity.READ_STATISTICS)
        governance = self._client.desk.governance
        found = await governance.status(NAME, manager.community, manager.person)
        policy = await governance.policy(NAME, manager.community)
        reads = self._client.options.reads_messages
        watched = self._detector if policy.watched_channels else None
        languages = frozenset[str]() if watched is None else watched.languages
        watch = Watch("" if reads else may_not_read(manager.locale), self._left_out(), languages)
        wanting = Server(manager.guild, reads).lacking(policy, manager.locale)
        await answer(interaction, status_text(found, watch, wanting, manager.reader))

    async def list_cases(self, interaction: Interaction) -> None:
        """List the open cases, oldest first."""
        manager = await self._begin(interaction, OnCase.READ)
        await self._panels.show(interaction, manager, cases.PANEL)

    async def show_case(self, interaction: Interaction, number: str) -> None:
        """Show one case by its number; if it is open, its card comes back to the review channel where it is gone."""
        manager = await self._begin(interaction, OnCase.READ)
        casework = self._client.desk.casework
        card = await casework.numbered(NAME, manager.community, number, manager.person)
        await interaction.edit_original_response(view=self._card_view(card, manager.locale))

    async def pause(self, interaction: Interaction, note: str) -> None:
        """Stop all posting here at once."""
        manager = await self._begin(interaction, OnCommunity.PAUSE)
        is_new = await self._client.desk.governance.pause(NAME, manager.community, manager.person, note)
        if is_new:
            said = gettext(
                "Paused: nothing is posted here until a manager resumes with /antiphon resume.", manager.locale
            )
        else:
            said = gettext("Posting was paused already.", manager.locale)
        await answer(interaction, said)

    async def resume(self, interaction: Interaction, note: str) -> None:
        """Allow posting again."""
        manager = await self._begin(interaction, OnCommunity.RESUME)
        is_new = await self._client.desk.governance.resume(NAME, manager.community, manager.person, note)
        if is_new:
            said = gettext("Posting goes on: what moderators approve is sent.", manager.locale)
        else:
            said = gettext("Posting was not paused here.", manager.locale)
        await answer(interaction, said)

    async def statistics(self, interaction: Interaction, days: int) -> None:
        """Say what happened lately."""
        manager = await self._begin(interaction, OnCommunity.READ_STATISTICS)
        found = await self._client.desk.governance.statistics(
            NAME, manager.community, manager.person, timedelta(days=days)
        )
        await answer(interaction, statistics_text(found, days, manager.reader))

    async def lately(self, interaction: Interaction) -> None:
        """Say who decided what lately; the desk asks whether the person may read cases."""
        await defer(interaction)
        manager = await manager_of(self._client, interaction)
        found = await self._client.desk.governance.lately(NAME, manager.community, manager.person)
        await answer(interaction, lately_text(found, manager.reader, MAX_CHARACTERS))

    async def export(self, interaction: Interaction, suffix: str) -> None:
        """Hand over the cases as a file."""
        manager = await self._begin(interaction, OnCommunity.EXPORT)
        rows, data = await exported(self._client.desk.governance, NAME, manager.community, manager.person, suffix)
        if len(data) > interaction.filesize_limit:
            raise BadInput(
                gettext("The file is larger than Discord takes here.", manager.locale),
                remedy=gettext("Ask the person who runs Antiphon for it: antiphon export.", manager.locale),
            )
        file = discord.File(BytesIO(data), filename=f"antiphon-cases.{suffix}")
        said = gettext("{rows} cases, with a pseudonym in place of every name.", manager.locale, rows=rows)
        await interaction.followup.send(said, file=file, ephemeral=True)

    async def help(self, interaction: Interaction) -> None:
        """Say what Antiphon does; anybody may know."""
        await defer(interaction)
        manager = await manager_of(self._client, interaction)
        await answer(interaction, help_text(manager.locale))

    async def _begin(self, interaction: Interaction, action: OnCase | OnCommunity) -> ServerManager:
        await defer(interaction)
        manager = await manager_of(self._client, interaction)
        await require(self._client.desk, manager, action)
        return manager


def group_of(commands: Commands) -> app_commands.Group:
    """The group with all its commands; shown by default to people who may manage messages."""
    group = app_commands.Group(
        name=locale_str("antiphon"),
        description=locale_str("Set Antiphon up, see how it stands, stop it."),
        default_permissions=discord.Permissions(manage_messages=True),
        allowed_contexts=IN_SERVERS,
        allowed_installs=INSTALLED_IN_SERVERS,
    )
    _add_panels(group, commands)
    _add_cases(group, commands)
    _add_switches(group, commands)
    _add_reports(group, commands)
    return group


def _add_panels(group: app_commands.Group, commands: Commands) -> None:
    @group.command(name=locale_str("setup"), description=locale_str("Review channel, roles, watched channels, posting"))
    async def show_setup(interaction: _In) -> None:
        await commands.show_panel(interaction, setup.PANEL)

    @group.command(
        name=locale_str("targets"),
        description=locale_str("Groups, keywords, forbidden words, kinds of reply, tone, evidence"),
    )
    async def show_targets(interaction: _In) -> None:
        await commands.show_panel(interaction, targets.PANEL)


def _add_cases(group: app_commands.Group, commands: Commands) -> None:
    @group.command(name=locale_str("cases"), description=locale_str("The open cases, oldest first"))
    async def list_cases(interaction: _In) -> None:
        await commands.list_cases(interaction)

    @group.command(name=locale_str("case"), description=locale_str("One case, by the number on its card"))
    @app_commands.describe(number=locale_str("The number of the case, such as A1B2C"))
    @app_commands.rename(number=locale_str("number"))
    async def show_case(interaction: _In, number: app_commands.Range[str, 1, _MAX_NUMBER]) -> None:
        await commands.show_case(interaction, number)


def _add_switches(group: app_commands.Group, commands: Commands) -> None:
    @group.command(name=locale_str("pause"), description=locale_str("Stop all posting in this server at once"))
    @app_commands.describe(note=locale_str("Why, for the audit log"))
    @app_commands.rename(note=locale_str("note"))
    async def pause(interaction: _In, note: app_commands.Range[str, 0, _MAX_NOTE] = "") -> None:
        await commands.pause(interaction, note)

    @group.command(name=locale_str("resume"), description=locale_str("Allow posting again"))
    @app_commands.describe(note=locale_str("Why, for the audit log"))
    @app_commands.rename(note=locale_str("note"))
    async def resume(interaction: _In, note: app_commands.Range[str, 0, _MAX_NOTE] = "") -> None:
        await commands.resume(interaction, note)


def _add_reports(group: app_commands.Group, commands: Commands) -> None:
    @group.command(name=locale_str("status"), description=locale_str("Queue, model, time to expect, missing rights"))
    async def status(interaction: _In) -> None:
        await commands.status(interaction)

    @group.command(name=locale_str("stats"), description=locale_str("What happened lately"))
    @app_commands.describe(days=locale_str("Of how many days"))
    @app_commands.rename(days=locale_str("days"))
    @app_commands.choices(
        days=[Choice(name=locale_str("7 days"), value=7), Choice(name=locale_str("28 days"), value=28)]
    )
    async def stats(interaction: _In, days: int = 7) -> None:
        await commands.statistics(interaction, days)

    @group.command(name=locale_str("lately"), description=locale_str("Who decided what lately"))
    async def lately(interaction: _In) -> None:
        await commands.lately(interaction)

    @group.command(name=locale_str("export"), description=locale_str("The cases as a file, without names"))
    @app_commands.describe(format=locale_str("A table, or one JSON object on each line"))
    @app_commands.rename(format=locale_str("format"))
    @app_commands.choices(format=[Choice(name="CSV", value="csv"), Choice(name="JSON Lines", value="jsonl")])
    async def export(interaction: _In, format: str = "csv") -> None:
        await commands.export(interaction, format)

    @group.command(name=locale_str("help"), description=locale_str("What Antiphon does, and how"))
    async def show_help(interaction: _In) -> None:
        await commands.help(interaction)


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
