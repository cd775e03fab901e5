"""Dialogs as modals of Discord, and what a person wrote into them.

Owns their form. discord.py forgets a modal when the process ends, so nothing is kept in one: its custom id and the
fixed ids of its fields say all that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import discord
from discord import ui

from adapters.common.decisions.press import TEXT, Dialog
from adapters.discord.review.ids import custom_id
from adapters.discord.speech.exact_text import MAX_CHARACTERS

_MAX_NOTE: Final = 500
_OPEN_SECONDS: Final = 1800.0
_TITLE, _LABEL = 45, 45


def modal_of(dialog: Dialog) -> ui.Modal:
    """A dialog as Discord shows it."""
    modal = ui.Modal(title=dialog.title[:_TITLE], custom_id=custom_id(dialog.target), timeout=_OPEN_SECONDS)
    modal.add_item(ui.Label(text=dialog.label[:_LABEL], component=_field(dialog)))
    return modal


def _field(dialog: Dialog) -> ui.TextInput[Any]:
    if dialog.field == TEXT:
        most, least, begun = MAX_CHARACTERS, None, dialog.text[:MAX_CHARACTERS] or None
    else:
        most, least, begun = _MAX_NOTE, 1, None
    return ui.TextInput(
        custom_id=dialog.field,
        style=discord.TextStyle.paragraph,
        default=begun,
        min_length=least,
        max_length=most,
    )


def fields_of(data: Mapping[str, Any]) -> dict[str, str]:
    """What was written, by the ids of the fields, in whatever rows or labels they came."""
    return dict(_fields(data.get("components") or ()))


def _fields(components: Any) -> Iterator[tuple[str, str]]:
    for component in components:
        if isinstance(component.get("value"), str) and component.get("custom_id"):
            yield component["custom_id"], component["value"]
        inner = component.get("component")
        yield from _fields([*(component.get("components") or ()), *([inner] if inner else [])])
