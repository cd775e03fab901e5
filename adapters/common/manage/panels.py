"""A panel of settings as data: its texts, its choices, and its forms.

A panel keeps nothing in memory: each choice names its panel and its field.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.i18n.catalogs import gettext

SETUP: Final = "setup"
"""The panel that the other pages of settings lead back to."""


class ChoiceOf(StrEnum):
    """What a choice offers; a platform offers its own channels and roles."""

    ROWS = "rows"
    REVIEW_CHANNELS = "review channels"
    WATCHED_CHANNELS = "watched channels"
    ROLES = "roles"


@dataclass(frozen=True, slots=True)
class PanelChoice:
    """A choice with the words above it.

    Attributes:
        field: what it sets.
        title: the words, marked up.
        rows: values and their words, if the platform does not bring its own.
        chosen: the values that are set now.
        least, most: how many can be chosen.
    """

    field: str
    title: str
    among: ChoiceOf = ChoiceOf.ROWS
    rows: tuple[tuple[str, str], ...] = ()
    chosen: tuple[str, ...] = ()
    least: int = 0
    most: int = 1


@dataclass(frozen=True, slots=True)
class PanelButton:
    """A button of a panel.

    Attributes:
        is_first: whether most people want this one.
        panel: the panel that the button belongs to; "" for the one that it stands on.
    """

    field: str
    label: str
    is_first: bool = False
    panel: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel from top to bottom: marked-up texts and choices, and below them its buttons.

    Attributes:
        notice: what the last choice did, or why it was refused; "" for none.
        touched: the field of that choice, beside which a long panel says it.
    """

    name: str
    parts: tuple[str | PanelChoice, ...]
    buttons: tuple[PanelButton, ...] = ()
    notice: str = ""
    touched: str = ""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field to type in, with its present value."""

    name: str
    label: str
    value: str
    limit: int
    description: str = ""
    is_long: bool = False
    is_needed: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """Fields to type in; what is sent comes back as ``field`` of the panel."""

    panel: str
    field: str
    title: str
    fields: tuple[FormField, ...]


def either(field: str, title: str, rows: tuple[tuple[str, str], ...], is_on: bool) -> PanelChoice:
    """A switch: ``title`` is marked up, and ``rows`` are the values "no" and "yes" with their words."""
    return PanelChoice(field, title, rows=rows, chosen=("yes" if is_on else "no",), least=1)


def back_to_setup(locale: str) -> PanelButton:
    """The button that leads from another page of settings back to the first."""
    return PanelButton("again", gettext("Back", locale), panel=SETUP)
