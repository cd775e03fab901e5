"""The ``/antiphon`` commands, and the panels that they open.

Discord shows them to certain people by a default that an administrator can change, so every command asks for the
person's rights itself. Every answer is for the person alone.
"""

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import BytesIO
from typing import Any, Final, TypeAlias

import discord
from discord import app_commands, ui
from discord.app_commands import Choice, locale_str

from adapters.common.manage import reports, setup, targets
from adapters.common.manage.choices import PanelAnswer, Panels, in_time
from adapters.common.manage.managers import require
from adapters.common.manage.panels import ChoiceOf, Form, FormField, Panel, PanelButton, PanelChoice
from adapters.common.manage.reports import Watch, exported, lately_text, statistics_text, status_text
from adapters.discord import speech
from adapters.discord.connection.client import IN_SERVERS, INSTALLED_IN_SERVERS, AntiphonClient, acts, listen
from adapters.discord.connection.error_meanings import FAULTS
from adapters.discord.connection.refs import NAME
from adapters.discord.manage.servers import Server, ServerManager, manager_of
from core.desk.rules.case_cards import Card
from core.desk.rules.roles import OnCase, OnCommunity
from core.engine.ports import HateDetector
from core.errors import BadInput, PlatformUnavailable
from core.i18n.catalogs import gettext

_LOG = logging.getLogger(__name__)
PREFIX: Final = "antiphon:manage:"
_WATCHED: Final = [discord.ChannelType.text, discord.ChannelType.news, discord.ChannelType.forum]
_TITLE, _LABEL, _DESCRIPTION = 45, 45, 100
_IN_A_ROW: Final = 5
CardView: TypeAlias = Callable[[Card, str], ui.LayoutView]
"""A card as a message, in a language."""
_MAX_NOTE: Final = 200
_MAX_NUMBER: Final = 33
_In = discord.Interaction[AntiphonClient]


async def tell_commands(client: AntiphonClient) -> None:
    """Tell Discord of the tree's commands, in its languages; call it after the login.

    Raises:
        PlatformUnavailable: Discord refused the commands, or cannot be reached.
    """
    try:
        await client.tree.set_translator(speech.CommandTranslator())
        await client.tree.sync()
    except discord.Forbidden as err:
        raise PlatformUnavailable(
            "Discord does not let this bot add commands.",
            remedy="Invite it again with the scopes bot and applications.commands; docs/platforms/discord.md has the "
            "link.",
        ) from err
    except FAULTS as err:
        raise PlatformUnavailable(
            f"Discord did not take the commands ({type(err).__name__}).",
            remedy="Start Antiphon again later; until then the commands stay as they were.",
        ) from err


def custom_id(panel: str, field: str) -> str:
    return f"{PREFIX}{panel}:{field}"


def field_of(raw: object) -> tuple[str, str] | None:
    """The panel and field that a custom id names; ``None`` where it is not ours."""
    parts = str(raw).removeprefix(PREFIX).split(":")
    return (parts[0], parts[1]) if str(raw).startswith(PREFIX) and len(parts) == 2 else None


def panel_layout(panel: Panel, guild: discord.Guild) -> ui.LayoutView:
    """A panel as a message; discord.py keeps nothing of it, since its choices are found by their custom ids alone."""
    view = ui.LayoutView(timeout=None)
    for part in _with_notice(panel):
        if isinstance(part, PanelChoice):
            view.add_item(ui.TextDisplay(part.title))
            view.add_item(ui.ActionRow(_select(panel.name, part, guild)))
        else:
            view.add_item(ui.TextDisplay(part))
    for start in range(0, len(panel.buttons), _IN_A_ROW):
        row = panel.buttons[start : start + _IN_A_ROW]
        view.add_item(ui.ActionRow(*(_button(button.panel or panel.name, button) for button in row)))
    view.stop()
    return view


def _with_notice(panel: Panel) -> Iterator[str | PanelChoice]:
    """The parts of a panel, with the notice above the list that was touched, else above the buttons.

    A panel is several screens long on a phone, where nobody would see at its top what a list further below did.
    """
    has_notice = not panel.notice
    for part in panel.parts:
        if not has_notice and isinstance(part, PanelChoice) and part.field == panel.touched:
            yield panel.notice
            has_notice = True
        yield part
    if not has_notice:
        yield panel.notice


