"""How a platform writes what is more than plain letters: the one thing that every text of ours needs of it.

Owns the port. Texts in ``adapters.common`` are written once for all platforms; each platform brings a ``Markup``.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from core.i18n.catalogs import translated
from core.models import PostRef

UNSEEN: Final = frozenset("Cc Cf Co Cs".split())
"""The categories of Unicode of which nobody sees a character."""
JOINERS: Final = "\u200c\u200d"
"""Unseen, too, but scripts and emoji need them."""


class Markup(Protocol):
    """The markup of one platform. What others wrote goes through ``inert``, ``covered``, ``framed`` or ``exact``."""

    @property
    def platform(self) -> str:
        """What people call the platform."""
        ...

    def units(self, text: str) -> int:
        """How long a text is, as the platform counts."""
        ...

    def ours(self, text: str) -> str:
        """A sentence of ours, in which two asterisks begin and end what is emphasised."""
        ...

    def heading(self, text: str) -> str:
        """The first line of a longer text, in words of ours."""
        ...

    def small(self, text: str) -> str:
        """A line of less weight; ``text`` is marked up already."""
        ...

    def inert(self, text: str, limit: int | None = None) -> str:
        """A text of others in which nothing is markup, a link or a mention; cut to at most ``limit`` units."""
        ...

    def covered(self, text: str, limit: int | None = None) -> str:
        """The same behind a cover that a reader opens; "" where there is nothing to see."""
        ...

    def framed(self, text: str) -> str:
        """A text of others in a frame that nothing in it can leave, on lines of its own."""
        ...

    def exact(self, text: str) -> str | None:
        """A text in a block that shows it character for character; ``None`` where the platform cannot."""
        ...

    def link(self, label: str, url: str) -> str:
        """A link with an inert label; the label alone where the address is not one of the web."""
        ...

    def address(self, url: str) -> str:
        """An address of the web, shown in full and without a preview."""
        ...

    def post_url(self, ref: PostRef) -> str:
        """Where a message of this platform can be read; "" where that cannot be told."""
        ...

    def from_now(self, moment: datetime) -> str:
        """A moment, said from now on: in five minutes, two hours ago."""
        ...

    def date(self, moment: datetime) -> str:
        """A moment by date and time."""
        ...


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a text: in which language, and on a platform with which markup."""

    locale: str
    markup: Markup

    def told(self, said: str, limit: int | None = None) -> str:
        """A note, a warning or a reason in the reader's language; what it quotes is inert."""
        return self.markup.inert(translated(said, self.locale), limit)


def hidden_in(text: str) -> tuple[str, ...]:
    """The names of the characters in a text that nobody sees, each once, with how often it stands there."""
    hidden = (c for c in text if c != "\n" and c not in JOINERS and unicodedata.category(c) in UNSEEN)
    counted = Counter(unicodedata.name(character, f"U+{ord(character):04X}") for character in hidden)
    return tuple(f"{name} ({number})" for name, number in sorted(counted.items()))
