"""A card or a screen as one message of Discord; its buttons and selects carry their ``Target``, and outlast a restart.

Each press goes to the one answerer that was installed on the client.
"""

import io
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, Self
from weakref import WeakKeyDictionary

import discord
from discord import ui

from adapters.common.cards.contents import sections
from adapters.common.cards.controls import Act, Control, Emphasis, Target
from adapters.common.decisions.press import Options, Screen, TextFile
from adapters.common.words.excerpts import shortened
from adapters.common.words.markup import no_address
from adapters.discord.speech import reader_of
from core.desk.rules.case_cards import Card
from core.models import PostRef

TEMPLATE: Final = (
    r"antiphon:(?P<act>[a-z_]{1,16}):(?P<case>[0-9a-f]{32}):(?P<version>[0-9]{1,10})(?::(?P<extra>[0-9a-z]{1,16}))?"
)
_PATTERN: Final = re.compile(TEMPLATE)


def custom_id(target: Target) -> str:
    """The custom id of a target: at most 83 of the 100 characters that Discord keeps."""
    parts = ["antiphon", target.act, target.case_id, str(target.version), *([target.extra] if target.extra else [])]
    return ":".join(parts)


def target_of(custom_id: str) -> Target | None:
    """The target that a custom id names; ``None`` if it is not one of ours."""
    match = _PATTERN.fullmatch(custom_id)
    if match is None or match["act"] not in list(Act):
        return None
    return Target(Act(match["act"]), match["case"], int(match["version"]), match["extra"] or "")


_LABEL, _IN_A_ROW = 80, 5
_OPTION, _OPTIONS, _PLACEHOLDER = 100, 25, 150
_STYLES: Final = {
    Emphasis.PLAIN: discord.ButtonStyle.secondary,
    Emphasis.FIRST: discord.ButtonStyle.primary,
    Emphasis.FINAL: discord.ButtonStyle.success,
    Emphasis.GRAVE: discord.ButtonStyle.danger,
}


class Answerer(Protocol):
    async def press(self, interaction: discord.Interaction, target: Target, values: tuple[str, ...]) -> None:
        """Answer a press of a button, or of a select with its values; never raises."""
        ...


ANSWERERS: Final[WeakKeyDictionary[discord.Client, Answerer]] = WeakKeyDictionary()
"""By client, since a component that is found again after a restart knows nothing else."""


class CaseItem(ui.DynamicItem[ui.Item[Any]], template=TEMPLATE):
    """A button or a select of a case."""

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """The component as it was, whichever process made it."""
        return cls(item)

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        target, answerer = target_of(self.custom_id), ANSWERERS.get(interaction.client)
        if target is not None and answerer is not None:
            data: Any = interaction.data or {}
            await answerer.press(interaction, target, tuple(data.get("values") or ()))


def rows(controls: Sequence[Control], case_id: str, version: int) -> list[ui.ActionRow[Any]]:
    """Buttons, five in a row."""
    buttons = [_button(control, case_id, version) for control in controls]
    return [ui.ActionRow(*buttons[start : start + _IN_A_ROW]) for start in range(0, len(buttons), _IN_A_ROW)]


def _button(control: Control, case_id: str, version: int) -> CaseItem:
    target = custom_id(control.target(case_id, version))
    return CaseItem(ui.Button(label=control.label[:_LABEL], style=_STYLES[control.weight], custom_id=target))


def _choice(options: Options) -> ui.ActionRow[Any]:
    """A select of one value."""
    rows = [discord.SelectOption(label=shortened(words, _OPTION), value=value) for value, words in options.rows]
    target, placeholder = custom_id(options.target), options.question[:_PLACEHOLDER]
    return ui.ActionRow(CaseItem(ui.Select(custom_id=target, placeholder=placeholder, options=rows[:_OPTIONS])))


def layout(*parts: ui.Item[Any]) -> ui.LayoutView:
    """A message of parts under each other, whose buttons have no end."""
    view = ui.LayoutView(timeout=None)
    container: ui.Container[ui.LayoutView] = ui.Container()
    for part in parts:
        container.add_item(part)
    view.add_item(container)
    return view


def screen_layout(screen: Screen) -> tuple[ui.LayoutView, list[discord.File]]:
    """A message for one person, and its files."""
    parts: list[ui.Item[Any]] = []
    files: list[discord.File] = []
    for part in screen.parts:
        if isinstance(part, TextFile):
            files.append(_file(part))
            parts.append(ui.File(files[-1]))
        else:
            parts.append(ui.TextDisplay(part))
    parts += rows(screen.controls, screen.case_id, screen.version)
    return layout(*parts, *([] if screen.options is None else [_choice(screen.options)])), files


def _file(file: TextFile) -> discord.File:
    name = f"SPOILER_{file.name}" if file.is_covered else file.name
    return discord.File(io.BytesIO(file.text.encode("utf-8", "replace")), name)


MAX_TEXT: Final = 4000
_SPARE: Final = 60


def card_layout(
    card: Card, locale: str, *, covers_all: bool = False, elsewhere: Callable[[PostRef], str] = no_address
) -> ui.LayoutView:
    """The whole card in a language; with ``covers_all`` without the post's words and the drafts."""
    parts: list[ui.Item[Any]] = []
    is_apart = True
    for section in sections(card, reader_of(locale, elsewhere), MAX_TEXT - _SPARE, covers_all=covers_all):
        if section.text:
            parts += [*([] if is_apart else [ui.Separator()]), ui.TextDisplay(section.text)]
        parts += rows(section.controls, card.case_id, card.version)
        is_apart = bool(section.controls)  # a row of buttons keeps two texts apart by itself
    return layout(*parts)