def modal_of(form: Form) -> ui.Modal:
    """A form that is found by its custom id when it is sent, restart or not."""
    modal = ui.Modal(title=form.title[:_TITLE], custom_id=custom_id(form.panel, form.field), timeout=60)
    for field in form.fields:
        modal.add_item(_input(field))
    return modal


def form_values(data: Any) -> dict[str, str]:
    """The texts that were typed into a form, by the custom ids of its fields."""
    typed: dict[str, str] = {}
    for row in data.get("components", ()):
        parts = row.get("components") or ([row["component"]] if "component" in row else [])
        typed.update({part["custom_id"]: str(part.get("value") or "") for part in parts})
    return typed


def _button(panel: str, button: PanelButton) -> ui.Button[Any]:
    style = discord.ButtonStyle.primary if button.is_first else discord.ButtonStyle.secondary
    return ui.Button(label=button.label, style=style, custom_id=custom_id(panel, button.field))


def _select(panel: str, choice: PanelChoice, guild: discord.Guild) -> ui.Item[Any]:
    name = custom_id(panel, choice.field)
    if choice.among is ChoiceOf.ROWS:
        options = [
            discord.SelectOption(label=words, value=value, default=value in choice.chosen)
            for value, words in choice.rows
        ]
        return ui.Select(custom_id=name, options=options, min_values=choice.least, max_values=choice.most)
    if choice.among is ChoiceOf.ROLES:
        roles = _present(choice, guild.get_role, discord.SelectDefaultValueType.role)
        return ui.RoleSelect(custom_id=name, min_values=choice.least, max_values=choice.most, default_values=roles)
    channels = _present(choice, guild.get_channel, discord.SelectDefaultValueType.channel)
    types = [discord.ChannelType.text] if choice.among is ChoiceOf.REVIEW_CHANNELS else _WATCHED
    return ui.ChannelSelect(
        custom_id=name,
        channel_types=types,
        min_values=choice.least,
        max_values=choice.most,
        default_values=channels,
    )


def _present(
    choice: PanelChoice, find: Callable[[int], object | None], kind: discord.SelectDefaultValueType
) -> list[discord.SelectDefaultValue]:
    """The values that are chosen now and that the server still has, as many as Discord takes."""
    numbers = [int(key) for key in choice.chosen if key.isdecimal() and find(int(key)) is not None]
    return [discord.SelectDefaultValue(id=number, type=kind) for number in numbers[: choice.most]]


def _input(field: FormField) -> ui.Label[Any]:
    """A field of a form, with its present value."""
    written: ui.TextInput[Any] = ui.TextInput(
        custom_id=field.name,
        style=discord.TextStyle.paragraph if field.is_long else discord.TextStyle.short,
        default=field.value or None,
        required=field.is_needed,
        max_length=field.limit,
    )
    return ui.Label(text=field.label[:_LABEL], description=field.description[:_DESCRIPTION] or None, component=written)


class PanelActions:
    """Answers the choices in the panels; ``detector`` is the filter of watched channels."""

    def __init__(self, client: AntiphonClient, detector: HateDetector | None) -> None:
        self._client = client
        self._choosing = Panels(client.desk, detector)

    async def hear(self, interaction: speech.Interaction) -> None:
        """Answer an interaction that is one of ours; any other is left alone."""
        data: dict[str, Any] = dict(interaction.data or {})
        panel_field = field_of(data.get("custom_id"))
        if panel_field is None:
            return
        acts(interaction)
        values = tuple(str(value) for value in data.get("values", ()))
        try:
            await self._answer(interaction, PanelAnswer(*panel_field, values, form_values(data)))
        except Exception as err:
            await speech.answer_error(interaction, err)

    async def _answer(self, interaction: speech.Interaction, chosen: PanelAnswer) -> None:
        if chosen.opens_form and interaction.type is discord.InteractionType.component:
            await self._ask(interaction, chosen)
            return
        await interaction.response.defer()
        manager = await manager_of(self._client, interaction)
        await self._put(interaction, manager, await self._choosing.answer(manager, chosen, self._facts(manager)))

    async def _ask(self, interaction: speech.Interaction, chosen: PanelAnswer) -> None:
        """Open a form. Discord takes one only as the first answer, within three seconds: so nothing may take long."""
        async with in_time(speech.reader_language(interaction.locale.value, None)):
            manager = await manager_of(self._client, interaction)
            form = await self._choosing.form(manager, chosen, self._facts(manager))
        await interaction.response.send_modal(modal_of(form))

    async def show(self, interaction: speech.Interaction, manager: ServerManager, panel: str) -> None:
        """Put the panel with the present settings into the answer of an acknowledged interaction."""
        await self._put(interaction, manager, await self._choosing.panel(manager, panel, self._facts(manager)))

    async def _put(self, interaction: speech.Interaction, manager: ServerManager, panel: Panel) -> None:
        await interaction.edit_original_response(view=panel_layout(panel, manager.guild))

    def _facts(self, manager: ServerManager) -> Server:
        return Server(manager.guild, self._client.reads_messages)


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


