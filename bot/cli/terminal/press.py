"""A decision typed at the terminal, in the form in which every platform makes it.

Owns how the flows of ``adapters.common.decisions`` speak to a person at a terminal. Decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from babel.dates import format_datetime, format_timedelta
from rich.console import Console
from rich.text import Text

from adapters.common.cards.acts import Act, Target
from adapters.common.cards.controls import Control
from adapters.common.cards.states import headline
from adapters.common.decisions.press import Dialog, InPublic, Options, Screen, TextFile
from adapters.common.words.fitting import shortened
from adapters.common.words.markup import Reader, hidden_in
from bot.cli.command import harmless
from core.models import PostRef
from core.moderation.cards import Card, ProposedReply
from core.moderation.desk_ports import Casework
from core.moderation.roles import Person

LOCALE: Final = "en"
"""The command line speaks English."""
_ROOM: Final = 100_000
"""A terminal scrolls: nothing has to be left out."""


class TerminalMarkup:
    """``Markup`` of a terminal: plain text, in which nothing can style or steer it."""

    @property
    def platform(self) -> str:
        """What people call it."""
        return "A terminal"

    def units(self, text: str) -> int:
        """How many characters it has."""
        return len(text)

    def ours(self, text: str) -> str:
        """Without the asterisks; a terminal that shows no bold loses nothing."""
        return text.replace("**", "")

    def heading(self, text: str) -> str:
        """As it is."""
        return text

    def small(self, text: str) -> str:
        """As it is."""
        return text

    def inert(self, text: str, limit: int | None = None) -> str:
        """Without what could steer the terminal; two asterisks are never side by side."""
        text = re.sub(r"\*(?=\*)", "* ", harmless(text))
        return text if limit is None else shortened(text, limit)

    def covered(self, text: str, limit: int | None = None) -> str:
        """As it is: the post stands above in any case."""
        return self.inert(text, limit) if text.strip() else ""

    def framed(self, text: str) -> str:
        """Each line behind a bar."""
        return "\n".join(f"  | {line}" for line in harmless(text).split("\n"))

    def exact(self, text: str) -> str | None:
        """The text itself; ``None`` if it holds characters that nobody sees."""
        return None if hidden_in(text) else text

    def link(self, label: str, url: str) -> str:
        """The label, and the address behind it."""
        return f"{label} ({url})" if re.fullmatch(r"https?://[^/\[\s]+\S*", url) else label

    def address(self, url: str) -> str:
        """As it is."""
        return harmless(url)

    def post_url(self, ref: PostRef) -> str:
        """None: the posts are in this process."""
        return ""

    def channel(self, ref: PostRef) -> str:
        """None that a person could go to."""
        return ""

    def from_now(self, moment: datetime) -> str:
        """In so many seconds, or minutes."""
        return format_timedelta(moment - datetime.now(UTC), add_direction=True, locale=LOCALE, threshold=1.2)

    def date(self, moment: datetime) -> str:
        """By the clock of this machine."""
        return format_datetime(moment.astimezone(), "medium", locale=LOCALE)


READER: Final = Reader(LOCALE, TerminalMarkup())


@dataclass
class TerminalPress:
    """``Press`` at a terminal: what it is answered with is printed, and what can be done next is kept."""

    console: Console
    casework: Casework
    target: Target
    by: Person
    values: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    is_on_card: bool = True
    locale: str = LOCALE
    room: int = _ROOM
    reader: Reader = READER
    dialog: Dialog | None = None
    options: Options | None = None
    offered: dict[Act, Control] = field(default_factory=dict)

    async def listen(self) -> None:
        """The language is known."""

    async def think(self) -> None:
        """Nothing has to be said in time."""

    async def defer(self) -> None:
        """Nothing has to be said in time."""

    async def in_public(self, proposal: ProposedReply) -> InPublic:
        """The approved text and nothing else."""
        return InPublic(proposal.text)

    async def answer(self, screen: Screen) -> None:
        """Print it, and keep what can be done next."""
        for part in screen.parts:
            self._print(part)
        self.options = screen.options
        self.offered |= {control.act: control for control in screen.controls}

    async def answer_card(self, card: Card) -> None:
        """Say what the case is now; its drafts stand above."""
        self._print(headline(card, self.reader))

    async def replace(self, screen: Screen) -> None:
        """Print it below."""
        await self.answer(screen)

    async def ask(self, dialog: Dialog) -> None:
        """Keep what is to be written."""
        self.dialog = dialog

    async def say(self, *sentences: str) -> None:
        """Print an error, or another sentence."""
        said = " ".join(sentence for sentence in sentences if sentence)
        self.console.print(Text(said, style="yellow"), soft_wrap=True)

    async def show(self, card: Card) -> None:
        """Say what the case is now."""
        await self.answer_card(card)

    async def conclude(self, card: Card, sentence: str, *controls: Control) -> None:
        """Print what was done."""
        await self.answer(Screen((sentence,), controls, card.case_id, card.version))

    def _print(self, part: str | TextFile) -> None:
        said = part if isinstance(part, str) else harmless(part.text)
        self.console.print(Text(said, style="bold"), soft_wrap=True)
