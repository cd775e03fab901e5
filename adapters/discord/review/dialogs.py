"""The modals: what they ask, and what a person wrote into them.

Owns their fields. discord.py forgets a modal when the process ends, so nothing is kept in one: its custom id and the
fixed ids of its fields say all, whoever reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import discord
from discord import ui

from adapters.discord.review.ids import Act, Target
from core.i18n.catalogs import gettext

TEXT: Final = "text"
NOTE: Final = "note"
MAX_REPLY: Final = 2000
_MAX_NOTE: Final = 500
_OPEN_SECONDS: Final = 1800.0
_TITLE, _LABEL = 45, 45


def edit_dialog(target: Target, text: str, locale: str) -> ui.Modal:
    """A reply to be written, beginning with a text."""
    field: ui.TextInput[Any] = ui.TextInput(
        custom_id=TEXT, style=discord.TextStyle.paragraph, default=text[:MAX_REPLY] or None, max_length=MAX_REPLY
    )
    return _dialog(target, gettext("Edit the reply", locale), gettext("Reply", locale), field)


def note_dialog(target: Target, locale: str) -> ui.Modal:
    """A reason to be written down for what the target does."""
    titles = {
        Act.DECLINE: gettext("Why will no draft do?", locale),
        Act.SILENT: gettext("Why no reply?", locale),
        Act.WITHDRAW: gettext("Why withdraw this case?", locale),
        Act.RETRACT: gettext("Why take the reply back?", locale),
    }
    field: ui.TextInput[Any] = ui.TextInput(
        custom_id=NOTE, style=discord.TextStyle.paragraph, min_length=1, max_length=_MAX_NOTE
    )
    return _dialog(target, titles[target.act], gettext("Reason", locale), field)


def _dialog(target: Target, title: str, label: str, field: ui.TextInput[Any]) -> ui.Modal:
    modal = ui.Modal(title=title[:_TITLE], custom_id=target.custom_id, timeout=_OPEN_SECONDS)
    modal.add_item(ui.Label(text=label[:_LABEL], component=field))
    return modal


def fields_of(data: Mapping[str, Any]) -> dict[str, str]:
    """What was written, by the ids of the fields, in whatever rows or labels they came."""
    return dict(_fields(data.get("components") or ()))


def _fields(components: Any) -> Iterator[tuple[str, str]]:
    for component in components:
        if isinstance(component.get("value"), str) and component.get("custom_id"):
            yield component["custom_id"], component["value"]
        inner = component.get("component")
        yield from _fields([*(component.get("components") or ()), *([inner] if inner else [])])
