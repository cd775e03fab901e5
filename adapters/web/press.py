"""A press on a page, in the form in which every platform makes it.

Owns how the flows of ``adapters.common.decisions`` speak to a person at a browser: what they are answered with is kept,
and the page shows it. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from adapters.common.cards.acts import Act, Target
from adapters.common.cards.controls import Control
from adapters.common.decisions.press import Dialog, Options, Screen
from adapters.common.words.markup import Reader
from core.moderation.cards import Card, ProposedReply
from core.moderation.desk_ports import Casework
from core.moderation.roles import Person

_ROOM: Final = 1_000_000
"""A page scrolls: nothing has to be left out."""


@dataclass
class PagePress:
    """``Press`` at a browser.

    Attributes:
        screens: what it was answered with.
        concluded: what was done, in words.
    """

    casework: Casework
    target: Target
    by: Person
    reader: Reader
    values: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    is_on_card: bool = True
    room: int = _ROOM
    screens: list[Screen] = field(default_factory=list)
    dialog: Dialog | None = None
    concluded: str = ""

    @property
    def locale(self) -> str:
        """The language of the page."""
        return self.reader.locale

    async def listen(self) -> None:
        """The language is known."""

    async def think(self) -> None:
        """Nothing has to be said in time."""

    async def defer(self) -> None:
        """Nothing has to be said in time."""

    async def answer(self, screen: Screen) -> None:
        """Keep it for the page."""
        self.screens.append(screen)

    async def answer_card(self, card: Card) -> None:
        """The page shows the case as it is in any case."""

    async def replace(self, screen: Screen) -> None:
        """Keep it as what was done."""
        self.concluded = "\n".join(part for part in screen.parts if isinstance(part, str))

    async def ask(self, dialog: Dialog) -> None:
        """Keep what is to be written."""
        self.dialog = dialog

    async def say(self, *sentences: str) -> None:
        """Keep it as what was done."""
        self.concluded = " ".join(sentence for sentence in sentences if sentence)

    async def show(self, card: Card) -> None:
        """The page shows the case as it is in any case."""

    async def conclude(self, card: Card, sentence: str, *controls: Control) -> None:
        """Keep what was done."""
        self.concluded = sentence

    @property
    def proposal(self) -> ProposedReply | None:
        """The text that is to be approved, once one was proposed."""
        return next((screen.proposal for screen in self.screens if screen.proposal is not None), None)

    @property
    def confirm(self) -> Control | None:
        """The second deliberate act, where the first one led to a text."""
        offered = [control for screen in self.screens for control in screen.controls]
        return next((control for control in offered if control.act is Act.CONFIRM), None)

    @property
    def options(self) -> Options | None:
        """A question with answers to choose from."""
        return next((screen.options for screen in self.screens if screen.options is not None), None)