class Commands(app_commands.Group):
    """``/antiphon`` with all its commands; shown by default to people who may manage messages.

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
        super().__init__(
            name=locale_str("antiphon"),
            description=locale_str("Set Antiphon up, see how it stands, stop it."),
            default_permissions=discord.Permissions(manage_messages=True),
            allowed_contexts=IN_SERVERS,
            allowed_installs=INSTALLED_IN_SERVERS,
        )
        self._client = client
        self._panels = panels
        self._card_view = card_view
        self._left_out = left_out
        self._detector = detector

    @app_commands.command(
        name=locale_str("setup"), description=locale_str("Review channel, roles, watched channels, posting")
    )
    async def show_setup(self, interaction: _In) -> None:
        await self._show_panel(interaction, setup.PANEL)

    @app_commands.command(
        name=locale_str("targets"),
        description=locale_str("Groups, keywords, forbidden words, kinds of reply, tone, evidence"),
    )
    async def show_targets(self, interaction: _In) -> None:
        await self._show_panel(interaction, targets.PANEL)

    @app_commands.command(name=locale_str("cases"), description=locale_str("The open cases, oldest first"))
    async def list_cases(self, interaction: _In) -> None:
        manager = await self._begin(interaction, OnCase.READ)
        await self._panels.show(interaction, manager, reports.PANEL)

    @app_commands.command(name=locale_str("case"), description=locale_str("One case, by the number on its card"))
    @app_commands.describe(number=locale_str("The number of the case, such as A1B2C"))
    @app_commands.rename(number=locale_str("number"))
    async def show_case(self, interaction: _In, number: app_commands.Range[str, 1, _MAX_NUMBER]) -> None:
        """If it is open, its card comes back to the review channel where it is gone."""
        manager = await self._begin(interaction, OnCase.READ)
        casework = self._client.desk.casework
        card = await casework.numbered(NAME, manager.community, number, manager.person)
        await interaction.edit_original_response(view=self._card_view(card, manager.locale))

    @app_commands.command(name=locale_str("pause"), description=locale_str("Stop all posting in this server at once"))
    @app_commands.describe(note=locale_str("Why, for the audit log"))
    @app_commands.rename(note=locale_str("note"))
    async def pause(self, interaction: _In, note: app_commands.Range[str, 0, _MAX_NOTE] = "") -> None:
        manager = await self._begin(interaction, OnCommunity.PAUSE)
        is_new = await self._client.desk.governance.pause(NAME, manager.community, manager.person, note)
        if is_new:
            sentence = gettext(
                "Paused: nothing is posted here until a manager resumes with /antiphon resume.", manager.locale
            )
        else:
            sentence = gettext("Posting was paused already.", manager.locale)
        await speech.answer(interaction, sentence)

    @app_commands.command(name=locale_str("resume"), description=locale_str("Allow posting again"))
    @app_commands.describe(note=locale_str("Why, for the audit log"))
    @app_commands.rename(note=locale_str("note"))
    async def resume(self, interaction: _In, note: app_commands.Range[str, 0, _MAX_NOTE] = "") -> None:
        manager = await self._begin(interaction, OnCommunity.RESUME)
        is_new = await self._client.desk.governance.resume(NAME, manager.community, manager.person, note)
        if is_new:
            sentence = gettext("Posting goes on: what moderators approve is sent.", manager.locale)
        else:
            sentence = gettext("Posting was not paused here.", manager.locale)
        await speech.answer(interaction, sentence)

    @app_commands.command(
        name=locale_str("status"), description=locale_str("Queue, model, time to expect, missing rights")
    )
    async def status(self, interaction: _In) -> None:
        manager = await self._begin(interaction, OnCommunity.READ_STATISTICS)
        governance = self._client.desk.governance
        status = await governance.status(NAME, manager.community, manager.person)
        policy = await governance.policy(NAME, manager.community)
        reads = self._client.reads_messages
        watched = self._detector if policy.watched_channels else None
        languages = frozenset[str]() if watched is None else watched.languages
        watch = Watch("" if reads else may_not_read(manager.locale), self._left_out(), languages)
        lacking = Server(manager.guild, reads).lacking(policy, manager.locale)
        await speech.answer(interaction, status_text(status, watch, lacking, manager.reader))

    @app_commands.command(name=locale_str("stats"), description=locale_str("What happened lately"))
    @app_commands.describe(days=locale_str("Of how many days"))
    @app_commands.rename(days=locale_str("days"))
    @app_commands.choices(
        days=[Choice(name=locale_str("7 days"), value=7), Choice(name=locale_str("28 days"), value=28)]
    )
    async def statistics(self, interaction: _In, days: int = 7) -> None:
        manager = await self._begin(interaction, OnCommunity.READ_STATISTICS)
        figures = await self._client.desk.governance.statistics(
            NAME, manager.community, manager.person, timedelta(days=days)
        )
        await speech.answer(interaction, statistics_text(figures, days, manager.reader))

    @app_commands.command(name=locale_str("lately"), description=locale_str("Who decided what lately"))
    async def lately(self, interaction: _In) -> None:
        """The desk asks whether the person may read cases."""
        manager = await self._begin(interaction)
        decisions = await self._client.desk.governance.lately(NAME, manager.community, manager.person)
        await speech.answer(interaction, lately_text(decisions, manager.reader, speech.MAX_CHARACTERS))

    @app_commands.command(name=locale_str("export"), description=locale_str("The cases as a file, without names"))
    @app_commands.describe(format=locale_str("A table, or one JSON object on each line"))
    @app_commands.rename(format=locale_str("format"))
    @app_commands.choices(format=[Choice(name="CSV", value="csv"), Choice(name="JSON Lines", value="jsonl")])
    async def export(self, interaction: _In, format: str = "csv") -> None:
        manager = await self._begin(interaction, OnCommunity.EXPORT)
        rows, data = await exported(self._client.desk.governance, NAME, manager.community, manager.person, format)
        if len(data) > interaction.filesize_limit:
            raise BadInput(
                gettext("The file is larger than Discord takes here.", manager.locale),
                remedy=gettext("Ask the person who runs Antiphon for it: antiphon export.", manager.locale),
            )
        file = discord.File(BytesIO(data), filename=f"antiphon-cases.{format}")
        sentence = gettext("{rows} cases, with a pseudonym in place of every name.", manager.locale, rows=rows)
        await interaction.followup.send(sentence, file=file, ephemeral=True)

    @app_commands.command(name=locale_str("help"), description=locale_str("What Antiphon does, and how"))
    async def help(self, interaction: _In) -> None:
        """Anybody may know."""
        manager = await self._begin(interaction)
        await speech.answer(interaction, help_text(manager.locale))

    async def _show_panel(self, interaction: _In, panel: str) -> None:
        manager = await self._begin(interaction, OnCommunity.CONFIGURE)
        await self._panels.show(interaction, manager, panel)

    async def _begin(self, interaction: _In, action: OnCase | OnCommunity | None = None) -> ServerManager:
        """Acknowledge a command of somebody who may do this."""
        await speech.defer(interaction)
        manager = await manager_of(self._client, interaction)
        if action is not None:
            await require(self._client.desk, manager, action)
        return manager


def install(
    client: AntiphonClient,
    *,
    card_view: CardView,
    left_out: Callable[[], int] = lambda: 0,
    detector: HateDetector | None = None,
) -> None:
    """Add the commands and the panels to a client that is about to connect.

    Args:
        card_view: shows one case.
        left_out: how many posts were not looked at (``Capture.left_out``).
        detector: the filter of watched channels; ``None`` where there is none.
    """
    panels = PanelActions(client, detector)
    client.tree.add_command(Commands(client, panels, left_out, detector, card_view))
    speech.answer_command_errors(client.tree)
    listen(client, "interaction", panels.hear)
