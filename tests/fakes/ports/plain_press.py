"""A press on a platform of plain words, and all that it was answered with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.common.cards.contents import sections
from adapters.common.cards.controls import Act, Control, Target
from adapters.common.decisions.press import Dialog, Screen, TextFile
from adapters.common.words.markup import Reader
from core.desk.review.casework import Casework
from core.desk.rules.case_cards import Card
from core.desk.rules.roles import Person
from tests.fakes.ports.plain_markup import plain_reader


@dataclass
class PlainPress:
    """Implements ``Press``. ``trouble`` is raised by the next answer, once."""

    casework: Casework
    target: Target
    by: Person
    values: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    is_on_card: bool = True
    locale: str = "en"
    room: int = 2000
    trouble: Exception | None = None
    screens: list[Screen] = field(default_factory=list)
    dialogs: list[Dialog] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)

    @property
    def reader(self) -> Reader:
        return plain_reader(self.locale)

    @property
    def said(self) -> str:
        """Every text that it was answered with."""
        parts = [part for screen in self.screens for part in screen.parts]
        return "\n".join(part for part in parts if isinstance(part, str))

    @property
    def files(self) -> list[TextFile]:
        return [part for screen in self.screens for part in screen.parts if isinstance(part, TextFile)]

    def controls(self) -> dict[str, Control]:
        return {control.label: control for control in self.screens[-1].controls}

    def then(self, act: Act, extra: str = "", **changes: object) -> PlainPress:
        """What the same person presses next, on what they see now."""
        screen = self.screens[-1] if self.screens else None
        version = screen.version if screen is not None and screen.version else self.target.version
        made = PlainPress(self.casework, Target(act, self.target.case_id, version, extra), self.by)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    async def listen(self) -> None:
        """The language is known."""

    async def think(self) -> None:
        """Nobody waits."""

    async def defer(self) -> None:
        """Nobody waits."""

    async def answer(self, screen: Screen) -> None:
        if self.trouble is not None:
            trouble, self.trouble = self.trouble, None
            raise trouble
        self.screens.append(screen)

    async def answer_card(self, card: Card) -> None:
        await self.answer(Screen(tuple(one.text for one in sections(card, self.reader, self.room) if one.text)))

    async def replace(self, screen: Screen) -> None:
        await self.answer(screen)

    async def ask(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog)

    async def say(self, *sentences: str) -> None:
        await self.answer(Screen(("\n".join(one for one in sentences if one),)))

    async def show(self, card: Card) -> None:
        self.cards.append(card)

    async def conclude(self, card: Card, sentence: str, *controls: Control) -> None:
        await self.answer(Screen((sentence,), controls, card.case_id, card.version))
        await self.show(card)
