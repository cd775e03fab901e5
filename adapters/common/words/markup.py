"""The port for a platform's markup: shared texts are written once, and each platform brings its ``Markup``."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from urllib.parse import urlsplit

from core.engine.wording.final_text import in_words
from core.i18n.catalogs import translated
from core.i18n.sentences import listed
from core.models import PostRef

LINES: Final = re.compile(r"[\r\n\v\f\u0085\u2028\u2029]+")
"""What ends one line or several, for a reader on any platform."""
UNSEEN: Final = frozenset("Cc Cf Co Cs".split())
"""The Unicode categories whose characters are invisible."""
JOINERS: Final = "\u200c\u200d"
"""Also invisible, but scripts and emoji need them."""


ELSEWHERE: Final = 60
"""How much of a community's name on another platform is shown."""


def no_address(_: PostRef) -> str:
    """Where a post can be read, of which nobody told."""
    return ""


class Markup(Protocol):
    """The markup of one platform. A text by others goes through ``inert``, ``covered``, ``framed`` or ``exact``."""

    @property
    def platform(self) -> str: ...

    def units(self, text: str) -> int:
        """How long a text is, as the platform counts."""
        ...

    def ours(self, text: str) -> str:
        """One of our sentences, in which two asterisks begin and end what is emphasised."""
        ...

    def heading(self, text: str) -> str:
        """The first line of a longer text, in our own words."""
        ...

    def small(self, text: str) -> str:
        """A line of less weight; ``text`` is already marked up."""
        ...

    def inert(self, text: str, limit: int | None = None) -> str:
        """A text by others, in which nothing acts as markup, link or mention; cut to at most ``limit`` units."""
        ...

    def covered(self, text: str, limit: int | None = None) -> str:
        """The same behind a cover that a reader opens; "" if there is nothing to see."""
        ...

    def framed(self, text: str) -> str:
        """A text by others, on lines of its own in a frame that nothing in it can break."""
        ...

    def exact(self, text: str) -> str | None:
        """A text in a block that shows it character for character; ``None`` if the platform cannot do that."""
        ...

    def link(self, label: str, url: str) -> str:
        """A link with an inert label; only the label if the address is not a web address."""
        ...

    def address(self, url: str) -> str:
        """A web address, shown in full and without a preview."""
        ...

    def post_url(self, ref: PostRef) -> str:
        """The address where a message of this platform, or one shown here of another, can be read; "" if unknown."""
        ...

    def channel(self, ref: PostRef) -> str:
        """The channel that a message is in, by name or as a link; "" if it is not known.

        Of a message of another platform, that platform and its community, in ``ELSEWHERE`` units.
        """
        ...

    def from_now(self, moment: datetime) -> str:
        """A moment, relative to now: in five minutes, two hours ago."""
        ...

    def date(self, moment: datetime) -> str: ...


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of a text: their language, and the markup of their platform."""

    locale: str
    markup: Markup

    def told(self, text: str, limit: int | None = None) -> str:
        """A note, a warning or a reason in the reader's language; whatever it quotes is inert."""
        return self.markup.inert(translated(text, self.locale), limit)


def hidden_in(text: str) -> tuple[str, ...]:
    """What people call the invisible characters in a text, each once and with how often it occurs, as sentences."""
    hidden = (c for c in text if c != "\n" and c not in JOINERS and unicodedata.category(c) in UNSEEN)
    return tuple(listed([name, f"({number})"], " ") for name, number in sorted(Counter(map(in_words, hidden)).items()))


def visible_lines(text: str) -> list[str]:
    """The lines of a text by others as somebody sees them: no empty ones, and no invisible character but joiners."""
    lines = (visible(line).strip() for line in LINES.split(text))
    return [line for line in lines if line]


def visible(line: str) -> str:
    """A line without the characters that nobody sees; a tab becomes a space."""
    return "".join(
        " " if character == "\t" else character
        for character in line
        if character in JOINERS or character == "\t" or unicodedata.category(character) not in UNSEEN
    )


def web_address(url: str) -> str:
    """The address without the space around it; "" if a browser would not open it as a page."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return url.strip() if parts.scheme in ("http", "https") and parts.netloc else ""
